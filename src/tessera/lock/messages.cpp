#include "tessera/lock/messages.hpp"

#include <algorithm>
#include <utility>

#include "tessera/lock/message_codec.hpp"

namespace tessera::lock {

namespace {

using base::ByteReader;
using base::Bytes;
using base::ByteView;
using base::ByteWriter;
using base::Result;

using codec::bad;
using codec::read_enum;
using codec::read_flag;
using codec::read_sequence;
using codec::read_text;
using codec::write_text;

// The alternatives of Message have the types from here on.
constexpr uint8_t kFirstType = 1;
constexpr size_t kTextBytesMax = 1024;

// Of Acquire.
constexpr uint8_t kExclusiveFlag = 1;
constexpr uint8_t kReclaimsFlag = 2;
constexpr uint8_t kRecallableFlag = 4;
constexpr uint8_t kAllFlags = kExclusiveFlag | kReclaimsFlag | kRecallableFlag;

// --- writing, one function for each message

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
  to.u8(m.is_proxy ? 1 : 0);
}

void write(ByteWriter& to, const Welcome& m) {
  to.u64(m.epoch);
  to.u64(m.session);
  to.u64(m.secret);
  to.signed_varint(m.lease_ns);
  to.signed_varint(m.stamp_ns);
  to.u8(m.resumed ? 1 : 0);
  to.u64(m.via.epoch);
  to.u64(m.via.session);
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

void write(ByteWriter& /*to*/, const Retired& /*m*/) {}

// --- reading; the argument only names the message

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
  TESSERA_TRY(m.is_proxy, read_flag(from));
  return m;
}

Result<Welcome> read(ByteReader& from, Welcome m) {
  TESSERA_TRY(m.epoch, from.u64());
  TESSERA_TRY(m.session, from.u64());
  TESSERA_TRY(m.secret, from.u64());
  TESSERA_TRY(m.lease_ns, from.signed_varint());
  TESSERA_TRY(m.stamp_ns, from.signed_varint());
  TESSERA_TRY(m.resumed, read_flag(from));
  TESSERA_TRY(m.via.epoch, from.u64());
  TESSERA_TRY(m.via.session, from.u64());
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
  TESSERA_TRY(m.why, read_enum(from, Loss::kFull));
  return m;
}

Result<Goodbye> read(ByteReader& /*from*/, Goodbye m) { return m; }

Result<Recall> read(ByteReader& from, Recall m) {
  TESSERA_TRY(m.sequence, read_sequence(from));
  return m;
}

Result<Retired> read(ByteReader& from, Retired m) {
  TESSERA_TRY([[maybe_unused]] const auto passed_over, from.bytes(from.remaining()));
  return m;
}

}  // namespace

Bytes encode(const Message& message) {
  return codec::encode(message, kFirstType,
                       [](ByteWriter& to, const auto& alternative) { write(to, alternative); });
}

Result<Message> decode(ByteView frame) {
  return codec::decode<Message>(frame, kFirstType, [](ByteReader& from, auto alternative) {
    return read(from, std::move(alternative));
  });
}

bool says_full(ByteView frame) {
  const auto message = decode(frame);
  const auto* lost = message ? std::get_if<Lost>(&*message) : nullptr;
  return lost != nullptr && lost->why == Loss::kFull;
}

}  // namespace tessera::lock
