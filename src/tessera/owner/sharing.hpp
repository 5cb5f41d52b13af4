// Sharing: which processes hold valid bytes of each item of a file, in file order.
//
// An item is what is written whole by one process: a node of a mesh with its values, or an object
// of overlapping views. Its holders are the processes that have its bytes; any of them may write
// it. Meshes and views have millions of items and few different lists of holders, so each list is
// stored once, and neighbouring items with the same list are one stretch.
//   (S1) The stretches follow each other and cover the items from 0 to items().
//   (S2) Two neighbouring stretches have different lists of holders, or a gap between them.
//   (S3) A list names no process twice and has at least one; its first is the item's home, the
//        process that would write it if nothing were grouped.
// Where neighbouring items do not touch in the file, bytes lying between them that nobody has,
// there is a gap: no run on disk goes across it, whoever writes on its two sides.
// Thread safety: const use from many threads is safe.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "tessera/object/sharers.hpp"

namespace tessera::owner {

using object::Process;

// A list of holders, by number.
using HoldersId = int32_t;

// Neighbouring items with the same holders.
struct Stretch {
  int64_t end = 0;  // behind its last item; it begins where the one before ends
  HoldersId holders = 0;
  bool behind_gap = false;
  friend bool operator==(const Stretch&, const Stretch&) = default;
};

class Sharing {
 public:
  // No items yet, for processes 0 to processes - 1. Requires processes > 0.
  explicit Sharing(int processes);

  // The number of a list. Requires (S3) and names below processes(). Cost: O(holders).
  HoldersId intern(std::span<const Process> list);
  // Adds items behind the last. Requires count >= 0 and a number that intern() gave.
  void append(int64_t count, HoldersId list);
  // Items that are added from now on lie behind a gap; nothing if there are none before it.
  void leave_gap() { gap_ = !stretches_.empty(); }

  [[nodiscard]] int processes() const { return processes_; }
  [[nodiscard]] int64_t items() const { return stretches_.empty() ? 0 : stretches_.back().end; }
  [[nodiscard]] std::span<const Stretch> stretches() const { return stretches_; }
  // Valid until a list is added.
  [[nodiscard]] std::span<const Process> holders(HoldersId id) const;
  [[nodiscard]] HoldersId lists() const { return static_cast<HoldersId>(begins_.size()) - 1; }
  // Cost: O(holders).
  [[nodiscard]] bool holds(HoldersId id, Process process) const;
  [[nodiscard]] bool is_shared(HoldersId id) const { return holders(id).size() > 1; }

  // Items with more than one holder. Cost: O(stretches).
  [[nodiscard]] int64_t shared_items() const;
  // Items counted once for each holder: what is stored in memory. Cost: O(stretches).
  [[nodiscard]] int64_t replicas() const;
  [[nodiscard]] int64_t memory_bytes() const;

 private:
  int processes_ = 0;
  bool gap_ = false;  // behind the last stretch
  std::vector<Stretch> stretches_;
  std::vector<Process> names_;                        // of all lists, one after the other
  std::vector<size_t> begins_;                        // of list i in names_; one more at the end
  std::unordered_multimap<uint64_t, HoldersId> ids_;  // by hash of the list
};

}  // namespace tessera::owner
