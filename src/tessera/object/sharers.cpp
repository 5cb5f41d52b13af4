#include "tessera/object/sharers.hpp"

#include <algorithm>
#include <iterator>

#include "tessera/base/assert.hpp"
#include "tessera/base/checked.hpp"

namespace tessera::object {

namespace {

constexpr size_t kSlotsMin = 16;

uint32_t hash_of(std::span<const Process> processes) {
  uint64_t hash = 0x9e3779b97f4a7c15ULL;
  for (const Process process : processes) {
    hash = (hash ^ static_cast<uint64_t>(process)) * 0xbf58476d1ce4e5b9ULL;
    hash ^= hash >> 29;
  }
  return static_cast<uint32_t>(hash >> 32);
}

}  // namespace

SharersTable::SharersTable() : begins_{0}, slots_(kSlotsMin) { intern({}); }

std::span<const Process> SharersTable::get(SharersId id) const {
  const auto i = static_cast<size_t>(id);
  TESSERA_ASSERT(id >= 0 && i + 1 < begins_.size());
  return {processes_.data() + begins_[i], begins_[i + 1] - begins_[i]};
}

SharersId SharersTable::with(SharersId id, Process process) {
  const auto set = get(id);
  std::vector<Process> larger(set.begin(), set.end());
  const auto place = std::lower_bound(larger.begin(), larger.end(), process);
  if (place == larger.end() || *place != process) larger.insert(place, process);
  return intern(larger);
}

SharersId SharersTable::without(SharersId id, Process process) {
  const auto set = get(id);
  std::vector<Process> smaller(set.begin(), set.end());
  std::erase(smaller, process);
  return intern(smaller);
}

SharersId SharersTable::united(SharersId a, SharersId b) {
  if (a == kNobody || a == b) return b;
  if (b == kNobody) return a;
  const auto left = get(a);
  const auto right = get(b);
  std::vector<Process> both;
  std::set_union(left.begin(), left.end(), right.begin(), right.end(), std::back_inserter(both));
  return intern(both);
}

int64_t SharersTable::memory_bytes() const {
  return static_cast<int64_t>(processes_.capacity() * sizeof(Process) +
                              begins_.capacity() * sizeof(size_t) +
                              slots_.capacity() * sizeof(Slot));
}

SharersId SharersTable::intern(std::span<const Process> processes) {
  const uint32_t hash = hash_of(processes);
  Slot& slot = slot_of(hash, processes);
  if (slot.id >= 0) return slot.id;
  if (processes.size() > kMaxSharers - processes_.size()) {
    full_ = true;
    return kNobody;
  }
  const auto id = base::exact_cast<SharersId>(begins_.size() - 1);
  processes_.insert(processes_.end(), processes.begin(), processes.end());
  begins_.push_back(processes_.size());
  slot = {hash, id};
  if (2 * begins_.size() > slots_.size()) grow();
  return id;
}

SharersTable::Slot& SharersTable::slot_of(uint32_t hash, std::span<const Process> processes) {
  const size_t mask = slots_.size() - 1;
  for (size_t i = hash & mask;; i = (i + 1) & mask) {
    Slot& slot = slots_[i];
    if (slot.id < 0) return slot;
    if (slot.hash == hash && std::ranges::equal(get(slot.id), processes)) return slot;
  }
}

void SharersTable::grow() {
  std::vector<Slot> old(2 * slots_.size());
  old.swap(slots_);
  const size_t mask = slots_.size() - 1;
  for (const Slot& slot : old) {
    if (slot.id < 0) continue;
    size_t i = slot.hash & mask;
    while (slots_[i].id >= 0) i = (i + 1) & mask;
    slots_[i] = slot;
  }
}

}  // namespace tessera::object
