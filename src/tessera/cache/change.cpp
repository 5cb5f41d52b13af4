#include "tessera/cache/change.hpp"

#include "tessera/pattern/encode.hpp"

namespace tessera::cache {

namespace {

void write_interval(base::ByteWriter& writer, pattern::Interval interval) {
  writer.signed_varint(interval.begin);
  writer.signed_varint(interval.end);
}

base::Result<pattern::Interval> read_interval(base::ByteReader& reader) {
  pattern::Interval interval;
  TESSERA_TRY(interval.begin, reader.signed_varint());
  TESSERA_TRY(interval.end, reader.signed_varint());
  return interval;
}

}  // namespace

base::Bytes encode_change(const Change& change) {
  base::Bytes bytes;
  base::ByteWriter writer(bytes);
  writer.u8(static_cast<uint8_t>(change.kind));
  if (change.kind == Change::Kind::kGrow) {
    writer.signed_varint(change.size);
    return bytes;
  }
  if (change.kind == Change::Kind::kRoom) {
    write_interval(writer, change.places);
    return bytes;
  }
  writer.signed_varint(change.mapping.allocation);
  if (change.kind == Change::Kind::kRewrite) {
    write_interval(writer, change.places);
    return bytes;
  }
  writer.signed_varint(change.allocation_begin);
  writer.signed_varint(change.mapping.place);
  writer.varint(change.mapping.epoch);
  writer.sized_bytes(pattern::encode(change.mapping.bytes.ascending()));
  return bytes;
}

base::Result<Change> decode_change(base::ByteView bytes) {
  base::ByteReader reader(bytes);
  Change change;
  TESSERA_TRY(const uint8_t kind, reader.u8());
  change.kind = static_cast<Change::Kind>(kind);
  if (change.kind == Change::Kind::kGrow) {
    TESSERA_TRY(change.size, reader.signed_varint());
    TESSERA_TRY_VOID(reader.expect_end());
    return change;
  }
  if (change.kind == Change::Kind::kRoom) {
    TESSERA_TRY(change.places, read_interval(reader));
    TESSERA_TRY_VOID(reader.expect_end());
    return change;
  }
  TESSERA_TRY(change.mapping.allocation, reader.signed_varint());
  if (change.kind == Change::Kind::kRewrite) {
    TESSERA_TRY(change.places, read_interval(reader));
    TESSERA_TRY_VOID(reader.expect_end());
    return change;
  }
  if (change.kind != Change::Kind::kWrite) {
    return base::fail(base::Code::kIntegrity, "a change of an object file of an unknown kind");
  }
  TESSERA_TRY(change.allocation_begin, reader.signed_varint());
  TESSERA_TRY(change.mapping.place, reader.signed_varint());
  TESSERA_TRY(change.mapping.epoch, reader.varint());
  TESSERA_TRY(const base::ByteView encoded, reader.sized_bytes());
  TESSERA_TRY_VOID(reader.expect_end());
  TESSERA_TRY(auto pattern, pattern::decode<1>(encoded));
  if (!pattern.ascending()) {
    return base::fail(base::Code::kIntegrity, "the bytes of a change do not ascend");
  }
  change.mapping.bytes = pattern::ByteSet::of_ascending(std::move(pattern));
  return change;
}

}  // namespace tessera::cache
