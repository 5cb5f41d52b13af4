#include "tessera/cli/remap_command.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "tessera/cli/child_output.hpp"
#include "tessera/cli/launcher_search.hpp"
#include "tessera/cli/progress.hpp"
#include "tessera/port/fresh_file.hpp"
#include "tessera/port/this_process.hpp"
#include "tessera/remap/request.hpp"

namespace tessera::cli {

namespace {

using base::Result;
using remap::RemapReport;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

remap::Request request_of(const RemapCommandOptions& options) {
  remap::Request request;
  request.in = options.in;
  request.out = options.out;
  request.views = options.views;
  request.like = options.like;
  request.options.plan.sharing =
      options.replicate ? remap::Sharing::kReplicated : remap::Sharing::kOnce;
  request.options.plan.keep_rest = !options.only_views;
  request.options.durable = options.durable;
  request.options.direct = options.direct;
  request.options.existing = options.force ? port::Existing::kReplace : port::Existing::kKeep;
  return request;
}

// In threads of this process.
Result<RemapReport> remap_here(const RemapCommandOptions& options) {
  Progress progress("remapped");
  port::remove_unfinished_at_signals();
  remap::Request request = request_of(options);
  if (!options.quiet && !options.json) {
    request.options.fill.progress = [&](int64_t bytes, int64_t of) { progress.advance(bytes, of); };
  }
  return remap::run_in_threads(request, options.threads);
}

// Becomes the MPI half; returns only if that fails.
ExitCode become_half(const std::string& mpi, const RemapCommandOptions& options) {
  const auto words = half_words(port::own_program("tessera-remap-" + mpi), options);
  ::execv(words.front().c_str(), exec_words(words).data());
  return report(base::fail_errno(errno, fmt::format("cannot run {}", words.front())).error,
                options.json);
}

}  // namespace

std::vector<std::string> half_words(const std::string& program,
                                    const RemapCommandOptions& options) {
  const char* output = options.quiet ? "quiet" : "text";
  return {program,
          options.in,
          options.out,
          options.views,
          options.like,
          options.replicate ? "shared" : "none",
          options.only_views ? "views" : "all",
          options.durable ? "sync" : "no-sync",
          options.direct ? "direct" : "buffered",
          options.force ? "replace" : "keep",
          options.json ? "json" : output};
}

ExitCode run_remap(const RemapCommandOptions& options) {
  if (const std::string mpi = port::launching_mpi(); !mpi.empty()) return become_half(mpi, options);
  const auto begin = Clock::now();
  const Result<RemapReport> done = remap_here(options);
  if (!done) return report(done.error(), options.json);
  const double seconds = seconds_since(begin);
  if (options.json) {
    fmt::print("{}", remap::summary_json(*done, seconds));
  } else if (!options.quiet) {
    fmt::print("{}: {}\n", options.out, remap::summary_text(*done, seconds));
  }
  return ExitCode::kOk;
}

}  // namespace tessera::cli
