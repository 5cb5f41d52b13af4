// SimClock: time that passes only when told, for tests that replay.
//
// Timers are the events of a simulated world; running them in order is the world's main loop.
//   (K1) Time never decreases, and changes only in the functions marked "advances".
//   (K2) A timer runs exactly once, when now_ns() equals its deadline, unless it was cancelled.
//   (K3) Timers run in order of deadline, equal deadlines in the order they were set.
// Timers may set, cancel and advance from inside their callbacks. Nothing sleeps really.
// Thread safety: none; a simulation is one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <tuple>

#include "tessera/port/clock.hpp"

namespace tessera::port {

class SimClock final : public Clock {
 public:
  // Names a timer; opaque to callers.
  struct TimerId {
    int64_t deadline_ns = 0;
    uint64_t sequence = 0;
    bool operator<(const TimerId& other) const {
      return std::tie(deadline_ns, sequence) < std::tie(other.deadline_ns, other.sequence);
    }
  };

  [[nodiscard]] int64_t now_ns() const override { return now_ns_; }
  // Advances to the deadline, running the timers on the way.
  void sleep_until(int64_t deadline_ns) override;

  // A deadline that has passed counts as now. O(log timers).
  TimerId set_timer(int64_t deadline_ns, std::function<void()> callback);
  // Answers whether the timer was still to run. O(log timers).
  bool cancel(TimerId timer);
  [[nodiscard]] size_t timer_count() const { return timers_.size(); }

  // Advances by a span of time, running the timers in it.
  void advance_by(int64_t span_ns) { sleep_until(now_ns_ + span_ns); }
  // Advances to the next timer and runs it, or answers false if there is none.
  bool run_next();
  // Advances to the next timer and runs it, or answers false if none is due by the deadline.
  bool run_next_until(int64_t deadline_ns);

 private:
  int64_t now_ns_ = 0;
  uint64_t next_sequence_ = 0;
  std::map<TimerId, std::function<void()>> timers_;
};

}  // namespace tessera::port
