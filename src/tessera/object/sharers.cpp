#include "tessera/object/sharers.hpp"

#include <algorithm>

#include "tessera/base/assert.hpp"
#include "tessera/base/checked.hpp"

namespace tessera::object {

SharersTable::SharersTable() { intern({}); }

SharersTable::SharersTable(const SharersTable& other) : ids_(other.ids_) { index(); }

SharersTable& SharersTable::operator=(const SharersTable& other) {
  if (this != &other) {
    ids_ = other.ids_;
    index();
  }
  return *this;
}

void SharersTable::index() {
  sets_.resize(ids_.size());
  for (const auto& [processes, id] : ids_) sets_[static_cast<size_t>(id)] = &processes;
}

std::span<const Process> SharersTable::get(SharersId id) const {
  TESSERA_ASSERT(id >= 0 && static_cast<size_t>(id) < sets_.size());
  return *sets_[static_cast<size_t>(id)];
}

SharersId SharersTable::with(SharersId id, Process process) {
  const auto set = get(id);
  std::vector<Process> larger(set.begin(), set.end());
  const auto place = std::lower_bound(larger.begin(), larger.end(), process);
  if (place == larger.end() || *place != process) larger.insert(place, process);
  return intern(std::move(larger));
}

SharersId SharersTable::without(SharersId id, Process process) {
  const auto set = get(id);
  std::vector<Process> smaller(set.begin(), set.end());
  std::erase(smaller, process);
  return intern(std::move(smaller));
}

int64_t SharersTable::memory_bytes() const {
  int64_t bytes = 0;
  for (const auto& [processes, id] : ids_) {
    constexpr size_t kTreeNode = 4 * sizeof(void*);
    bytes += static_cast<int64_t>(kTreeNode + sizeof(processes) + sizeof(void*) + sizeof(id) +
                                  processes.capacity() * sizeof(Process));
  }
  return bytes;
}

SharersId SharersTable::intern(std::vector<Process> processes) {
  const auto next = base::exact_cast<SharersId>(sets_.size());
  const auto [place, is_new] = ids_.try_emplace(std::move(processes), next);
  if (is_new) sets_.push_back(&place->first);
  return place->second;
}

}  // namespace tessera::object
