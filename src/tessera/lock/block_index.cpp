#include "tessera/lock/block_index.hpp"

#include "tessera/base/assert.hpp"
#include "tessera/base/checked.hpp"
#include "tessera/pattern/cursor.hpp"

namespace tessera::lock {

namespace {

constexpr int64_t kWordBits = 64;
// 2 MB of bits for a claim.
constexpr int64_t kBlocksMax = int64_t{1} << 24;
// Each run is looked at.
constexpr int64_t kRunsMax = int64_t{1} << 22;

int64_t word_of(int64_t block) { return base::floor_div(block, kWordBits); }

// Sets the bits of blocks [begin, end), counted from the first word's.
void set_bits(std::vector<uint64_t>& words, int64_t begin, int64_t end) {
  while (begin < end) {
    const int64_t in_word = begin % kWordBits;
    const int64_t count = std::min(kWordBits - in_word, end - begin);
    const uint64_t ones = count == kWordBits ? ~uint64_t{0} : (uint64_t{1} << count) - 1;
    words[static_cast<size_t>(begin / kWordBits)] |= ones << in_word;
    begin += count;
  }
}

}  // namespace

BlockIndex::BlockIndex(int64_t block_bytes) : block_bytes_(block_bytes) {
  TESSERA_ASSERT(block_bytes > 0);
}

BlockIndex::Blocks BlockIndex::blocks_of(const Claim& claim) const {
  const auto block_at = [&](int64_t position) { return base::floor_div(position, block_bytes_); };
  const Interval span = claim.bytes.span();
  Blocks blocks{{block_at(span.begin), block_at(span.end - 1) + 1}, {}, claim.mode};
  if (blocks.span.length() > kBlocksMax || claim.bytes.runs() > kRunsMax) return blocks;
  const int64_t origin = word_of(blocks.span.begin) * kWordBits;
  blocks.words.resize(static_cast<size_t>(base::ceil_div(blocks.span.end - origin, kWordBits)));
  pattern::Cursor<1> cursor(claim.bytes.ascending());
  pattern::Stripe<1> stripe;
  while (cursor.next(stripe)) {
    for (int64_t i = 0; i < stripe.count; ++i) {
      const int64_t begin = stripe.at[0] + i * stripe.stride[0];
      set_bits(blocks.words, block_at(begin) - origin,
               block_at(begin + stripe.length - 1) + 1 - origin);
    }
  }
  return blocks;
}

bool BlockIndex::meet(const Blocks& a, const Blocks& b) {
  const Interval both = pattern::common(a.span, b.span);
  if (both.empty() || (a.words.empty() && b.words.empty())) return !both.empty();
  const int64_t first_a = word_of(a.span.begin);
  const int64_t first_b = word_of(b.span.begin);
  for (int64_t word = word_of(both.begin); word * kWordBits < both.end; ++word) {
    const auto bits = [&](const Blocks& of, int64_t first) {
      return of.words.empty() ? ~uint64_t{0} : of.words[static_cast<size_t>(word - first)];
    };
    if ((bits(a, first_a) & bits(b, first_b)) != 0) return true;
  }
  return false;
}

void BlockIndex::insert(Ticket ticket, const Claim& claim) {
  TESSERA_ASSERT(!claim.bytes.empty());
  const auto [at, is_new] = claims_.emplace(ticket, blocks_of(claim));
  TESSERA_ASSERT(is_new);
  spans_.of(claim.mode).insert(at->second.span, ticket);
}

void BlockIndex::erase(Ticket ticket) {
  const auto at = claims_.find(ticket);
  TESSERA_ASSERT(at != claims_.end());
  spans_.of(at->second.mode).erase(at->second.span, ticket);
  claims_.erase(at);
}

std::optional<Ticket> BlockIndex::latest_conflict(const Claim& claim, Ticket before) const {
  const Blocks blocks = blocks_of(claim);
  const auto test = [&](Ticket ticket) { return meet(blocks, claims_.at(ticket)); };
  std::optional<Ticket> found;
  spans_.for_each_conflicting(claim.mode, [&](const SpanTree& spans) {
    found = spans.latest(blocks.span, before, test, found);
  });
  return found;
}

size_t BlockIndex::memory_bytes() const {
  size_t bytes = 0;
  spans_.for_each([&](const SpanTree& spans) { bytes += spans.memory_bytes(); });
  for (const auto& [ticket, blocks] : claims_) {
    bytes += sizeof(Blocks) + blocks.words.capacity() * sizeof(uint64_t);
  }
  return bytes;
}

}  // namespace tessera::lock
