#include "tessera/lock/messages.hpp"

#include <algorithm>
#include <utility>

#include "tessera/base/assert.hpp"
#include "tessera/base/checked.hpp"
#include "tessera/base/crc32c.hpp"

namespace tessera::lock {

namespace {

using base::ByteReader;
using base::Bytes;
using base::ByteView;
using base::ByteWriter;
using base::Result;

// Its positions are the types on the wire: the alternatives of Message, from 1.
constexpr size_t kHeaderBytes = 2;
constexpr size_t kChecksumBytes = 4;
constexpr size_t kTextBytesMax = 1024;

// Of Acquire.
constexpr uint8_t kExclusiveFlag = 1;
constexpr uint8_t kReclaimsFlag = 2;
constexpr uint8_t kRecallableFlag = 4;
constexpr uint8_t kAllFlags = kExclusiveFlag | kReclaimsFlag | kRecallableFlag;

base::Failure bad(const char* what) {
  return base::fail(base::Code::kIntegrity, std::string("a lock message with ") + what);
}

// --- writing, one function for each message

void write_text(ByteWriter& to, const std::string& text, size_t max) {
  to.sized_bytes(base::bytes_of(text.substr(0, max)));
}

void write_active(ByteWriter& to, const std::vector<Sequence>& active) {
  to.varint(active.size());
  Sequence last = 0;
  for (const Sequence sequence : active) to.varint(sequence - std::exchange(last, sequence));
}

void write(ByteWriter& to, const Hello& m) {
  to.u64(m.epoch);
  to.u64(m.session);
  to.u64(m.secret);
  to.signed_varint(m.stamp_ns);
  write_text(to, m.client, kClientNameBytesMax);
  write_active(to, m.active);
}

void write(ByteWriter& to, const Welcome& m) {
  to.u64(m.epoch);
  to.u64(m.session);
  to.u64(m.secret);
  to.signed_varint(m.lease_ns);
  to.signed_varint(m.stamp_ns);
  to.u8(m.resumed ? 1 : 0);
}

void write(ByteWriter& to, const Acquire& m) {
  to.varint(m.sequence);
  to.varint(m.oldest);
  to.signed_varint(m.stamp_ns);
  write_text(to, m.file, kFileNameBytesMax);
  to.u8(static_cast<uint8_t>((m.mode == Mode::kExclusive ? kExclusiveFlag : 0) |
                             (m.reclaims ? kReclaimsFlag : 0) |
                             (m.recallable ? kRecallableFlag : 0)));
  to.signed_varint(m.wait_ns);
  to.signed_varint(m.hold_ns);
  to.sized_bytes(m.bytes);
}

void write(ByteWriter& to, const Granted& m) {
  to.varint(m.sequence);
  to.signed_varint(m.stamp_ns);
}

void write(ByteWriter& to, const Refused& m) {
  to.varint(m.sequence);
  to.signed_varint(m.stamp_ns);
  to.u8(static_cast<uint8_t>(m.why));
  write_text(to, m.text, kTextBytesMax);
}

void write(ByteWriter& to, const Release& m) {
  to.varint(m.sequence);
  to.varint(m.oldest);
  to.signed_varint(m.stamp_ns);
}

void write(ByteWriter& to, const Renew& m) {
  to.signed_varint(m.stamp_ns);
  to.varint(m.last);
  write_active(to, m.active);
}

void write(ByteWriter& to, const Renewed& m) { to.signed_varint(m.stamp_ns); }

void write(ByteWriter& to, const Lost& m) {
  to.varint(m.sequence);
  to.u8(static_cast<uint8_t>(m.why));
}

void write(ByteWriter& /*to*/, const Goodbye& /*m*/) {}

void write(ByteWriter& to, const Recall& m) { to.varint(m.sequence); }

// --- reading; the argument only names the message

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

Result<Sequence> read_sequence(ByteReader& from) {
  TESSERA_TRY(const Sequence sequence, from.varint());
  if (sequence == 0) return bad("the number 0 for a request");
  return sequence;
}

template <typename Enum>
Result<Enum> read_enum(ByteReader& from, Enum last) {
  TESSERA_TRY(const uint8_t value, from.u8());
  if (value == 0 || value > static_cast<uint8_t>(last)) return bad("an unknown reason");
  return static_cast<Enum>(value);
}

Result<std::vector<Sequence>> read_active(ByteReader& from) {
  TESSERA_TRY(const uint64_t count, from.varint());
  if (count > kActiveMax) return bad("too many requests at once");
  std::vector<Sequence> active;
  Sequence last = 0;
  for (uint64_t i = 0; i < count; ++i) {
    TESSERA_TRY(const uint64_t step, from.varint());
    if (step == 0 || step > ~last) return bad("requests that do not ascend");
    active.push_back(last += step);
  }
  return active;
}

Result<Hello> read(ByteReader& from, Hello m) {
  TESSERA_TRY(m.epoch, from.u64());
  TESSERA_TRY(m.session, from.u64());
  TESSERA_TRY(m.secret, from.u64());
  TESSERA_TRY(m.stamp_ns, from.signed_varint());
  TESSERA_TRY(m.client, read_text(from, kClientNameBytesMax));
  TESSERA_TRY(m.active, read_active(from));
  return m;
}

Result<Welcome> read(ByteReader& from, Welcome m) {
  TESSERA_TRY(m.epoch, from.u64());
  TESSERA_TRY(m.session, from.u64());
  TESSERA_TRY(m.secret, from.u64());
  TESSERA_TRY(m.lease_ns, from.signed_varint());
  TESSERA_TRY(m.stamp_ns, from.signed_varint());
  TESSERA_TRY(m.resumed, read_flag(from));
  if (m.session == 0 || m.lease_ns <= 0) return bad("no session or no lease");
  return m;
}

Result<Acquire> read(ByteReader& from, Acquire m) {
  TESSERA_TRY(m.sequence, read_sequence(from));
  TESSERA_TRY(m.oldest, from.varint());
  TESSERA_TRY(m.stamp_ns, from.signed_varint());
  TESSERA_TRY(m.file, read_text(from, kFileNameBytesMax));
  TESSERA_TRY(const uint8_t flags, from.u8());
  if (flags > kAllFlags) return bad("unknown flags");
  m.mode = (flags & kExclusiveFlag) != 0 ? Mode::kExclusive : Mode::kShared;
  m.reclaims = (flags & kReclaimsFlag) != 0;
  m.recallable = (flags & kRecallableFlag) != 0;
  TESSERA_TRY(m.wait_ns, from.signed_varint());
  TESSERA_TRY(m.hold_ns, from.signed_varint());
  TESSERA_TRY(const ByteView bytes, from.sized_bytes());
  m.bytes = base::copy_of(bytes);
  return m;
}

Result<Granted> read(ByteReader& from, Granted m) {
  TESSERA_TRY(m.sequence, read_sequence(from));
  TESSERA_TRY(m.stamp_ns, from.signed_varint());
  return m;
}

Result<Refused> read(ByteReader& from, Refused m) {
  TESSERA_TRY(m.sequence, read_sequence(from));
  TESSERA_TRY(m.stamp_ns, from.signed_varint());
  TESSERA_TRY(m.why, read_enum(from, Refusal::kBusy));
  TESSERA_TRY(m.text, read_text(from, kTextBytesMax));
  return m;
}

Result<Release> read(ByteReader& from, Release m) {
  TESSERA_TRY(m.sequence, read_sequence(from));
  TESSERA_TRY(m.oldest, from.varint());
  TESSERA_TRY(m.stamp_ns, from.signed_varint());
  return m;
}

Result<Renew> read(ByteReader& from, Renew m) {
  TESSERA_TRY(m.stamp_ns, from.signed_varint());
  TESSERA_TRY(m.last, from.varint());
  TESSERA_TRY(m.active, read_active(from));
  return m;
}

Result<Renewed> read(ByteReader& from, Renewed m) {
  TESSERA_TRY(m.stamp_ns, from.signed_varint());
  return m;
}

Result<Lost> read(ByteReader& from, Lost m) {
  TESSERA_TRY(m.sequence, from.varint());
  TESSERA_TRY(m.why, read_enum(from, Loss::kBroken));
  return m;
}

Result<Goodbye> read(ByteReader& /*from*/, Goodbye m) { return m; }

Result<Recall> read(ByteReader& from, Recall m) {
  TESSERA_TRY(m.sequence, read_sequence(from));
  return m;
}

// Reads the alternative of the given index.
template <size_t I = 0>
Result<Message> read_alternative(size_t index, ByteReader& from) {
  if constexpr (I < std::variant_size_v<Message>) {
    if (index != I) return read_alternative<I + 1>(index, from);
    TESSERA_TRY(auto message, read(from, std::variant_alternative_t<I, Message>{}));
    return Message(std::move(message));
  } else {
    return bad("an unknown type");
  }
}

}  // namespace

Bytes encode(const Message& message) {
  Bytes frame;
  ByteWriter writer(frame);
  writer.u8(kMessageVersion);
  writer.u8(base::exact_cast<uint8_t>(message.index() + 1));
  std::visit([&](const auto& m) { write(writer, m); }, message);
  writer.u32(base::crc32c(frame));
  return frame;
}

Result<Message> decode(ByteView frame) {
  if (frame.size() < kHeaderBytes + kChecksumBytes) return bad("too few bytes");
  const ByteView content = frame.first(frame.size() - kChecksumBytes);
  if (base::load_le<uint32_t>(frame.last(kChecksumBytes)) != base::crc32c(content)) {
    return bad("a wrong checksum");
  }
  ByteReader reader(content);
  TESSERA_TRY(const uint8_t version, reader.u8());
  if (version != kMessageVersion) return bad("a version that is not ours");
  TESSERA_TRY(const uint8_t type, reader.u8());
  if (type == 0) return bad("an unknown type");
  TESSERA_TRY(Message message, read_alternative(size_t{type} - 1, reader));
  TESSERA_TRY_VOID(reader.expect_end());
  return message;
}

}  // namespace tessera::lock
