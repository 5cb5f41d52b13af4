#include "tessera/port/exchange.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "tessera/base/assert.hpp"
#include "tessera/base/checked.hpp"

namespace tessera::port {

namespace {

using base::Code;

// What one rank did wrong must not make all others allocate without bound.
constexpr size_t kContextBytesMax = 1024;

// From the mildest to the worst: retrying or asking less helps against the first ones, nothing
// against the last. Its positions are also the codes on the wire.
constexpr Code kBySeverity[] = {Code::kRetry,  Code::kTooComplex, Code::kNotFound, Code::kInvalid,
                                Code::kDenied, Code::kFailed,     Code::kIntegrity};

uint64_t severity_of(Code code) {
  for (uint64_t i = 0; i < std::size(kBySeverity); ++i) {
    if (kBySeverity[i] == code) return i;
  }
  TESSERA_ASSERT(false);
  return 0;
}

// The vote of a rank that failed: larger for worse errors and then for lower ranks, never 0.
uint64_t vote_of(const base::Error& error, int rank) {
  const auto place = base::exact_cast<uint32_t>(std::numeric_limits<int32_t>::max() - rank);
  return severity_of(error.code) << 32 | place | uint64_t{1} << 63;
}

int rank_of(uint64_t vote) {
  const auto place = static_cast<uint32_t>(vote);
  return std::numeric_limits<int32_t>::max() - base::exact_cast<int32_t>(place);
}

base::Bytes encode(const base::Error& error) {
  base::Bytes bytes;
  base::ByteWriter writer(bytes);
  writer.varint(severity_of(error.code));
  writer.signed_varint(error.errno_value);
  writer.sized_bytes(base::bytes_of(error.context.substr(0, kContextBytesMax)));
  return bytes;
}

base::Result<base::Error> decode(const base::Bytes& bytes) {
  base::ByteReader reader(bytes);
  TESSERA_TRY(const uint64_t severity, reader.varint());
  TESSERA_TRY(const int64_t errno_value, reader.signed_varint());
  TESSERA_TRY(const base::ByteView context, reader.sized_bytes());
  TESSERA_TRY_VOID(reader.expect_end());
  if (severity >= std::size(kBySeverity) || !std::in_range<int>(errno_value)) {
    return base::fail(Code::kIntegrity, "a verdict that no rank can have given");
  }
  return base::Error{kBySeverity[severity], static_cast<int>(errno_value),
                     std::string(base::text_of(context))};
}

}  // namespace

base::Result<std::vector<base::Bytes>> Exchange::listen() {
  TESSERA_TRY(auto all, all_gather({}));
  const auto silent = [](const base::Bytes& given) { return given.empty(); };
  if (std::all_of(all.begin(), all.end(), silent)) all.clear();
  return all;
}

base::Result<void> Exchange::agree(const base::Result<void>& mine) {
  TESSERA_TRY(const uint64_t worst, all_max(mine ? 0 : vote_of(mine.error(), rank())));
  if (worst == 0) return {};
  const int speaker = rank_of(worst);
  base::Bytes spoken = rank() == speaker ? encode(mine.error()) : base::Bytes();
  TESSERA_TRY(spoken, broadcast(speaker, std::move(spoken)));
  TESSERA_TRY(base::Error error, decode(spoken));
  if (size() > 1) error.context = "rank " + std::to_string(speaker) + ": " + error.context;
  return base::Failure{std::move(error)};
}

}  // namespace tessera::port
