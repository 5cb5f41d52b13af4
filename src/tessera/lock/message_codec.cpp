#include "tessera/lock/message_codec.hpp"

#include "tessera/base/crc32c.hpp"
#include "tessera/lock/messages.hpp"

namespace tessera::lock::codec {

namespace {

using base::ByteReader;
using base::Bytes;
using base::ByteView;
using base::ByteWriter;
using base::Result;

constexpr size_t kHeaderBytes = 2;
constexpr size_t kChecksumBytes = 4;

}  // namespace

base::Failure bad(const char* what) {
  return base::fail(base::Code::kIntegrity, std::string("a lock message with ") + what);
}

void write_text(ByteWriter& to, const std::string& text, size_t max) {
  to.sized_bytes(base::bytes_of(text.substr(0, max)));
}

Result<std::string> read_text(ByteReader& from, size_t max) {
  TESSERA_TRY(const ByteView text, from.sized_bytes());
  if (text.size() > max) return bad("a name that is too long");
  return std::string(base::text_of(text));
}

Result<bool> read_flag(ByteReader& from) {
  TESSERA_TRY(const uint8_t flag, from.u8());
  if (flag > 1) return bad("an unknown flag");
  return flag == 1;
}

Result<uint64_t> read_sequence(ByteReader& from) {
  TESSERA_TRY(const uint64_t sequence, from.varint());
  if (sequence == 0) return bad("the number 0 for a request");
  return sequence;
}

void begin(ByteWriter& to, uint8_t type) {
  to.u8(kMessageVersion);
  to.u8(type);
}

void seal(Bytes& frame) { ByteWriter(frame).u32(base::crc32c(frame)); }

Result<Opened> open(ByteView frame) {
  if (frame.size() < kHeaderBytes + kChecksumBytes) return bad("too few bytes");
  const ByteView content = frame.first(frame.size() - kChecksumBytes);
  if (base::load_le<uint32_t>(frame.last(kChecksumBytes)) != base::crc32c(content)) {
    return bad("a wrong checksum");
  }
  if (std::to_integer<uint8_t>(content[0]) != kMessageVersion)
    return bad("a version that is not ours");
  return Opened{std::to_integer<uint8_t>(content[1]), content.subspan(kHeaderBytes)};
}

}  // namespace tessera::lock::codec
