#include "tessera/cache/news.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "tessera/base/assert.hpp"
#include "tessera/base/checked.hpp"

namespace tessera::cache {

namespace {

using base::ByteView;
using base::Result;

// Pages that nobody writes to cost nothing.
constexpr size_t kLogBytes = size_t{4} << 20;
constexpr size_t kCapacity = kLogBytes - 64;

// A log is records, each behind its length.
using Length = uint32_t;

// Visits the records of a part of a log that begins and ends with whole ones.
Result<void> visit_records(int from, ByteView log, const News::Visit& visit) {
  while (!log.empty()) {
    if (log.size() < sizeof(Length)) {
      return base::fail(base::Code::kIntegrity, "a log of news ends within a record");
    }
    const auto length = base::load_le<Length>(log);
    log = log.subspan(sizeof(Length));
    if (length > log.size()) {
      return base::fail(base::Code::kIntegrity, "a log of news ends within a record");
    }
    TESSERA_TRY_VOID(visit(from, log.first(length)));
    log = log.subspan(length);
  }
  return {};
}

}  // namespace

struct CommonNews::Log {
  std::atomic<uint64_t> end;    // bytes told
  std::atomic<uint64_t> stamp;  // the last one taken
  std::byte padding[64 - 2 * sizeof(std::atomic<uint64_t>)];
  std::byte bytes[kCapacity];
};

int64_t CommonNews::memory_bytes(int ranks) {
  static_assert(sizeof(Log) == kLogBytes);
  static_assert(std::atomic<uint64_t>::is_always_lock_free);
  return base::exact_cast<int64_t>(kLogBytes) * ranks;
}

CommonNews::CommonNews(std::span<std::byte> memory, int rank, int ranks)
    : memory_(memory.data()), rank_(rank), ranks_(ranks), heard_(static_cast<size_t>(ranks)) {
  TESSERA_ASSERT(std::ssize(memory) >= memory_bytes(ranks));
}

CommonNews::Log& CommonNews::log_of(int rank) const {
  return *reinterpret_cast<Log*>(memory_ + static_cast<size_t>(rank) * kLogBytes);
}

Result<bool> CommonNews::tell(ByteView record) {
  Log& log = log_of(rank_);
  const uint64_t end = log.end.load(std::memory_order_relaxed);
  if (record.size() + sizeof(Length) > kCapacity - end) return false;
  base::store_le({log.bytes + end, sizeof(Length)}, base::exact_cast<Length>(record.size()));
  std::memcpy(log.bytes + end + sizeof(Length), record.data(), record.size());
  log.end.store(end + sizeof(Length) + record.size(), std::memory_order_release);
  return true;
}

Result<void> CommonNews::hear(const Visit& visit) {
  for (int from = 0; from < ranks_; ++from) {
    if (from == rank_) continue;
    const Log& log = log_of(from);
    uint64_t& heard = heard_[static_cast<size_t>(from)];
    const uint64_t end = log.end.load(std::memory_order_acquire);
    if (end == heard) continue;
    TESSERA_ASSERT(heard <= end && end <= kCapacity);
    TESSERA_TRY_VOID(visit_records(from, {log.bytes + heard, end - heard}, visit));
    heard = end;
  }
  return {};
}

// The store comes before whatever the rank does next: it then looks whether the lock is still its.
Result<uint64_t> CommonNews::take_stamp(uint64_t stamp_min) {
  std::atomic<uint64_t>& mine = log_of(rank_).stamp;
  uint64_t stamp = std::max(stamp_min, mine.load(std::memory_order_relaxed));
  for (int from = 0; from < ranks_; ++from) {
    if (from != rank_) stamp = std::max(stamp, log_of(from).stamp.load() + 1);
  }
  mine.store(stamp);
  return stamp;
}

Result<void> CommonNews::clear() {
  log_of(rank_).end.store(0, std::memory_order_release);
  log_of(rank_).stamp.store(0);
  std::fill(heard_.begin(), heard_.end(), 0);
  return {};
}

namespace {

// In the file: how far each rank has told and its stamp, twice so that half a write is noticed,
// then the logs.
constexpr int64_t kEntryBytes = 32;
constexpr int64_t kFileLogBytes = int64_t{16} << 20;
constexpr int kTornReadsMax = 1000;

int64_t table_bytes(int ranks) { return base::ceil_div(kEntryBytes * ranks, 4096) * 4096; }

Result<void> read_exactly(port::File& file, int64_t at, std::span<std::byte> memory) {
  const port::Transfer read = file.read_at(at, memory);
  TESSERA_TRY_VOID(read.status);
  // Behind the end of the file nobody has told anything yet.
  std::fill(memory.begin() + read.bytes, memory.end(), std::byte{0});
  return {};
}

}  // namespace

int64_t FileNews::file_bytes(int ranks) { return table_bytes(ranks) + kFileLogBytes * ranks; }

FileNews::FileNews(port::File& file, int64_t begin, int rank, int ranks)
    : file_(file), begin_(begin), rank_(rank), ranks_(ranks), heard_(static_cast<size_t>(ranks)) {}

int64_t FileNews::log_begin(int rank) const {
  return begin_ + table_bytes(ranks_) + kFileLogBytes * rank;
}

Result<void> FileNews::publish(Entry entry) {
  base::Bytes bytes;
  base::ByteWriter writer(bytes);
  for (int copy = 0; copy < 2; ++copy) {
    writer.u64(entry.end);
    writer.u64(entry.stamp);
  }
  TESSERA_TRY_VOID(file_.write_at(begin_ + kEntryBytes * rank_, bytes).status);
  mine_ = entry;
  return {};
}

Result<bool> FileNews::tell(ByteView record) {
  const auto told = static_cast<int64_t>(mine_.end);
  if (told + std::ssize(record) + int64_t{sizeof(Length)} > kFileLogBytes) return false;
  base::Bytes bytes;
  base::ByteWriter writer(bytes);
  writer.u32(base::exact_cast<Length>(record.size()));
  writer.bytes(record);
  TESSERA_TRY_VOID(file_.write_at(log_begin(rank_) + told, bytes).status);
  TESSERA_TRY_VOID(publish({mine_.end + bytes.size(), mine_.stamp}));
  return true;
}

Result<std::vector<FileNews::Entry>> FileNews::entries() {
  base::Bytes table(static_cast<size_t>(kEntryBytes * ranks_));
  for (int tries = 0; tries < kTornReadsMax; ++tries) {
    TESSERA_TRY_VOID(read_exactly(file_, begin_, table));
    std::vector<Entry> entries;
    bool torn = false;
    for (base::ByteReader reader(table); !reader.at_end();) {
      Entry entry;
      TESSERA_TRY(entry.end, reader.u64());
      TESSERA_TRY(entry.stamp, reader.u64());
      TESSERA_TRY(const uint64_t end, reader.u64());
      TESSERA_TRY(const uint64_t stamp, reader.u64());
      torn = torn || end != entry.end || stamp != entry.stamp ||
             end > static_cast<uint64_t>(kFileLogBytes);
      entries.push_back(entry);
    }
    if (!torn) return entries;
  }
  return base::fail(base::Code::kFailed, "the news of other ranks in " + file_.path() +
                                             " cannot be read: its file system tears small writes");
}

Result<void> FileNews::hear_log(int from, uint64_t end, const Visit& visit) {
  uint64_t& heard = heard_[static_cast<size_t>(from)];
  if (end == heard) return {};
  TESSERA_ASSERT(heard < end);
  base::Bytes log(end - heard);
  TESSERA_TRY_VOID(read_exactly(file_, log_begin(from) + static_cast<int64_t>(heard), log));
  TESSERA_TRY_VOID(visit_records(from, log, visit));
  heard = end;
  return {};
}

Result<void> FileNews::hear(const Visit& visit) {
  TESSERA_TRY(const std::vector<Entry> all, entries());
  for (int from = 0; from < ranks_; ++from) {
    if (from != rank_) TESSERA_TRY_VOID(hear_log(from, all[static_cast<size_t>(from)].end, visit));
  }
  return {};
}

Result<uint64_t> FileNews::take_stamp(uint64_t stamp_min) {
  TESSERA_TRY(const std::vector<Entry> all, entries());
  uint64_t stamp = std::max(stamp_min, mine_.stamp);
  for (int from = 0; from < ranks_; ++from) {
    if (from != rank_) stamp = std::max(stamp, all[static_cast<size_t>(from)].stamp + 1);
  }
  if (stamp != mine_.stamp) TESSERA_TRY_VOID(publish({mine_.end, stamp}));
  return stamp;
}

Result<void> FileNews::clear() {
  std::fill(heard_.begin(), heard_.end(), 0);
  return publish({});
}

}  // namespace tessera::cache
