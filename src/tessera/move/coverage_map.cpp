#include "tessera/move/coverage_map.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>

#include "tessera/base/assert.hpp"
#include "tessera/base/bytes.hpp"
#include "tessera/pattern/cursor.hpp"

namespace tessera::move {

namespace {

constexpr std::byte kAllMarked{0xff};

}  // namespace

void CoverageMap::clear() { std::memset(memory_.data(), 0, memory_.size()); }

// Bytes of the map may be shared by ranks that mark different bits.
void CoverageMap::set_bits(int64_t byte_index, unsigned bits) {
  auto& byte = reinterpret_cast<uint8_t&>(memory_[static_cast<size_t>(byte_index)]);
  std::atomic_ref(byte).fetch_or(static_cast<uint8_t>(bits), std::memory_order_relaxed);
}

void CoverageMap::mark_run(int64_t begin, int64_t length) {
  const int64_t end = begin + length;
  const int64_t first = begin / 8;
  const int64_t last = (end - 1) / 8;
  const unsigned head = 0xffU << (begin % 8) & 0xffU;
  const unsigned tail = 0xffU >> (7 - (end - 1) % 8);
  if (first == last) {
    if ((head & tail) == 0xffU) {
      memory_[static_cast<size_t>(first)] = kAllMarked;
    } else {
      set_bits(first, head & tail);
    }
    return;
  }
  const int64_t whole_begin = head == 0xffU ? first : first + 1;
  const int64_t whole_end = tail == 0xffU ? last + 1 : last;
  if (whole_begin > first) set_bits(first, head);
  if (whole_end > whole_begin) {
    std::memset(&memory_[static_cast<size_t>(whole_begin)], 0xff,
                static_cast<size_t>(whole_end - whole_begin));
  }
  if (whole_end == last) set_bits(last, tail);
}

void CoverageMap::mark(const Pattern& pattern, int64_t begin) {
  if (pattern.empty()) return;
  TESSERA_ASSERT(pattern.span().begin >= begin &&
                 pattern.span().end - begin <= std::ssize(memory_) * 8);
  pattern::Cursor<1> cursor(pattern);
  pattern::Stripe<1> stripe;
  while (cursor.next(stripe)) {
    int64_t at = stripe.at[0] - begin;
    const bool by_bytes = stripe.length == 8 && at % 8 == 0 && stripe.stride[0] % 8 == 0;
    for (int64_t i = 0; by_bytes && i < stripe.count; ++i, at += stripe.stride[0]) {
      memory_[static_cast<size_t>(at / 8)] = kAllMarked;
    }
    for (int64_t i = 0; !by_bytes && i < stripe.count; ++i, at += stripe.stride[0]) {
      mark_run(at, stripe.length);
    }
  }
}

int64_t CoverageMap::find(bool value, int64_t from, int64_t end) const {
  while (from < end) {
    const auto word = static_cast<size_t>(from / 64 * 8);
    uint64_t bits = base::load_le<uint64_t>(memory_.subspan(word, 8));
    if (!value) bits = ~bits;
    bits &= ~uint64_t{0} << (from % 64);
    if (bits != 0) return std::min(end, from / 64 * 64 + std::countr_zero(bits));
    from = (from / 64 + 1) * 64;
  }
  return end;
}

Interval CoverageMap::next_marked(Interval within) const {
  const int64_t begin = find(true, within.begin, within.end);
  return {begin, find(false, begin, within.end)};
}

Interval CoverageMap::next_unmarked(Interval within) const {
  const int64_t begin = find(false, within.begin, within.end);
  return {begin, find(true, begin, within.end)};
}

}  // namespace tessera::move
