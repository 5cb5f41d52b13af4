#include "tessera/port/sim_clock.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "tessera/base/assert.hpp"

namespace tessera::port {

void SimClock::sleep_until(int64_t deadline_ns) {
  while (run_next_until(deadline_ns)) {
  }
  now_ns_ = std::max(now_ns_, deadline_ns);
}

SimClock::TimerId SimClock::set_timer(int64_t deadline_ns, std::function<void()> callback) {
  TESSERA_ASSERT(callback != nullptr);
  const TimerId timer{std::max(deadline_ns, now_ns_), next_sequence_++};
  timers_.emplace(timer, std::move(callback));
  return timer;
}

bool SimClock::cancel(TimerId timer) { return timers_.erase(timer) > 0; }

bool SimClock::run_next() { return run_next_until(std::numeric_limits<int64_t>::max()); }

bool SimClock::run_next_until(int64_t deadline_ns) {
  if (timers_.empty() || timers_.begin()->first.deadline_ns > deadline_ns) return false;
  // Taken out first: the callback may set and cancel timers, or advance the clock itself.
  auto due = timers_.extract(timers_.begin());
  TESSERA_ASSERT(due.key().deadline_ns >= now_ns_);
  now_ns_ = due.key().deadline_ns;
  due.mapped()();
  return true;
}

}  // namespace tessera::port
