// RangeLocks: range locks of one open file, also between the threads of this process.
//
// Locks of the file system belong to the open file, so two threads that share it would both be
// granted the same range. Here one lock of the open file is held at a time by this process; the
// others wait. Thread safety: all functions from any thread.
#pragma once

#include <cstdint>
#include <memory>

#include "tessera/base/result.hpp"
#include "tessera/port/plain_file.hpp"

namespace tessera::port {

class RangeLocks {
 public:
  // Requires that the file outlives it.
  explicit RangeLocks(PlainFile& file);
  ~RangeLocks();
  RangeLocks(const RangeLocks&) = delete;
  RangeLocks& operator=(const RangeLocks&) = delete;

  // Waits for [begin, end). On a file system without locks only the threads of this process exclude
  // each other, and supported() is false from then on. A thread holds one at a time.
  [[nodiscard]] base::Result<void> acquire(int64_t begin, int64_t end, RangeLock lock);
  // Gives back what acquire() took.
  void release(int64_t begin, int64_t end);
  [[nodiscard]] bool supported() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tessera::port
