#include "tessera/port/write_choice.hpp"

#include <algorithm>

#include "tessera/base/assert.hpp"

namespace tessera::port {

void WriteChoice::Taken::add(int64_t more_bytes, int64_t more_nanoseconds) {
  constexpr double kFaded = 0.5;
  if (bytes >= static_cast<double>(kRecentBytes)) {
    bytes *= kFaded;
    nanoseconds *= kFaded;
  }
  bytes += static_cast<double>(more_bytes);
  nanoseconds += static_cast<double>(more_nanoseconds);
}

void WriteChoice::took(WriteWay way, int64_t bytes, int64_t nanoseconds) {
  TESSERA_ASSERT(bytes > 0);
  taken(way).add(bytes, nanoseconds);
  if (trial_left_ > 0) {
    if (way == used_) return;  // of a thread that asked before the trial
    trial_left_ -= bytes;
    if (!trial_is_over()) return;
    trial_left_ = 0;
  } else {
    until_trial_ -= bytes;
  }
  use_the_quicker();
  begin_trial_if_due();
}

bool WriteChoice::memory_is_quick() const {
  const Taken& memory = taken(WriteWay::kThroughMemory);
  return memory.known() && memory.of_byte() <= kQuickNs;
}

bool WriteChoice::trial_is_over() const {
  const double usual = taken(used_).of_byte() * static_cast<double>(kTrialBytes);
  return trial_left_ <= 0 || taken(other(used_)).nanoseconds > usual;
}

void WriteChoice::use_the_quicker() {
  const Taken& used = taken(used_);
  const Taken& left = taken(other(used_));
  if (used.known() && left.known() && left.of_byte() < used.of_byte()) used_ = other(used_);
}

void WriteChoice::begin_trial_if_due() {
  if (until_trial_ > 0 || (used_ == WriteWay::kThroughMemory && memory_is_quick())) return;
  between_trials_ = std::min(2 * between_trials_, kLastTrialBytes);
  until_trial_ = between_trials_;
  trial_left_ = kTrialBytes;
  taken(other(used_)) = {};
}

}  // namespace tessera::port
