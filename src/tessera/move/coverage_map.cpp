#include "tessera/move/coverage_map.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "tessera/base/assert.hpp"
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

void CoverageMap::mark_stripe(int64_t begin, int64_t length, int64_t count, int64_t stride) {
  if (length == 8 && begin % 8 == 0 && stride % 8 == 0) {
    for (int64_t i = 0; i < count; ++i, begin += stride) {
      memory_[static_cast<size_t>(begin / 8)] = kAllMarked;
    }
    return;
  }
  for (int64_t i = 0; i < count; ++i, begin += stride) mark_run(begin, length);
}

void CoverageMap::mark(const Pattern& pattern, Interval stream, int64_t begin) {
  if (stream.empty()) return;
  TESSERA_ASSERT(pattern.position(stream.begin)[0] >= begin &&
                 pattern.position(stream.end - 1)[0] - begin < std::ssize(memory_) * 8);
  pattern::Cursor<1> cursor(pattern, stream.begin);
  pattern::Stripe<1> stripe;
  for (int64_t left = stream.length(); left > 0 && cursor.next(stripe);) {
    const int64_t at = stripe.at[0] - begin;
    const int64_t whole = std::min(stripe.count, left / stripe.length);
    mark_stripe(at, stripe.length, whole, stripe.stride[0]);
    left -= whole * stripe.length;
    if (whole == stripe.count) continue;
    // The stretch ends in this run, or before it.
    if (left > 0) mark_run(at + whole * stripe.stride[0], left);
    return;
  }
}

}  // namespace tessera::move
