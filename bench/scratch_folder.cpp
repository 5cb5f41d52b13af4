#include "bench/scratch_folder.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>

namespace tessera::bench {

namespace fs = std::filesystem;

namespace {

constexpr const char* kMemory = "/dev/shm";

bool memory_has_room() {
  std::error_code error;
  const fs::space_info space = fs::space(kMemory, error);
  return !error && space.available >= static_cast<uint64_t>(ScratchFolder::kMemoryBytes);
}

fs::path folder_above(ScratchFolder::Place place) {
  if (const char* chosen = std::getenv("TESSERA_BENCH_DIR")) return chosen;
  if (place == ScratchFolder::Place::kMemory && memory_has_room()) return kMemory;
  std::error_code error;
  return fs::temp_directory_path(error);
}

}  // namespace

base::Result<ScratchFolder> ScratchFolder::make(Place place) {
  std::error_code error;
  const fs::path above = folder_above(place);
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
