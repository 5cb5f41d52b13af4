// PosixDisk: the machine's file systems.
//
// Paths are taken as the system takes them, relative to the working directory or absolute.
// Thread safety: as for Disk.
#pragma once

#include <string>
#include <utility>

#include "tessera/port/descriptor.hpp"
#include "tessera/port/disk.hpp"

namespace tessera::port {

// A directory that is open, so that its names can be made durable whatever becomes of its path and
// of the working directory.
class OpenDirectory {
 public:
  [[nodiscard]] static base::Result<OpenDirectory> open(const std::string& path);
  [[nodiscard]] base::Result<void> sync() const;

 private:
  OpenDirectory(std::string path, Descriptor descriptor)
      : path_(std::move(path)), descriptor_(std::move(descriptor)) {}

  std::string path_;
  Descriptor descriptor_;
};

class PosixDisk final : public Disk {
 public:
  [[nodiscard]] base::Result<std::unique_ptr<File>> open(const std::string& path,
                                                         Access access) override;
  [[nodiscard]] base::Result<std::unique_ptr<File>> open_fresh(const std::string& reach,
                                                               const std::string& path,
                                                               Access access) override;
  [[nodiscard]] base::Result<std::unique_ptr<File>> create(const std::string& path) override;
  [[nodiscard]] base::Result<std::unique_ptr<FreshFile>> make_fresh(
      const std::string& path) override;
  [[nodiscard]] base::Result<void> remove(const std::string& path) override;
  [[nodiscard]] base::Result<void> rename(const std::string& from, const std::string& to) override;
  [[nodiscard]] base::Result<void> make_directory(const std::string& path) override;
  [[nodiscard]] base::Result<std::vector<std::string>> list(const std::string& directory) override;
  [[nodiscard]] base::Result<void> sync_directory(const std::string& directory) override;
};

}  // namespace tessera::port
