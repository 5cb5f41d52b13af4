// News: what the ranks of a file tell each other about it without meeting.
//
// Every rank has a log. Only it appends to it; the others read on from where they stopped. So a
// rank that computes delays nobody. The logs lie in common memory of a node (CommonNews), where
// looking for news costs one load for each rank, or in a part of the file itself that nothing else
// uses (FileNews), for ranks of several nodes, where it costs a small read.
//   (N1) A record is heard whole, by every other rank, in the order in which its rank told it.
//   (N2) What a rank wrote before it told a record, whoever hears it sees.
//   (N3) A full log takes nothing more until clear(); what was told stays.
//   (N4) A stamp is larger than all that other ranks had taken when it was asked for. So if those
//        who write the same bytes take theirs while they hold a lock on them, stamps are in the
//        order in which the lock was granted, also of a rank that lost it and does not know.
// Thread safety: one thread at a time for each rank's news.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "tessera/base/bytes.hpp"
#include "tessera/base/result.hpp"
#include "tessera/port/disk.hpp"

namespace tessera::cache {

class News {
 public:
  using Visit = std::function<base::Result<void>(int from, base::ByteView record)>;

  virtual ~News() = default;

  // False, telling nothing, if the log is full.
  [[nodiscard]] virtual base::Result<bool> tell(base::ByteView record) = 0;
  // Visits what the others told since the last time, until a visit fails. Cost: O(ranks + records).
  [[nodiscard]] virtual base::Result<void> hear(const Visit& visit) = 0;
  // At least so large, see (N4). Cost: O(ranks).
  [[nodiscard]] virtual base::Result<uint64_t> take_stamp(uint64_t stamp_min) = 0;
  // Empties this rank's log, forgets how far it has heard, and its stamp. Requires that all ranks
  // do so between two meetings, having heard everything before the first.
  [[nodiscard]] virtual base::Result<void> clear() = 0;
};

class CommonNews final : public News {
 public:
  // Of common memory, for so many ranks.
  [[nodiscard]] static int64_t memory_bytes(int ranks);

  // Requires memory of at least memory_bytes(ranks), the same for all ranks, as teams give it,
  // which outlives the object. The logs hold anything before clear().
  CommonNews(std::span<std::byte> memory, int rank, int ranks);

  [[nodiscard]] base::Result<bool> tell(base::ByteView record) override;
  [[nodiscard]] base::Result<void> hear(const Visit& visit) override;
  [[nodiscard]] base::Result<uint64_t> take_stamp(uint64_t stamp_min) override;
  [[nodiscard]] base::Result<void> clear() override;

 private:
  struct Log;

  [[nodiscard]] Log& log_of(int rank) const;

  std::byte* memory_;
  const int rank_;
  const int ranks_;
  std::vector<uint64_t> heard_;  // bytes of each rank's log
};

class FileNews final : public News {
 public:
  // Of the file, for so many ranks. Most of it is never written.
  [[nodiscard]] static int64_t file_bytes(int ranks);

  // Requires file_bytes(ranks) from `begin` on, the same on all ranks; the file outlives the
  // object, and its reads see what other ranks have written.
  FileNews(port::File& file, int64_t begin, int rank, int ranks);

  [[nodiscard]] base::Result<bool> tell(base::ByteView record) override;
  [[nodiscard]] base::Result<void> hear(const Visit& visit) override;
  [[nodiscard]] base::Result<uint64_t> take_stamp(uint64_t stamp_min) override;
  [[nodiscard]] base::Result<void> clear() override;

 private:
  [[nodiscard]] int64_t log_begin(int rank) const;
  // What all ranks see of a rank besides its log.
  struct Entry {
    uint64_t end = 0;    // bytes told
    uint64_t stamp = 0;  // the last one taken
  };

  [[nodiscard]] base::Result<void> publish(Entry entry);
  [[nodiscard]] base::Result<std::vector<Entry>> entries();
  [[nodiscard]] base::Result<void> hear_log(int from, uint64_t end, const Visit& visit);

  port::File& file_;
  const int64_t begin_;
  const int rank_;
  const int ranks_;
  Entry mine_;
  std::vector<uint64_t> heard_;
};

}  // namespace tessera::cache
