#include "bench/scratch_folder.hpp"

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
  const std::string above = fs::absolute(folder_above(place), error).string();
  auto folder = port::ScratchFolder::make(above, "tessera-bench");
  if (folder) return ScratchFolder(*std::move(folder));
  const base::Error& cause = folder.error();
  return base::fail(cause.code, cause.context + " (TESSERA_BENCH_DIR chooses another place)");
}

}  // namespace tessera::bench
