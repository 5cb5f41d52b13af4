#include "tessera/lock/admin_messages.hpp"

#include <utility>

#include "tessera/lock/message_codec.hpp"
#include "tessera/port/secret_key.hpp"

namespace tessera::lock {

namespace {

using base::ByteReader;
using base::Bytes;
using base::ByteView;
using base::ByteWriter;
using base::Result;
using codec::bad;

constexpr uint8_t kFirstType = 128;

// --- parts

void write(ByteWriter& to, LockId id) {
  to.varint(id.session);
  to.varint(id.sequence);
}

Result<LockId> read(ByteReader& from, LockId id) {
  TESSERA_TRY(id.session, from.varint());
  TESSERA_TRY(id.sequence, from.varint());
  return id;
}

Result<LockId> read_lock(ByteReader& from) {
  TESSERA_TRY(const LockId id, read(from, LockId{}));
  if (id.session == 0 || id.sequence == 0) return bad("the number 0 for a lock");
  return id;
}

// A number of things: no bit more than programs that read it can count.
Result<int64_t> read_amount(ByteReader& from) {
  TESSERA_TRY(const uint64_t amount, from.varint());
  if (!std::in_range<int64_t>(amount)) return bad("a number that is too large");
  return static_cast<int64_t>(amount);
}

void write_amount(ByteWriter& to, int64_t amount) { to.varint(static_cast<uint64_t>(amount)); }

constexpr uint8_t kExclusive = 1;
constexpr uint8_t kHeld = 2;
constexpr uint8_t kWaitsForOne = 4;

void write(ByteWriter& to, const LockRow& row) {
  write(to, row.lock);
  codec::write_text(to, row.file, kFileNameBytesMax);
  codec::write_text(to, row.client, kClientNameBytesMax);
  to.u8(static_cast<uint8_t>((row.mode == Mode::kExclusive ? kExclusive : 0) |
                             (row.state == LockState::kHeld ? kHeld : 0) |
                             (row.waits_for ? kWaitsForOne : 0)));
  to.signed_varint(row.age_ns);
  to.signed_varint(row.lease_left_ns);
  if (row.waits_for) write(to, *row.waits_for);
  write_amount(to, row.size_bytes);
  write_amount(to, row.runs);
  write_amount(to, row.begin);
  write_amount(to, row.end);
}

Result<LockRow> read(ByteReader& from, LockRow row) {
  TESSERA_TRY(row.lock, read_lock(from));
  TESSERA_TRY(row.file, codec::read_text(from, kFileNameBytesMax));
  TESSERA_TRY(row.client, codec::read_text(from, kClientNameBytesMax));
  TESSERA_TRY(const uint8_t flags, from.u8());
  if (flags > (kExclusive | kHeld | kWaitsForOne)) return bad("unknown flags");
  row.mode = (flags & kExclusive) != 0 ? Mode::kExclusive : Mode::kShared;
  row.state = (flags & kHeld) != 0 ? LockState::kHeld : LockState::kWaiting;
  TESSERA_TRY(row.age_ns, from.signed_varint());
  TESSERA_TRY(row.lease_left_ns, from.signed_varint());
  if ((flags & kWaitsForOne) != 0) {
    TESSERA_TRY(row.waits_for, read_lock(from));
  }
  TESSERA_TRY(row.size_bytes, read_amount(from));
  TESSERA_TRY(row.runs, read_amount(from));
  TESSERA_TRY(row.begin, read_amount(from));
  TESSERA_TRY(row.end, read_amount(from));
  return row;
}

void write(ByteWriter& to, const LockServer::Counts& counts) {
  to.varint(kCountNames.size());
  for (const CountName& known : kCountNames) to.varint(counts.*known.count);
}

// A server that counts more than we know of says so after what we know.
Result<LockServer::Counts> read(ByteReader& from, LockServer::Counts counts) {
  constexpr uint64_t kCountsMax = 256;
  TESSERA_TRY(const uint64_t said, from.varint());
  if (said > kCountsMax) return bad("too many counts");
  for (uint64_t i = 0; i < said; ++i) {
    TESSERA_TRY(const int64_t count, read_amount(from));
    if (i < kCountNames.size()) counts.*kCountNames[i].count = static_cast<uint64_t>(count);
  }
  return counts;
}

void write(ByteWriter& to, const ServerFacts& facts) {
  to.u64(facts.epoch);
  to.u8(facts.in_grace ? 1 : 0);
  write_amount(to, facts.lease_ns);
  write_amount(to, facts.uptime_ns);
  write_amount(to, facts.sessions);
  write_amount(to, facts.requests);
  write_amount(to, facts.held);
  write_amount(to, facts.early);
  write_amount(to, facts.files);
  write_amount(to, facts.pattern_bytes);
  write(to, facts.counts);
}

Result<ServerFacts> read(ByteReader& from, ServerFacts facts) {
  TESSERA_TRY(facts.epoch, from.u64());
  TESSERA_TRY(facts.in_grace, codec::read_flag(from));
  TESSERA_TRY(facts.lease_ns, read_amount(from));
  TESSERA_TRY(facts.uptime_ns, read_amount(from));
  TESSERA_TRY(facts.sessions, read_amount(from));
  TESSERA_TRY(facts.requests, read_amount(from));
  TESSERA_TRY(facts.held, read_amount(from));
  TESSERA_TRY(facts.early, read_amount(from));
  TESSERA_TRY(facts.files, read_amount(from));
  TESSERA_TRY(facts.pattern_bytes, read_amount(from));
  TESSERA_TRY(facts.counts, read(from, LockServer::Counts{}));
  return facts;
}

// --- messages

void write(ByteWriter& to, const ListLocks& m) {
  write(to, m.after);
  to.varint(m.rows_max);
  to.u8(m.file ? 1 : 0);
  if (m.file) codec::write_text(to, *m.file, kFileNameBytesMax);
}

Result<ListLocks> read(ByteReader& from, ListLocks m) {
  TESSERA_TRY(m.after, read(from, LockId{}));
  TESSERA_TRY(m.rows_max, from.varint());
  if (m.rows_max == 0 || m.rows_max > kRowsMax) return bad("an impossible number of rows");
  TESSERA_TRY(const bool has_file, codec::read_flag(from));
  if (has_file) {
    TESSERA_TRY(m.file, codec::read_text(from, kFileNameBytesMax));
  }
  return m;
}

void write(ByteWriter& to, const LockList& m) {
  write(to, m.facts);
  to.varint(m.rows.size());
  for (const LockRow& row : m.rows) write(to, row);
  write(to, m.next);
  to.u8(m.complete ? 1 : 0);
}

Result<LockList> read(ByteReader& from, LockList m) {
  TESSERA_TRY(m.facts, read(from, ServerFacts{}));
  TESSERA_TRY(const uint64_t count, from.varint());
  if (count > kRowsMax) return bad("too many rows");
  for (uint64_t i = 0; i < count; ++i) {
    TESSERA_TRY(LockRow row, read(from, LockRow{}));
    m.rows.push_back(std::move(row));
  }
  TESSERA_TRY(m.next, read(from, LockId{}));
  TESSERA_TRY(m.complete, codec::read_flag(from));
  return m;
}

void write(ByteWriter& to, const BreakLock& m) {
  to.u64(m.epoch);
  write(to, m.lock);
}

Result<BreakLock> read(ByteReader& from, BreakLock m) {
  TESSERA_TRY(m.epoch, from.u64());
  TESSERA_TRY(m.lock, read_lock(from));
  return m;
}

void write(ByteWriter& to, const LockBroken& m) { to.u8(static_cast<uint8_t>(m.outcome)); }

Result<LockBroken> read(ByteReader& from, LockBroken m) {
  TESSERA_TRY(m.outcome, codec::read_enum(from, BreakOutcome::kOtherEpoch));
  return m;
}

void write(ByteWriter& to, const OpenToNodes& m) { codec::write_text(to, m.host, kHostBytesMax); }

Result<OpenToNodes> read(ByteReader& from, OpenToNodes m) {
  TESSERA_TRY(m.host, codec::read_text(from, kHostBytesMax));
  return m;
}

void write(ByteWriter& to, const OpenedToNodes& m) {
  codec::write_text(to, m.address, kAddressBytesMax);
  codec::write_text(to, m.key, 2 * port::SecretKey::kBytes);
}

Result<OpenedToNodes> read(ByteReader& from, OpenedToNodes m) {
  TESSERA_TRY(m.address, codec::read_text(from, kAddressBytesMax));
  TESSERA_TRY(m.key, codec::read_text(from, 2 * port::SecretKey::kBytes));
  return m;
}

}  // namespace

Bytes encode(const AdminMessage& message) {
  return codec::encode(message, kFirstType,
                       [](ByteWriter& to, const auto& alternative) { write(to, alternative); });
}

Result<AdminMessage> decode_admin(ByteView frame) {
  return codec::decode<AdminMessage>(frame, kFirstType, [](ByteReader& from, auto alternative) {
    return read(from, std::move(alternative));
  });
}

bool is_admin_frame(ByteView frame) {
  return frame.size() >= 2 && std::to_integer<uint8_t>(frame[1]) >= kFirstType;
}

}  // namespace tessera::lock
