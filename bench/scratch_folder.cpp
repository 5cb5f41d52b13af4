#include "bench/scratch_folder.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>

namespace tessera::bench {

namespace fs = std::filesystem;

base::Result<ScratchFolder> ScratchFolder::make() {
  const char* chosen = std::getenv("TESSERA_BENCH_DIR");
  std::error_code error;
  const fs::path above = chosen != nullptr ? fs::path(chosen) : fs::temp_directory_path(error);
  std::string name = (fs::absolute(above, error) / "tessera-bench-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) {
    return base::fail_errno(errno, fmt::format("cannot make a folder in {} (TESSERA_BENCH_DIR "
                                               "chooses another place)",
                                               above.string()));
  }
  return ScratchFolder(std::move(name));
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
}

}  // namespace tessera::bench
