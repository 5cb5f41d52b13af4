// ScratchFolder: a folder for the files of a bench, gone with the object.
//
// It lies in the system's folder for temporary files, or where TESSERA_BENCH_DIR says; one that
// asks for memory, in the system's file system in memory if that has room for kMemoryBytes.
// Thread safety: none.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "tessera/base/result.hpp"

namespace tessera::bench {

class ScratchFolder {
 public:
  enum class Place { kDisk, kMemory };
  static constexpr int64_t kMemoryBytes = int64_t{3} << 30;

  [[nodiscard]] static base::Result<ScratchFolder> make(Place place = Place::kDisk);
  ScratchFolder(ScratchFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  ScratchFolder& operator=(ScratchFolder&&) = delete;
  ~ScratchFolder();

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  explicit ScratchFolder(std::string path) : path_(std::move(path)) {}

  std::string path_;  // empty once moved from
};

}  // namespace tessera::bench
