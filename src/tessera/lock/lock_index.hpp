// LockIndex: which requests of one file conflict with another one.
//
// The part of a lock table that can be built in several ways, each with its own cost:
//   kPatterns  as they came: requests of one stride by what their first byte leaves when divided by
//              it, all others by their span; then the exact test of pattern/overlap.hpp. The size
//              of a request does not matter. The default.
//   kRuns      expanded to runs, in a balanced tree: the paper's. O(m log n) for m runs.
//   kBlocks    a bit for each block of the file that a request touches, compared a word at a time.
//   (I1) Two requests conflict if they have a byte in common and are not both shared.
//   (I2) No conflict is missed. kBlocks sees one where requests share a block; and whoever would
//        have to work more than a budget allows (nested irregular patterns, a billion runs) sees
//        one where spans meet. So requests may wait in vain, but never be granted wrongly.
// Thread safety: none for changes; const functions from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "tessera/base/bytes.hpp"
#include "tessera/base/result.hpp"
#include "tessera/lock/locks.hpp"
#include "tessera/pattern/byte_set.hpp"
#include "tessera/pattern/span_tree.hpp"

namespace tessera::lock {

using pattern::Interval;
using pattern::SpanTree;
using pattern::Ticket;  // of a request

// What a request asks for.
struct Claim {
  pattern::ByteSet bytes;
  Mode mode = Mode::kExclusive;
};

// What a stranger asks for, as an encoded pattern. Fails with kInvalid, kIntegrity or kTooComplex
// if these are no bytes of a file, or more than a table should hold.
[[nodiscard]] base::Result<Claim> decode_claim(base::ByteView bytes, Mode mode);

// Whether two sets have a byte in common, as far as that can be told within a budget: some
// milliseconds at most; whoever cannot tell sees an overlap (I2). The order does not matter.
[[nodiscard]] bool may_overlap(const pattern::ByteSet& a, const pattern::ByteSet& b);

[[nodiscard]] inline bool conflict(Mode a, Mode b) {
  return a == Mode::kExclusive || b == Mode::kExclusive;
}

// Something for shared and something for exclusive claims: searches that look only where conflicts
// can be.
template <typename T>
class ByMode {
 public:
  [[nodiscard]] T& of(Mode mode) { return mode == Mode::kShared ? shared_ : exclusive_; }

  // Calls visit with those whose claims conflict with one of this mode.
  template <typename Visit>
  void for_each_conflicting(Mode mode, Visit visit) const {
    visit(exclusive_);
    if (conflict(mode, Mode::kShared)) visit(shared_);
  }
  template <typename Visit>
  void for_each(Visit visit) const {
    for_each_conflicting(Mode::kExclusive, visit);
  }

 private:
  T shared_;
  T exclusive_;
};

class LockIndex {
 public:
  virtual ~LockIndex() = default;

  // Requires bytes, and a ticket that is not there.
  virtual void insert(Ticket ticket, const Claim& claim) = 0;
  // Requires that it is there.
  virtual void erase(Ticket ticket) = 0;

  // The latest request before `before` that conflicts with the claim.
  [[nodiscard]] virtual std::optional<Ticket> latest_conflict(const Claim& claim,
                                                              Ticket before) const = 0;

  [[nodiscard]] virtual size_t memory_bytes() const = 0;
  // An empty one that sees the same conflicts.
  [[nodiscard]] virtual std::unique_ptr<LockIndex> another() const = 0;
};

enum class IndexKind { kPatterns, kRuns, kBlocks };

// `block_bytes` is for kBlocks, and positive.
[[nodiscard]] std::unique_ptr<LockIndex> make_index(IndexKind kind, int64_t block_bytes = 4096);

}  // namespace tessera::lock
