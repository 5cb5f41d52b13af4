#include "tessera/move/meetings.hpp"

#include <algorithm>
#include <utility>

#include "tessera/base/hot.hpp"

namespace tessera::move {

namespace {

base::Result<void> as_earlier(const base::Result<void>& failed) {
  base::Error error = failed.error();
  error.context = "an earlier collective access failed: " + error.context;
  return base::Failure{std::move(error)};
}

}  // namespace

TESSERA_HOT bool Meetings::begin(Direction direction, bool may_leave_out,
                                 port::Exchange& exchange) {
  silent_ = false;
  const bool goes_on = direction == direction_ && may_leave_out;
  if (goes_on && to_leave_out_ > 0) {
    --to_leave_out_;
    return false;
  }
  if (owes_meeting_ || (goes_on && silent_meetings_ >= needed_)) {
    meet(exchange);
    if (goes_on && to_leave_out_ > 0) return begin(direction, may_leave_out, exchange);
  }
  if (!goes_on) start_over();
  if (direction != direction_) safe_accesses_ = 0;
  direction_ = direction;
  return true;
}

// Tells the others what they do not know. If that is nothing, the next meetings are left out.
void Meetings::meet(port::Exchange& exchange) {
  const bool silent = late_ && safe_accesses_ >= kSafeMin;
  const auto heard = silent ? exchange.listen() : exchange.all_gather(base::Bytes(1));
  start_over();
  if (heard && heard->empty()) {
    owes_meeting_ = true;
    to_leave_out_ = kLeftOutMax;
    needed_ = kSilentMin;
    return;
  }
  needed_ = std::min(2 * needed_, kSilentMax);
  told_ = heard ? exchange.agree(late_) : base::failure_of(heard);
  late_ = {};
}

void Meetings::start_over() {
  silent_meetings_ = 0;
  to_leave_out_ = 0;
  owes_meeting_ = false;
}

TESSERA_HOT base::Result<void> Meetings::leave_out(base::Result<void> status, bool safe) {
  note_safe(safe);
  if (status) return status;
  if (late_) late_ = as_earlier(status);
  return direction_ == Direction::kWrite ? base::Result<void>() : status;
}

TESSERA_HOT base::Result<void> Meetings::conclude(base::Result<void> verdict, bool safe) {
  note_safe(safe);
  if (silent_) {
    ++silent_meetings_;
  } else {
    start_over();
  }
  if (told_) return verdict;
  const base::Result<void> earlier = std::exchange(told_, {});
  return verdict ? earlier : verdict;
}

base::Result<void> Meetings::take() {
  start_over();
  return std::exchange(late_, {});
}

}  // namespace tessera::move
