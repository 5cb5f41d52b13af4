#include "bench/other_build.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "tessera/port/start_program.hpp"

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

base::Result<void> run_tessera(const std::string& build, const std::vector<std::string>& words) {
  std::error_code error;
  std::filesystem::path folder = build;
  if (build.empty()) {
    const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
    folder = self.parent_path().parent_path();
  }
  std::vector<std::string> command = {(folder / "bin" / "tessera").string()};
  command.insert(command.end(), words.begin(), words.end());
  TESSERA_TRY(const int status, port::run_program(command, {}));
  if (status == 0) return {};
  return base::fail(base::Code::kFailed,
                    fmt::format("{} {} ended with {}", command[0], words.at(0), status));
}

std::string not_compared_when_repeated(int64_t bytes_of_a_rank) {
  constexpr int64_t kMappedMin = int64_t{4} << 20;
  return bytes_of_a_rank < kMappedMin ? "repeated runs below 4 MiB" : "";
}

}  // namespace tessera::bench
