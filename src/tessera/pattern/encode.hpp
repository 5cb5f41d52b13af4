// Encoding of traces: compact, versioned, and safe to decode from anyone.
//
// How patterns and joins travel in messages, lock tables and file maps; docs/formats/pattern.md
// describes the bytes. Shapes that occur more than once are written once and referred to, so the
// encoding is as long as the trace is irregular, whatever its size.
//   (E1) decode(encode(t)) has the same place and the same shape as t.
//   (E2) Traces of the same place and shape have the same encoding, however their nodes are shared.
//   (E3) decode() answers any input with a trace that keeps (T1) to (T5), or with an error.
//   (E4) decode() uses time and memory proportional to the length of the input, and no more stack
//        than kMaxDepth levels.
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <optional>

#include "tessera/base/bytes.hpp"
#include "tessera/base/result.hpp"
#include "tessera/pattern/trace.hpp"

namespace tessera::pattern {

inline constexpr uint8_t kEncodingVersion = 1;

// What a decoded trace may stand for. The defaults suit a peer that one shares a file with.
struct DecodeLimits {
  int64_t max_nodes = int64_t{1} << 20;  // repetitions and sequences
  int64_t max_items = int64_t{1} << 22;  // shared ones counted as often as they occur, as in (T5)
};

// D is 1 or 2. Cost: O(items), shared ones counted once, times depth at worst.
template <int D>
[[nodiscard]] base::Bytes encode(const Trace<D>& trace);

// Fails with kIntegrity if the bytes are not one whole encoding of a trace of D coordinates in a
// version and with features that this program knows, and with kTooComplex past the limits.
template <int D>
[[nodiscard]] base::Result<Trace<D>> decode(base::ByteView bytes, DecodeLimits limits = {});

// The trace, if it differs from another one in its place only; processes of one job often have such
// traces, and this shares the other's shape. Nothing for all other bytes. Requires the encoding of
// the other. Cost: O(length of the encoding), and no memory.
template <int D>
[[nodiscard]] std::optional<Trace<D>> decode_alike(base::ByteView bytes, const Trace<D>& other,
                                                   base::ByteView encoded_other);

}  // namespace tessera::pattern
