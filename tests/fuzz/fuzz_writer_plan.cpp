// Any bytes as a saved plan of writers; the length and the checksum are made right, so that what
// lies behind them is reached. Whatever is accepted must keep (W1) and survive a round trip.
#include <cstddef>
#include <cstdint>
#include <span>

#include "tessera/base/assert.hpp"
#include "tessera/base/checksum.hpp"
#include "tessera/owner/writers_codec.hpp"

namespace {

using namespace tessera::owner;
using tessera::base::Bytes;

constexpr size_t kLengthAt = 32;
constexpr size_t kHeadBytes = 40;

void check(const Writers& writers) {
  int64_t end = 0;
  Process before = -1;
  for (const WriterInterval& interval : writers.intervals()) {
    TESSERA_ASSERT(interval.begin == end && interval.begin < interval.end);
    TESSERA_ASSERT(interval.writer != before);
    TESSERA_ASSERT(interval.writer >= 0 && interval.writer < writers.processes());
    end = interval.end;
    before = interval.writer;
  }
  TESSERA_ASSERT(end == writers.items());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto input = std::as_bytes(std::span(data, size));
  Bytes bytes(input.begin(), input.end());
  static_cast<void>(decode_plan(bytes));
  if (bytes.size() >= kHeadBytes) {
    tessera::base::store_le<uint64_t>(std::span(bytes).subspan(kLengthAt),
                                      bytes.size() - kHeadBytes);
  }
  tessera::base::ByteWriter(bytes).u64(tessera::base::checksum(bytes));
  const auto plan = decode_plan(bytes);
  if (!plan) return 0;
  check(plan->writers);
  const auto encoded = encode_plan(*plan);
  TESSERA_ASSERT(encoded && decode_plan(*encoded).value() == *plan);
  return 0;
}
