// The copy engine: moves the bytes of patterns between buffers and streams.
//
// Positions of a pattern are offsets from a base address. Regular patterns run in the kernels
// (copy_kernels.hpp) without being expanded; a transfer larger than the caches goes around them.
// Thread safety: calls on disjoint bytes may run at the same time.
#pragma once

#include <cstddef>

#include "tessera/pattern/copy_kernels.hpp"
#include "tessera/pattern/join.hpp"
#include "tessera/pattern/trace.hpp"

namespace tessera::pattern {

// Copies the bytes of the pattern, in stream order, to out[0 .. pattern.size()). Requires that
// every position is readable and that source and destination do not overlap.
void gather(std::byte* out, const std::byte* base, const Pattern& pattern);
// The same for whoever knows better than its size whether it fits into the caches.
void gather(std::byte* out, const std::byte* base, const Pattern& pattern, CopyMode mode);

// A part of the stream only: its first byte goes to out[0]. Requires that the part lies inside the
// stream. Costs no more than the part, besides O(depth + log items); nothing is built as by clip().
void gather(std::byte* out, const std::byte* base, const Pattern& pattern, Interval part,
            CopyMode mode);

// How many bytes of the pattern to gather at a time, for whoever gathers it part by part: `usual`,
// or more, up to `most`, where parts far from each other in the stream are neighbours in memory.
// Cost: O(depth).
[[nodiscard]] int64_t gather_bytes(const Pattern& pattern, int64_t usual, int64_t most);

// Copies in[0 .. pattern.size()) to the places of the pattern, in stream order: where a byte occurs
// twice the later one stays. Bytes outside the pattern are not touched.
void scatter(std::byte* base, const std::byte* in, const Pattern& pattern);
void scatter(std::byte* base, const std::byte* in, const Pattern& pattern, CopyMode mode);
void scatter(std::byte* base, const std::byte* in, const Pattern& pattern, Interval part,
             CopyMode mode);

// Copies from_base[pair[0]] to to_base[pair[1]] for every pair, in stream order. Requires that
// source and destination do not overlap.
void copy_pairs(std::byte* to_base, const std::byte* from_base, const Join& pairs);

}  // namespace tessera::pattern
