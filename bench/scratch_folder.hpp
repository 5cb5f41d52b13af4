// ScratchFolder: a folder for the files of a bench, gone with the object, and with the process if
// it is killed (port/scratch_folder.hpp).
//
// It lies in the system's folder for temporary files, or where TESSERA_BENCH_DIR says; one that
// asks for memory, in the system's file system in memory if that has room for kMemoryBytes.
// Thread safety: none.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "tessera/base/result.hpp"
#include "tessera/port/scratch_folder.hpp"

namespace tessera::bench {

class ScratchFolder {
 public:
  enum class Place { kDisk, kMemory };
  static constexpr int64_t kMemoryBytes = int64_t{3} << 30;

  [[nodiscard]] static base::Result<ScratchFolder> make(Place place = Place::kDisk);

  [[nodiscard]] const std::string& path() const { return folder_.path(); }

 private:
  explicit ScratchFolder(port::ScratchFolder folder) : folder_(std::move(folder)) {}

  port::ScratchFolder folder_;
};

}  // namespace tessera::bench
