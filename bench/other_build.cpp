#include "bench/other_build.hpp"

#include <filesystem>

namespace tessera::bench {

namespace {

std::string& chosen() {
  static std::string folder;
  return folder;
}

}  // namespace

const std::string& other_build() { return chosen(); }

base::Result<void> set_other_build(const std::string& folder) {
  chosen().clear();
  if (folder.empty()) return {};
  std::error_code error;
  const std::filesystem::path whole = std::filesystem::absolute(folder, error);
  for (const char* name : {"libtessera-mpiio-openmpi.so", "libtessera-mpiio-mpich.so"}) {
    if (!std::filesystem::exists(whole / "lib" / name, error)) continue;
    chosen() = whole.string();
    return {};
  }
  return base::fail(base::Code::kNotFound,
                    folder + " is no build of Tessera: it has no lib/libtessera-mpiio-*.so");
}

}  // namespace tessera::bench
