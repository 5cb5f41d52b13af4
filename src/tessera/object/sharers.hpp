// Interned sets of processes.
//
// Millions of objects have few different sets of sharers; each set is stored once and named by a
// small number. Sets are never forgotten while the table lives, and the table is bounded: once it
// is full, new sets are all given the id of nobody and full() says so. Thread safety: const use
// from many threads is safe.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace tessera::object {

using Process = int32_t;
using SharersId = int32_t;

inline constexpr SharersId kNobody = 0;
// Processes in all sets of a table together: 256 MiB of them.
inline constexpr size_t kMaxSharers = size_t{1} << 26;

class SharersTable {
 public:
  SharersTable();

  // The processes of a set, ascending, valid until a set is added. Requires an id of this table.
  [[nodiscard]] std::span<const Process> get(SharersId id) const;
  // The id of a set with one process more or less. Cost: O(sharers).
  SharersId with(SharersId id, Process process);
  SharersId without(SharersId id, Process process);
  // The id of the union of two sets.
  SharersId united(SharersId a, SharersId b);

  // Whether a set was asked for that found no room; what was answered since is void.
  [[nodiscard]] bool full() const { return full_; }
  [[nodiscard]] int64_t memory_bytes() const;

 private:
  // A place of the hash table; the hash tells most other sets apart without reading them.
  struct Slot {
    uint32_t hash = 0;
    SharersId id = -1;  // negative: empty
  };

  SharersId intern(std::span<const Process> processes);
  // The slot of a set, or the empty one where it would be.
  Slot& slot_of(uint32_t hash, std::span<const Process> processes);
  void grow();

  bool full_ = false;
  std::vector<Process> processes_;  // of all sets, one after the other
  std::vector<size_t> begins_;      // of set i in processes_; one more at the end
  std::vector<Slot> slots_;         // a power of two of them, at most half of them taken
};

}  // namespace tessera::object
