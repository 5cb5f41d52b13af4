// Progress: a line on standard error that tells how far a long command is.
//
// Only people see it: nothing is printed unless standard error is a terminal and there is much to
// do. The line is gone when the object is. Thread safety: all functions but say() from any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "tessera/port/posix_clock.hpp"

namespace tessera::cli {

class Progress {
 public:
  static constexpr int64_t kWorthBytes = int64_t{256} << 20;

  // What is done, as a verb: "imported".
  explicit Progress(std::string verb);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress();

  // A few times a second at most.
  void show(int64_t done_bytes, int64_t total_bytes);
  // The same for one of several threads, by how much more is done.
  void advance(int64_t more_bytes, int64_t total_bytes);
  // What is being done, where nobody can tell how far it is. Stays until something else is shown.
  void say(const std::string& what);

 private:
  const std::string verb_;
  const bool terminal_;
  port::PosixClock clock_;
  std::atomic<int64_t> done_bytes_ = 0;  // of advance()
  std::atomic_flag busy_;
  int64_t shown_ns_ = 0;  // these two by whoever is busy
  bool shown_ = false;
};

}  // namespace tessera::cli
