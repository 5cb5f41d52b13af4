// ScratchFolder: a folder for the files of a bench, gone with the object.
//
// It lies in the system's folder for temporary files, or where TESSERA_BENCH_DIR says.
// Thread safety: none.
#pragma once

#include <string>
#include <utility>

#include "tessera/base/result.hpp"

namespace tessera::bench {

class ScratchFolder {
 public:
  [[nodiscard]] static base::Result<ScratchFolder> make();
  ScratchFolder(ScratchFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  ScratchFolder& operator=(ScratchFolder&&) = delete;
  ~ScratchFolder();

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  explicit ScratchFolder(std::string path) : path_(std::move(path)) {}

  std::string path_;  // empty once moved from
};

}  // namespace tessera::bench
