#include "tessera/mpiio/node_messages.hpp"

#include <array>
#include <string>

namespace tessera::mpiio {

using base::ByteReader;
using base::Bytes;
using base::ByteView;
using base::ByteWriter;
using base::Code;
using base::Result;

namespace {

constexpr uint8_t kGood = 0;
constexpr uint8_t kBad = 1;

}  // namespace

Bytes sealed(const Result<Bytes>& message) {
  Bytes bytes;
  ByteWriter writer(bytes);
  if (message) {
    bytes.reserve(1 + message->size());
    writer.u8(kGood);
    writer.bytes(*message);
    return bytes;
  }
  writer.u8(kBad);
  writer.u8(static_cast<uint8_t>(message.error().code));
  writer.signed_varint(message.error().errno_value);
  writer.bytes(base::bytes_of(message.error().context));
  return bytes;
}

Result<ByteView> opened(ByteView bytes) {
  ByteReader reader(bytes);
  TESSERA_TRY(const uint8_t verdict, reader.u8());
  if (verdict == kGood) return reader.bytes(reader.remaining());
  TESSERA_TRY(const uint8_t code, reader.u8());
  TESSERA_TRY(const int64_t errno_value, reader.signed_varint());
  TESSERA_TRY(const ByteView context, reader.bytes(reader.remaining()));
  return base::Failure{base::Error{static_cast<Code>(code), static_cast<int>(errno_value),
                                   std::string(base::text_of(context))}};
}

void write_parcel(Bytes& bytes, const Parcel& parcel) {
  ByteWriter writer(bytes);
  writer.varint(static_cast<uint64_t>(parcel.rank));
  writer.sized_bytes(parcel.message);
}

Result<Parcel> read_parcel(ByteReader& reader, int size) {
  TESSERA_TRY(const uint64_t rank, reader.varint());
  if (rank >= static_cast<uint64_t>(size)) {
    return base::fail(Code::kIntegrity,
                      "a message for rank " + std::to_string(rank) + " of " + std::to_string(size));
  }
  TESSERA_TRY(const ByteView message, reader.sized_bytes());
  return Parcel{static_cast<int>(rank), message};
}

size_t total_size(const std::vector<Bytes>& messages) {
  size_t total = 0;
  for (const Bytes& message : messages) total += message.size() + base::kVarintBytesMax;
  return total;
}

Bytes joined(const std::vector<Bytes>& messages) {
  Bytes bytes;
  bytes.reserve(total_size(messages));
  ByteWriter writer(bytes);
  for (const Bytes& message : messages) writer.sized_bytes(message);
  return bytes;
}

Bytes encoded(uint64_t number) {
  std::array<std::byte, sizeof(number)> bytes{};
  base::store_le<uint64_t>(bytes, number);
  return base::copy_of(bytes);
}

Result<uint64_t> decoded(ByteView bytes) { return ByteReader(bytes).u64(); }

}  // namespace tessera::mpiio
