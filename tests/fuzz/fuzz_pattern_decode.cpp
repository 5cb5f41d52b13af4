// Decodes any bytes as a pattern and as a join. Whatever is accepted must keep the invariants of
// traces, survive a round trip, and answer for its positions.
#include <cstddef>
#include <cstdint>
#include <span>

#include "tessera/base/assert.hpp"
#include "tessera/pattern/encode.hpp"
#include "tessera/pattern/trace.hpp"

namespace {

using namespace tessera::pattern;

template <int D>
void check_byte(const Trace<D>& trace, int64_t offset) {
  const Point<D> position = trace.position(offset);
  const Trace<D> byte = trace.clip({offset, offset + 1});
  TESSERA_ASSERT(byte.size() == 1 && byte.at() == position);
  for (int d = 0; d < D; ++d) {
    TESSERA_ASSERT(trace.span(d).contains({position[d], position[d] + 1}));
    if (trace.ascending(d)) TESSERA_ASSERT(trace.offset_of(position[d], d) == offset);
  }
}

template <int D>
void check_positions(const Trace<D>& trace) {
  if (trace.empty()) return;
  TESSERA_ASSERT(trace.position(0) == trace.at());
  TESSERA_ASSERT(trace.position(trace.size() - 1).advanced(1) == trace.end());
  const int64_t step = trace.size() / 16 + 1;
  for (int64_t offset = 0; offset < trace.size(); offset += step) check_byte(trace, offset);
  const Trace<D> half = trace.clip({trace.size() / 3, trace.size()});
  half.check_invariants();
  TESSERA_ASSERT(half.size() == trace.size() - trace.size() / 3 && half.end() == trace.end());
}

template <int D>
void decode_any(tessera::base::ByteView bytes) {
  const auto trace = decode<D>(bytes, {int64_t{1} << 12, int64_t{1} << 16});
  if (!trace) return;
  trace->check_invariants();
  const tessera::base::Bytes encoded = encode(*trace);
  const auto again = decode<D>(encoded);
  TESSERA_ASSERT(again && again->at() == trace->at());
  TESSERA_ASSERT(same_shape(again->shape(), trace->shape()));
  TESSERA_ASSERT(encode(*again) == encoded);
  check_positions(*trace);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size_bytes) {
  const auto bytes = std::as_bytes(std::span(data, size_bytes));
  decode_any<1>(bytes);
  decode_any<2>(bytes);
  return 0;
}
