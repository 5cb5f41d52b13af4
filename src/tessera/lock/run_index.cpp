#include "tessera/lock/run_index.hpp"

#include "tessera/base/assert.hpp"
#include "tessera/pattern/cursor.hpp"

namespace tessera::lock {

namespace {

// Claims of more runs are taken as their span: some 100 MB of nodes.
constexpr int64_t kRunsMax = int64_t{1} << 20;

template <typename Visit>
void for_each_run(const pattern::ByteSet& bytes, Visit visit) {
  if (bytes.runs() > kRunsMax) {
    visit(bytes.span());
    return;
  }
  pattern::Cursor<1> cursor(bytes.ascending());
  pattern::Stripe<1> stripe;
  while (cursor.next(stripe)) {
    for (int64_t i = 0; i < stripe.count; ++i) {
      const int64_t begin = stripe.at[0] + i * stripe.stride[0];
      visit(Interval{begin, begin + stripe.length});
    }
  }
}

}  // namespace

void RunIndex::insert(Ticket ticket, const Claim& claim) {
  const auto [at, is_new] = claims_.emplace(ticket, claim);
  TESSERA_ASSERT(is_new && !claim.bytes.empty());
  SpanTree& runs = runs_.of(claim.mode);
  for_each_run(claim.bytes, [&](Interval run) { runs.insert(run, ticket); });
}

void RunIndex::erase(Ticket ticket) {
  const auto at = claims_.find(ticket);
  TESSERA_ASSERT(at != claims_.end());
  SpanTree& runs = runs_.of(at->second.mode);
  for_each_run(at->second.bytes, [&](Interval run) { runs.erase(run, ticket); });
  claims_.erase(at);
}

std::optional<Ticket> RunIndex::latest_conflict(const Claim& claim, Ticket before) const {
  const auto any = [](Ticket) { return true; };
  std::optional<Ticket> found;
  for_each_run(claim.bytes, [&](Interval run) {
    runs_.for_each_conflicting(
        claim.mode, [&](const SpanTree& runs) { found = runs.latest(run, before, any, found); });
  });
  return found;
}

size_t RunIndex::memory_bytes() const {
  size_t bytes = claims_.size() * sizeof(Claim);
  runs_.for_each([&](const SpanTree& runs) { bytes += runs.memory_bytes(); });
  return bytes;
}

}  // namespace tessera::lock
