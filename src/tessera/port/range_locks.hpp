// RangeLocks: range locks of one open file, also between the threads of this process.
//
// Locks of the file system belong to the open file, so two threads that share it would both be
// granted the same range, and the first to give it back would give it back for both. Here threads
// of this process whose ranges overlap hold them one after the other, whether shared or not; the
// file system keeps other opens of the file and other processes apart.
// Thread safety: all functions from any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "tessera/base/result.hpp"
#include "tessera/port/plain_file.hpp"

namespace tessera::port {

class RangeLocks {
 public:
  // A function that does what PlainFile::lock_range() does.
  using LockRange = std::function<base::Result<void>(int64_t begin, int64_t end, RangeLock lock)>;

  // Requires that the file outlives it.
  explicit RangeLocks(PlainFile& file);
  explicit RangeLocks(LockRange lock_range);
  ~RangeLocks();
  RangeLocks(const RangeLocks&) = delete;
  RangeLocks& operator=(const RangeLocks&) = delete;

  // Waits for [begin, end). On a file system without locks only the threads of this process exclude
  // each other, and supported() is false from then on; all other errors are reported, and nothing
  // is held. Requires begin < end and a lock other than kUnlock. A thread holds one at a time: a
  // second one could wait for a thread that waits for the first.
  [[nodiscard]] base::Result<void> acquire(int64_t begin, int64_t end, RangeLock lock);
  // Gives back what acquire() took, from any thread. Requires that exactly this range is held.
  void release(int64_t begin, int64_t end);
  [[nodiscard]] bool supported() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tessera::port
