// PieceTable: disjoint pieces of a file map, found by the bytes that they hold.
//
// Whatever is put in is taken apart until it is either one run, which goes to a sorted table of
// runs, or a repetition of many runs, which is kept as it is, with its span in a tree. So neither a
// million irregular runs nor a regular set of a billion cost more than they must.
//   (P1) No byte is in two pieces.
//   (P2) A regular piece is a repetition of at least kRegularRuns runs, ascending in the file.
// Thread safety: const functions from any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <unordered_map>
#include <vector>

#include "tessera/base/result.hpp"
#include "tessera/map/piece.hpp"
#include "tessera/map/run_table.hpp"
#include "tessera/pattern/budget.hpp"
#include "tessera/pattern/byte_set.hpp"
#include "tessera/pattern/span_tree.hpp"

namespace tessera::map {

class PieceTable {
 public:
  // A repetition of fewer runs takes less memory as runs.
  static constexpr int64_t kRegularRuns = 8;

  // A table of pieces that a stranger may have written. Fails with kIntegrity if pieces overlap,
  // descend in the file or lie before byte or place 0, with kTooComplex if that cannot be told.
  // Cost: O(n log n) and, for regular pieces that interleave, what is taken out of the budget for
  // checks, which many tables may share; those that were checked before need none.
  static base::Result<PieceTable> of(std::span<const Piece> pieces, Origin origin,
                                     pattern::Budget& checks);

  [[nodiscard]] bool empty() const { return runs_.empty() && regular_.empty(); }
  // One past the last byte. Cost: O(regular pieces).
  [[nodiscard]] int64_t end() const;
  // The largest epoch that was ever inserted.
  [[nodiscard]] uint64_t epoch_max() const { return epoch_max_; }

  // Requires pairs that ascend in the file and hold no byte of the table. Cost: O(parts log n).
  void insert(const Piece& piece);
  // As insert(), and joins what continues the piece appended last with this allocation and epoch.
  void append(const Piece& piece);

  // What the table holds of the request, by first byte; regular pieces may interleave.
  // Cost: O(log n + r).
  [[nodiscard]] base::Result<std::vector<Piece>> meeting(const pattern::ByteSet& request,
                                                         pattern::Budget budget) const;
  // As meeting(), with a budget for many calls.
  [[nodiscard]] base::Result<std::vector<Piece>> meeting_within(const pattern::ByteSet& request,
                                                                pattern::Budget& budget) const;

  // Takes bytes out, or fails with kTooComplex and changes nothing. Cost: O(log n + r).
  base::Result<void> cut(const pattern::ByteSet& bytes, pattern::Budget budget);

  // Bytes of each allocation that has any.
  [[nodiscard]] const std::map<AllocationId, int64_t>& live_bytes() const { return live_bytes_; }
  void renumber(const std::function<AllocationId(AllocationId)>& number);

  // Every piece, in no order.
  void for_each(const std::function<void(const Piece&)>& visit) const;

  [[nodiscard]] int64_t piece_count() const;
  [[nodiscard]] int64_t run_count() const;
  [[nodiscard]] int64_t memory_bytes() const;

  // Asserts (P1), (P2) and the sums of live_bytes(), (P1) as far as a default budget can tell it.
  // Cost: O(n^2) for regular pieces.
  void check_invariants() const;

 private:
  using Number = uint64_t;  // of a regular piece; never given twice

  struct Regular {
    Piece piece;
    pattern::ByteSet bytes;  // of its pairs
  };

  // The end of what was appended to an allocation, and how regularly it came.
  struct Tail {
    uint64_t epoch = 0;
    Number regular = 0;               // the piece appended last, or 0 if that was a run
    MappedRun run = {};               // the run appended last, if `times` is not 0
    pattern::Point<2> distance = {};  // from the one before it to it
    int64_t times = 0;                // runs of this length at this distance, up to the last one
  };

  // What cut() will do once nothing can fail any more.
  struct Change {
    std::vector<MappedRun> runs_out;
    std::vector<Number> regular_out;
    std::vector<Piece> in;
  };

  // Accounts for bytes that an allocation gained or lost.
  void count(AllocationId allocation, int64_t bytes);
  // Requires the bytes of the piece.
  Number insert_regular(Piece piece, pattern::ByteSet bytes);
  void erase_regular(Number number);
  void insert_run(const MappedRun& run);
  void erase_run(const MappedRun& run);
  bool continue_regular(Tail& tail, const Piece& piece);
  void append_run(Tail& tail, const Piece& piece);
  void make_regular(Tail& tail);

  template <typename Visit>
  void for_each_run_meeting(const pattern::ByteSet& request, Visit visit) const;
  [[nodiscard]] base::Result<void> check_pairs(pattern::Budget& budget) const;
  [[nodiscard]] bool meets_runs(const pattern::ByteSet& bytes) const;
  base::Result<void> plan_cut_of_regular(const pattern::ByteSet& bytes, pattern::Budget budget,
                                         Change& change) const;
  base::Result<void> plan_cut_of_runs(const pattern::ByteSet& bytes, pattern::Budget budget,
                                      Change& change) const;

  RunTable runs_;
  std::unordered_map<Number, Regular> regular_;
  pattern::SpanTree spans_;  // of regular pieces, by number
  Number last_number_ = 0;
  std::map<AllocationId, int64_t> live_bytes_;
  std::unordered_map<AllocationId, Tail> tails_;
  uint64_t epoch_max_ = 0;
};

}  // namespace tessera::map
