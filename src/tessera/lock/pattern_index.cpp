#include "tessera/lock/pattern_index.hpp"

#include <array>
#include <utility>

#include "tessera/base/assert.hpp"
#include "tessera/base/checked.hpp"

namespace tessera::lock {

namespace {

// The intervals of a period: one, or two where it passes the end.
std::array<Interval, 2> intervals_of(int64_t begin, int64_t length, int64_t stride) {
  const int64_t end = begin + length;
  if (end <= stride) return {Interval{begin, end}, Interval{}};
  return {Interval{begin, stride}, Interval{0, std::min(begin, end - stride)}};
}

}  // namespace

// What is looked for, and the latest that was found.
struct PatternIndex::Search {
  const Claim& claim;
  Ticket before;
  std::optional<Ticket> found = std::nullopt;
};

// 0 for claims that are no repetition.
int64_t PatternIndex::stride_of(const Claim& claim) {
  const auto& shape = claim.bytes.ascending().shape();
  return shape.is_repeat() ? shape.node->stride[0] : 0;
}

PatternIndex::Residue PatternIndex::residue_of(const Claim& claim, int64_t stride) {
  const Interval span = claim.bytes.span();
  const int64_t length = stride == stride_of(claim)
                             ? claim.bytes.ascending().shape().node->child.hull(0).end
                             : span.length();
  return {base::floor_mod(span.begin, stride), std::min(length, stride)};
}

PatternIndex::Lane& PatternIndex::Stride::lane_of(Residue residue, int64_t stride) {
  const auto [at, is_new] = numbers.try_emplace(residue, lanes.size());
  if (is_new) {
    if (free.empty()) {
      lanes.push_back({residue, {}});
    } else {
      at->second = free.back();
      free.pop_back();
      lanes[at->second].residue = residue;
    }
    for (const Interval part : intervals_of(residue.begin, residue.length, stride)) {
      if (!part.empty()) residues.insert(part, at->second);
    }
  }
  return lanes[at->second];
}

// Requires a lane without claims.
void PatternIndex::Stride::drop_lane(Residue residue, int64_t stride) {
  const auto at = numbers.find(residue);
  TESSERA_ASSERT(at != numbers.end() && lanes[at->second].spans.empty());
  for (const Interval part : intervals_of(residue.begin, residue.length, stride)) {
    if (!part.empty()) residues.erase(part, at->second);
  }
  free.push_back(at->second);
  numbers.erase(at);
}

void PatternIndex::insert(Ticket ticket, const Claim& claim) {
  TESSERA_ASSERT(!claim.bytes.empty());
  const bool is_new = claims_.emplace(ticket, claim).second;
  TESSERA_ASSERT(is_new);
  Half& half = halves_.of(claim.mode);
  const Interval span = claim.bytes.span();
  const int64_t length = stride_of(claim);
  if (length == 0) {
    half.others.insert(span, ticket);
    return;
  }
  Stride& stride = half.strides[length];
  stride.spans.insert(span, ticket);
  stride.lane_of(residue_of(claim, length), length).spans.insert(span, ticket);
}

void PatternIndex::erase(Ticket ticket) {
  const auto at = claims_.find(ticket);
  TESSERA_ASSERT(at != claims_.end());
  const Claim claim = std::move(at->second);
  claims_.erase(at);
  Half& half = halves_.of(claim.mode);
  const Interval span = claim.bytes.span();
  const int64_t length = stride_of(claim);
  if (length == 0) {
    half.others.erase(span, ticket);
    return;
  }
  const auto found = half.strides.find(length);
  TESSERA_ASSERT(found != half.strides.end());
  Stride& stride = found->second;
  stride.spans.erase(span, ticket);
  const Residue residue = residue_of(claim, length);
  Lane& lane = stride.lane_of(residue, length);
  lane.spans.erase(span, ticket);
  if (lane.spans.empty()) stride.drop_lane(residue, length);
  if (stride.spans.empty()) half.strides.erase(found);
}

bool PatternIndex::overlap(const Claim& claim, Ticket ticket) const {
  const auto at = claims_.find(ticket);
  TESSERA_ASSERT(at != claims_.end());
  return may_overlap(claim.bytes, at->second.bytes);
}

void PatternIndex::search_stride(int64_t length, const Stride& stride, Search& search) const {
  const Interval span = search.claim.bytes.span();
  const auto test = [&](Ticket ticket) { return overlap(search.claim, ticket); };
  // A longer claim of another kind meets every lane.
  if (stride_of(search.claim) != length && span.length() >= length) {
    search.found = stride.spans.latest(span, search.before, test, search.found);
    return;
  }
  const Residue residue = residue_of(search.claim, length);
  for (const Interval part : intervals_of(residue.begin, residue.length, length)) {
    if (part.empty()) continue;
    stride.residues.for_each(part, [&](Ticket lane) {
      search.found = stride.lanes[lane].spans.latest(span, search.before, test, search.found);
    });
  }
}

void PatternIndex::search_half(const Half& half, Search& search) const {
  const auto test = [&](Ticket ticket) { return overlap(search.claim, ticket); };
  search.found = half.others.latest(search.claim.bytes.span(), search.before, test, search.found);
  for (const auto& [length, stride] : half.strides) search_stride(length, stride, search);
}

std::optional<Ticket> PatternIndex::latest_conflict(const Claim& claim, Ticket before) const {
  Search search{claim, before};
  halves_.for_each_conflicting(claim.mode, [&](const Half& half) { search_half(half, search); });
  return search.found;
}

size_t PatternIndex::memory_bytes() const {
  size_t bytes = claims_.size() * (sizeof(Claim) + sizeof(Ticket));
  for (const auto& [ticket, claim] : claims_) {
    bytes += static_cast<size_t>(claim.bytes.ascending().memory_bytes());
  }
  halves_.for_each([&](const Half& half) {
    bytes += half.others.memory_bytes();
    for (const auto& [length, stride] : half.strides) {
      bytes += stride.spans.memory_bytes() + stride.residues.memory_bytes();
      for (const Lane& lane : stride.lanes) bytes += sizeof(Lane) + lane.spans.memory_bytes();
    }
  });
  return bytes;
}

}  // namespace tessera::lock
