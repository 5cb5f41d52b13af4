// WriteChoice: by which of two ways the next piece of a file is written, by what they took so far.
//
// The system keeps what is written in memory and brings it to the disk later, which is the quicker
// way as long as it has memory at hand. Under a virtual machine whose host has taken free memory
// back it has not: then writing to the disk at once, around that memory, takes a fraction of the
// time. Which one it is changes in the middle of a file, so it is measured.
//   (C1) Through memory, as long as a byte takes no more than kQuickNs that way.
//   (C2) The way that took less for a byte is used, by its last kRecentBytes or so.
//   (C3) Unless (C1), the other is tried again with kTrialBytes: after kFirstTrialBytes, then after
//        twice as many each time, up to kLastTrialBytes. A trial forgets what the way took before,
//        and ends early once it has taken longer than the way in use would have.
// Thread safety: none; SharedWriteChoice is for several threads, which should go the same way: the
// system lets those who write by different ways wait for each other.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "tessera/port/guarded.hpp"

namespace tessera::port {

enum class WriteWay : uint8_t { kThroughMemory, kAround };

class WriteChoice {
 public:
  static constexpr double kQuickNs = 0.4;
  static constexpr int64_t kTrialBytes = int64_t{2} << 20;
  static constexpr int64_t kRecentBytes = int64_t{16} << 20;
  static constexpr int64_t kFirstTrialBytes = int64_t{32} << 20;
  static constexpr int64_t kLastTrialBytes = int64_t{512} << 20;

  [[nodiscard]] WriteWay next() const { return trial_left_ > 0 ? other(used_) : used_; }

  // A piece was written by a way, whether next() asked for it or not. Requires bytes > 0.
  void took(WriteWay way, int64_t bytes, int64_t nanoseconds);

 private:
  struct Taken {
    double bytes = 0;
    double nanoseconds = 0;

    void add(int64_t more_bytes, int64_t more_nanoseconds);
    [[nodiscard]] bool known() const { return bytes > 0; }
    [[nodiscard]] double of_byte() const { return nanoseconds / bytes; }
  };

  static WriteWay other(WriteWay way) {
    return way == WriteWay::kAround ? WriteWay::kThroughMemory : WriteWay::kAround;
  }
  [[nodiscard]] Taken& taken(WriteWay way) { return taken_[static_cast<size_t>(way)]; }
  [[nodiscard]] const Taken& taken(WriteWay way) const { return taken_[static_cast<size_t>(way)]; }
  [[nodiscard]] bool memory_is_quick() const;
  [[nodiscard]] bool trial_is_over() const;
  void begin_trial_if_due();
  void use_the_quicker();

  std::array<Taken, 2> taken_;
  WriteWay used_ = WriteWay::kThroughMemory;
  int64_t trial_left_ = 0;
  int64_t until_trial_ = kFirstTrialBytes;
  int64_t between_trials_ = kFirstTrialBytes;
};

using SharedWriteChoice = Guarded<WriteChoice>;

}  // namespace tessera::port
