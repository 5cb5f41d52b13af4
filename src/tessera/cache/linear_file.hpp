// LinearFile: an object file as the line of bytes that programs take files for.
//
// For whoever reads or writes an object file through the interface of plain ones. Thread safety: as
// ObjectFile; truncate() and sync() are collective there, and so they are here.
#pragma once

#include <cstdint>

#include "tessera/cache/object_file.hpp"
#include "tessera/port/disk.hpp"

namespace tessera::cache {

class LinearFile final : public port::File {
 public:
  // The object file outlives it.
  explicit LinearFile(ObjectFile& objects) : File("an object file"), objects_(objects) {}

  [[nodiscard]] base::Result<void> truncate(int64_t size) override {
    return objects_.set_size(size);
  }
  [[nodiscard]] base::Result<int64_t> size() override { return objects_.size(); }
  [[nodiscard]] base::Result<void> sync() override { return objects_.commit(); }

 protected:
  Attempt read_some(int64_t offset, std::span<const iovec> memory) override;
  Attempt write_some(int64_t offset, std::span<const iovec> memory) override;

 private:
  ObjectFile& objects_;
};

}  // namespace tessera::cache
