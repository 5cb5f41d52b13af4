#include "tessera/cli/progress.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <cstdio>

#include "tessera/cli/numbers.hpp"

namespace tessera::cli {

namespace {

constexpr int64_t kIntervalNs = 200'000'000;
constexpr const char* kEraseLine = "\r\033[K";

}  // namespace

Progress::Progress(std::string verb)
    : verb_(std::move(verb)), terminal_(::isatty(STDERR_FILENO) == 1) {}

Progress::~Progress() {
  if (shown_) fmt::print(stderr, "{}", kEraseLine);
}

void Progress::show(int64_t done_bytes, int64_t total_bytes) {
  // Where another thread is about to show it, that will do.
  if (!terminal_ || total_bytes < kWorthBytes || busy_.test_and_set()) return;
  const int64_t now_ns = clock_.now_ns();
  if (!shown_ || now_ns - shown_ns_ >= kIntervalNs) {
    fmt::print(stderr, "{}{} {} of {} ({})", kEraseLine, verb_, size_text(done_bytes),
               size_text(total_bytes), percent(done_bytes, total_bytes));
    std::fflush(stderr);
    shown_ns_ = now_ns;
    shown_ = true;
  }
  busy_.clear();
}

void Progress::advance(int64_t more_bytes, int64_t total_bytes) {
  show(done_bytes_.fetch_add(more_bytes) + more_bytes, total_bytes);
}

void Progress::say(const std::string& what) {
  if (!terminal_) return;
  fmt::print(stderr, "{}{}", kEraseLine, what);
  std::fflush(stderr);
  shown_ = true;
}

}  // namespace tessera::cli
