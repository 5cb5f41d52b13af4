// Interned sets of processes.
//
// Millions of objects have few different sets of sharers; each set is stored once and named by a
// small number. Sets are never forgotten while the table lives. Thread safety: const use from many
// threads is safe.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

namespace tessera::object {

using Process = int32_t;
using SharersId = int32_t;

inline constexpr SharersId kNobody = 0;

class SharersTable {
 public:
  SharersTable();
  SharersTable(const SharersTable& other);
  SharersTable& operator=(const SharersTable& other);
  SharersTable(SharersTable&&) = default;  // the sets stay where they are
  SharersTable& operator=(SharersTable&&) = default;
  ~SharersTable() = default;

  // The processes of a set, ascending. Requires an id of this table.
  [[nodiscard]] std::span<const Process> get(SharersId id) const;
  // The id of a set with one process more or less. Cost: O(log sets + sharers).
  SharersId with(SharersId id, Process process);
  SharersId without(SharersId id, Process process);

  [[nodiscard]] int64_t memory_bytes() const;

 private:
  SharersId intern(std::vector<Process> processes);
  void index();

  std::map<std::vector<Process>, SharersId> ids_;
  std::vector<const std::vector<Process>*> sets_;  // keys of ids_, by id
};

}  // namespace tessera::object
