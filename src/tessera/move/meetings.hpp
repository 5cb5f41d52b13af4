// Meetings: which collective accesses of an open file meet the other ranks.
//
// An access meets the others to move bytes with them, or to learn whether theirs went well. Where
// each rank comes back to bytes that it has moved alone before, there is nothing to do together,
// and next to nothing that can fail; where ranks share cores, the meeting takes longer than the
// access. After some meetings in which nobody had anything to tell, the ranks leave the next ones
// out, all of them the same ones, and tell each other later what went wrong meanwhile.
//   (L1) Ranks that make the same accesses leave out the same meetings: these follow from what all
//        have seen, and from nothing else.
//   (L2) A write that fails without a meeting says so on all ranks at the next one, and on none
//        before. A read says so at once, where it failed, and then as well.
//   (L3) Accesses without a meeting are over on all ranks before one of the other direction, or
//        one that may not do without, begins on any.
//   (L4) At most kLeftOutMax meetings in a row are left out, and only if the last kSafeMin accesses
//        of every rank were safe, as whoever calls understands it.
// Thread safety: one thread at a time.
#pragma once

#include <algorithm>
#include <utility>

#include "tessera/move/move.hpp"
#include "tessera/port/exchange.hpp"

namespace tessera::move {

class Meetings {
 public:
  // How many meetings without a word it takes; twice as many each time that some rank objects.
  static constexpr int kSilentMin = 3;
  static constexpr int kSilentMax = 768;
  static constexpr int kSafeMin = 2;
  // How many are left out in a row.
  static constexpr int kLeftOutMax = 32;

  // An access that all ranks begin. Whether it meets the others; if not, leave_out() ends it, else
  // conclude(). `may_leave_out` is the same on all ranks.
  [[nodiscard]] bool begin(Direction direction, bool may_leave_out, port::Exchange& exchange);

  // Nobody had anything to tell in the meeting of this access.
  void note_silence() { silent_ = true; }

  // Bytes of the file, as far as can be told without looking at each.
  struct Place {
    Interval span;
    int64_t bytes = 0;
    friend bool operator==(const Place&, const Place&) = default;
  };
  // Whether an access is to the place of the last one that this was asked for.
  [[nodiscard]] bool comes_back(const Place& place) { return std::exchange(last_, place) == place; }

  // The end of an access that met nobody, with what it came to and whether it was safe; answers
  // what the program is told.
  [[nodiscard]] base::Result<void> leave_out(base::Result<void> status, bool safe);
  // The end of one that met the others, with the verdict of all; answers that, or what went wrong
  // before.
  [[nodiscard]] base::Result<void> conclude(base::Result<void> verdict, bool safe);

  // What went wrong on this rank and the others do not know, for a collective call that makes it
  // its verdict. All ranks call it.
  [[nodiscard]] base::Result<void> take();

 private:
  void meet(port::Exchange& exchange);
  void start_over();
  void note_safe(bool safe) { safe_accesses_ = safe ? std::min(safe_accesses_ + 1, kSafeMin) : 0; }

  Direction direction_ = Direction::kRead;
  int silent_meetings_ = 0;  // in a row, of this direction
  int needed_ = kSilentMin;
  int to_leave_out_ = 0;
  int safe_accesses_ = 0;  // of this rank in a row, as far as they matter
  Place last_;
  bool owes_meeting_ = false;  // one was left out
  bool silent_ = false;        // the meeting of the access at hand
  base::Result<void> late_;    // what went wrong here without a meeting
  base::Result<void> told_;    // on some rank, as all know since the access at hand began
};

}  // namespace tessera::move
