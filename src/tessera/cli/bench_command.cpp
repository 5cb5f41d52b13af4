#include "tessera/cli/bench_command.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "tessera/cli/mpi_kind.hpp"

namespace tessera::cli {

namespace {

namespace fs = std::filesystem;

// The first part of the product that is newer than the benchmark program; empty where none is.
// bench/CMakeLists.txt has that program linked after all of them.
fs::path newer_part(const fs::path& bench, const fs::path& own) {
  std::error_code error;
  const auto built = fs::last_write_time(bench, error);
  if (error) return {};
  std::vector<fs::path> parts = {own};
  for (const Mpi mpi : kMpis) {
    parts.push_back(own.parent_path().parent_path() / "lib" / preload_name(mpi));
  }
  for (const fs::path& part : parts) {
    const auto changed = fs::last_write_time(part, error);
    if (!error && changed > built) return part;
  }
  return {};
}

// Returns only where it fails.
ExitCode exec_tessera_bench(const char* const* arguments, bool json) {
  std::error_code error;
  const fs::path own = fs::read_symlink("/proc/self/exe", error);
  if (error) {
    return report({base::Code::kFailed, error.value(), "cannot read /proc/self/exe"}, json);
  }
  const std::string program = (own.parent_path() / "tessera-bench").string();
  // `make` builds the product alone: an older tessera-bench would measure another build's code.
  if (const fs::path newer = newer_part(program, own); !newer.empty()) {
    return report({base::Code::kInvalid, 0,
                   fmt::format("{} is older than {}; in the source tree `make benches` builds it",
                               program, newer.string())},
                  json);
  }
  std::vector<char*> argv = {const_cast<char*>(program.c_str())};
  for (; *arguments != nullptr; ++arguments) argv.push_back(const_cast<char*>(*arguments));
  argv.push_back(nullptr);
  ::execv(program.c_str(), argv.data());
  if (errno != ENOENT) return report({base::Code::kFailed, errno, "cannot run " + program}, json);
  return report({base::Code::kNotFound, 0,
                 fmt::format("{} is missing: benchmarks are not installed; in the source tree "
                             "`make benches` builds them, `make bench` also runs them",
                             program)},
                json);
}

}  // namespace

ExitCode run_bench_command(const BenchCommandOptions& options, const BenchRunner& runner,
                           const char* const* argv) {
  if (!options.list && options.names.empty()) {
    return report_usage("name a bench, or all (see tessera bench --list)", options.json);
  }
  return runner ? runner(options) : exec_tessera_bench(argv + 2, options.json);
}

}  // namespace tessera::cli
