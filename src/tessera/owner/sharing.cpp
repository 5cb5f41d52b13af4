#include "tessera/owner/sharing.hpp"

#include <algorithm>

#include "tessera/base/assert.hpp"
#include "tessera/base/checked.hpp"

namespace tessera::owner {

namespace {

uint64_t hash_of(std::span<const Process> holders) {
  uint64_t hash = 0x9e3779b97f4a7c15ULL;
  for (const Process process : holders) {
    hash = (hash ^ static_cast<uint64_t>(process)) * 0xbf58476d1ce4e5b9ULL;
    hash ^= hash >> 29;
  }
  return hash;
}

bool keeps_s3(std::span<const Process> holders, int processes) {
  if (holders.empty()) return false;
  std::vector<Process> sorted(holders.begin(), holders.end());
  std::sort(sorted.begin(), sorted.end());
  return sorted.front() >= 0 && sorted.back() < processes &&
         std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end();
}

}  // namespace

Sharing::Sharing(int processes) : processes_(processes), begins_{0} {
  TESSERA_ASSERT(processes > 0);
}

HoldersId Sharing::intern(std::span<const Process> list) {
  const uint64_t hash = hash_of(list);
  const auto [first, last] = ids_.equal_range(hash);
  for (auto place = first; place != last; ++place) {
    if (std::ranges::equal(holders(place->second), list)) return place->second;
  }
  TESSERA_ASSERT(keeps_s3(list, processes_));
  const auto id = base::exact_cast<HoldersId>(begins_.size() - 1);
  names_.insert(names_.end(), list.begin(), list.end());
  begins_.push_back(names_.size());
  ids_.emplace(hash, id);
  return id;
}

void Sharing::append(int64_t count, HoldersId list) {
  TESSERA_ASSERT(count >= 0 && list >= 0 && list < lists());
  if (count == 0) return;
  const auto end = base::checked_add(items(), count);
  TESSERA_ASSERT(end.has_value());
  if (!stretches_.empty() && stretches_.back().holders == list && !gap_) {
    stretches_.back().end = *end;
  } else {
    stretches_.push_back({*end, list, gap_});
  }
  gap_ = false;
}

std::span<const Process> Sharing::holders(HoldersId id) const {
  const auto i = static_cast<size_t>(id);
  TESSERA_ASSERT(id >= 0 && i + 1 < begins_.size());
  return {names_.data() + begins_[i], begins_[i + 1] - begins_[i]};
}

bool Sharing::holds(HoldersId id, Process process) const {
  const auto list = holders(id);
  return std::find(list.begin(), list.end(), process) != list.end();
}

int64_t Sharing::shared_items() const {
  int64_t count = 0;
  int64_t begin = 0;
  for (const Stretch& stretch : stretches_) {
    if (is_shared(stretch.holders)) count += stretch.end - begin;
    begin = stretch.end;
  }
  return count;
}

int64_t Sharing::replicas() const {
  int64_t count = 0;
  int64_t begin = 0;
  for (const Stretch& stretch : stretches_) {
    count += (stretch.end - begin) * std::ssize(holders(stretch.holders));
    begin = stretch.end;
  }
  return count;
}

int64_t Sharing::memory_bytes() const {
  constexpr size_t kHashNode = 4 * sizeof(void*);
  return static_cast<int64_t>(stretches_.capacity() * sizeof(Stretch) +
                              names_.capacity() * sizeof(Process) +
                              begins_.capacity() * sizeof(size_t) + ids_.size() * kHashNode +
                              ids_.bucket_count() * sizeof(void*));
}

}  // namespace tessera::owner
