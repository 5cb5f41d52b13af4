#include "tessera/cli/remap_command.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "tessera/cli/child_output.hpp"
#include "tessera/cli/launcher_search.hpp"
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

// A line on a terminal that the threads draw anew, one at a time.
class Bar {
 public:
  explicit Bar(bool shown) : shown_(shown && ::isatty(STDERR_FILENO) != 0) {}
  ~Bar() {
    if (drawn_) std::fputs("\r\033[K", stderr);
  }
  Bar(const Bar&) = delete;
  Bar& operator=(const Bar&) = delete;

  void advance(int64_t bytes, int64_t of_bytes) {
    const int64_t done = done_.fetch_add(bytes) + bytes;
    if (!shown_ || busy_.test_and_set()) return;
    const double now = seconds_since(begin_);
    if (now - last_ >= kPause) {
      last_ = now;
      drawn_ = true;
      draw(static_cast<double>(done), static_cast<double>(of_bytes), now);
    }
    busy_.clear();
  }

 private:
  static constexpr double kPause = 0.1;
  static constexpr int kWidth = 40;

  static void draw(double done, double whole, double seconds) {
    const int filled = static_cast<int>(kWidth * done / whole);
    fmt::print(stderr, "\r[{:<{}}] {:3.0f}%  {:.2f} GB/s ",
               std::string(static_cast<size_t>(filled), '#'), kWidth, 100 * done / whole,
               done / 1e9 / seconds);
    std::fflush(stderr);
  }

  const bool shown_;
  const Clock::time_point begin_ = Clock::now();
  std::atomic<int64_t> done_{0};
  std::atomic_flag busy_;
  double last_ = 0;  // these two by whoever is busy
  std::atomic<bool> drawn_ = false;
};

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
  return request;
}

// In threads of this process.
Result<RemapReport> remap_here(const RemapCommandOptions& options, Bar& bar) {
  remap::Request request = request_of(options);
  request.options.fill.progress = [&](int64_t bytes, int64_t of) { bar.advance(bytes, of); };
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
          options.json ? "json" : output};
}

ExitCode run_remap(const RemapCommandOptions& options) {
  if (const std::string mpi = port::launching_mpi(); !mpi.empty()) return become_half(mpi, options);
  const auto begin = Clock::now();
  Result<RemapReport> done = RemapReport{};
  {
    Bar bar(!options.quiet && !options.json);
    done = remap_here(options, bar);
  }
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
