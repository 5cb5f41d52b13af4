#include "tessera/move/two_phase_message.hpp"

#include "tessera/base/checked.hpp"
#include "tessera/pattern/encode.hpp"

namespace tessera::move {

namespace {

using base::Code;
using base::Result;

bool is_sound(const CellPart& part, const CellList& before, int64_t cell) {
  if (part.begin < 0 || part.end <= part.begin || part.end > pattern::kMaxPosition) return false;
  if (part.stream < 0 || part.bytes <= 0 || part.bytes > part.end - part.begin) return false;
  const int64_t at = part.begin / cell;
  if (at != (part.end - 1) / cell) return false;
  return before.parts.empty() || before.parts.back().begin / cell < at;
}

}  // namespace

base::Bytes encode_list(const ListMessage& message) {
  base::Bytes bytes;
  base::ByteWriter writer(bytes);
  writer.u8(static_cast<uint8_t>((message.short_before ? 1 : 0) | (message.list.complete ? 2 : 0)));
  writer.varint(message.list.parts.size());
  for (const CellPart& part : message.list.parts) {
    for (const int64_t number : {part.begin, part.end, part.stream, part.bytes}) {
      writer.signed_varint(number);
    }
  }
  return bytes;
}

Result<ListMessage> decode_list(base::ByteView bytes, int64_t cell) {
  base::ByteReader reader(bytes);
  TESSERA_TRY(const unsigned flags, reader.u8());
  TESSERA_TRY(const uint64_t count, reader.varint());
  if (flags > 3 || count > static_cast<uint64_t>(kListedCells) || (flags < 2 && count == 0)) {
    return base::fail(Code::kIntegrity, "a list of cells that no rank can have given");
  }
  ListMessage message;
  message.short_before = (flags & 1) != 0;
  message.list.complete = (flags & 2) != 0;
  for (uint64_t i = 0; i < count; ++i) {
    CellPart part;
    for (int64_t* number : {&part.begin, &part.end, &part.stream, &part.bytes}) {
      TESSERA_TRY(*number, reader.signed_varint());
    }
    if (!is_sound(part, message.list, cell)) {
      return base::fail(Code::kIntegrity, "a part of a cell that no rank can have given");
    }
    message.list.parts.push_back(part);
  }
  TESSERA_TRY_VOID(reader.expect_end());
  return message;
}

base::Bytes begin_parcel(const Pattern& places, int64_t room) {
  const base::Bytes pattern = pattern::encode(places);
  base::Bytes bytes;
  bytes.reserve(pattern.size() + base::kVarintBytesMax + base::exact_cast<size_t>(room));
  base::ByteWriter(bytes).sized_bytes(pattern);
  return bytes;
}

Result<Parcel> read_parcel(base::ByteView message, Interval file) {
  base::ByteReader reader(message);
  TESSERA_TRY(const base::ByteView encoded, reader.sized_bytes());
  Parcel parcel;
  TESSERA_TRY(parcel.places, pattern::decode<1>(encoded));
  if (!parcel.places.ascending() ||
      (!parcel.places.empty() && !file.contains(parcel.places.span()))) {
    return base::fail(Code::kIntegrity, "a parcel with places that are not its receiver's");
  }
  TESSERA_TRY(parcel.bytes, reader.bytes(reader.remaining()));
  return parcel;
}

}  // namespace tessera::move
