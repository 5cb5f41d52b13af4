#include "tessera/lock/lock_index.hpp"

#include <tuple>
#include <utility>

#include "tessera/lock/block_index.hpp"
#include "tessera/lock/pattern_index.hpp"
#include "tessera/lock/run_index.hpp"
#include "tessera/pattern/encode.hpp"
#include "tessera/pattern/overlap.hpp"

namespace tessera::lock {

namespace {

using base::Code;

// As many nodes as fit into a frame of some megabytes.
constexpr pattern::DecodeLimits kClaimLimits = {.max_nodes = int64_t{1} << 18,
                                                .max_items = int64_t{1} << 20};
constexpr pattern::Budget kTestBudget = {.steps = int64_t{1} << 12, .max_runs = int64_t{1} << 18};

// An order of sets, so that a test spends its budget the same way whoever asks.
bool is_before(const pattern::ByteSet& a, const pattern::ByteSet& b) {
  return std::make_tuple(a.span().begin, a.span().end, a.runs(), a.size()) <
         std::make_tuple(b.span().begin, b.span().end, b.runs(), b.size());
}

}  // namespace

base::Result<Claim> decode_claim(base::ByteView bytes, Mode mode) {
  TESSERA_TRY(pattern::Pattern decoded, pattern::decode<1>(bytes, kClaimLimits));
  if (decoded.empty()) return base::fail(Code::kInvalid, "a lock on no bytes");
  if (!decoded.ascending()) return base::fail(Code::kInvalid, "a lock on bytes that do not ascend");
  if (decoded.span().begin < 0) {
    return base::fail(Code::kInvalid, "a lock on bytes before the beginning of the file");
  }
  return Claim{pattern::ByteSet::of_ascending(std::move(decoded)), mode};
}

bool may_overlap(const pattern::ByteSet& a, const pattern::ByteSet& b) {
  const bool swap = is_before(b, a);
  const auto answer = pattern::overlaps(swap ? b : a, swap ? a : b, kTestBudget);
  return !answer || *answer;
}

std::unique_ptr<LockIndex> make_index(IndexKind kind, int64_t block_bytes) {
  switch (kind) {
    case IndexKind::kRuns:
      return std::make_unique<RunIndex>();
    case IndexKind::kBlocks:
      return std::make_unique<BlockIndex>(block_bytes);
    case IndexKind::kPatterns:
      break;
  }
  return std::make_unique<PatternIndex>();
}

}  // namespace tessera::lock
