#include "tessera/container/contents.hpp"

#include <algorithm>
#include <limits>

#include "tessera/base/assert.hpp"

namespace tessera::container {
namespace {

using base::Code;

base::Failure broken(map::AllocationId id, const std::string& how) {
  return base::fail(Code::kIntegrity, "allocation " + std::to_string(id) + " " + how);
}

base::Result<void> check_alone(const Allocation& allocation, int64_t block) {
  const Interval place = allocation.place;
  // Contents do not know the version of their file; used_space() holds them against its header.
  if (place.begin < header_end(block, kOldestVersion) || place.empty() ||
      place.end > pattern::kMaxPosition || place.begin % block != 0 || place.end % block != 0) {
    return broken(allocation.id, "is not a run of whole blocks behind the header");
  }
  if (static_cast<int64_t>(allocation.checksums.size()) != place.length() / block) {
    return broken(allocation.id, "does not have one checksum a block");
  }
  return {};
}

base::Result<void> check_disjoint(const std::vector<Allocation>& allocations) {
  std::vector<const Allocation*> by_place;
  by_place.reserve(allocations.size());
  for (const Allocation& allocation : allocations) by_place.push_back(&allocation);
  std::sort(by_place.begin(), by_place.end(), [](const Allocation* a, const Allocation* b) {
    return a->place.begin < b->place.begin;
  });
  for (size_t i = 1; i < by_place.size(); ++i) {
    if (by_place[i]->place.begin < by_place[i - 1]->place.end) {
      return broken(by_place[i]->id, "overlaps allocation " + std::to_string(by_place[i - 1]->id));
    }
  }
  return {};
}

}  // namespace

const Allocation* Contents::find(map::AllocationId id) const {
  const auto at = std::lower_bound(
      allocations.begin(), allocations.end(), id,
      [](const Allocation& allocation, map::AllocationId other) { return allocation.id < other; });
  return at != allocations.end() && at->id == id ? &*at : nullptr;
}

void Contents::add(Allocation allocation) {
  const auto at =
      std::upper_bound(allocations.begin(), allocations.end(), allocation.id,
                       [](map::AllocationId id, const Allocation& other) { return id < other.id; });
  TESSERA_ASSERT(at == allocations.begin() || std::prev(at)->id != allocation.id);
  allocations.insert(at, std::move(allocation));
}

map::AllocationId Contents::next_id() const {
  if (allocations.empty()) return 0;
  if (allocations.back().id < std::numeric_limits<map::AllocationId>::max()) {
    return allocations.back().id + 1;
  }
  map::AllocationId id = 0;
  while (find(id) != nullptr) ++id;
  return id;
}

int64_t Contents::drop_unused() {
  int64_t bytes = 0;
  std::erase_if(allocations, [&](const Allocation& allocation) {
    if (map.live_bytes(allocation.id) > 0) return false;
    bytes += allocation.place.length();
    return true;
  });
  return bytes;
}

base::Result<void> Contents::check_numbers() const {
  // More than blocks fit into a container, and 2^32 stamps of 2^20 epochs.
  constexpr map::AllocationId kIdsLeft = map::AllocationId{1} << 53;
  constexpr uint64_t kEpochsLeft = uint64_t{1} << 52;
  const bool ids =
      allocations.empty() ||
      allocations.back().id <= std::numeric_limits<map::AllocationId>::max() - kIdsLeft;
  const bool epochs = map.epoch_max() <= std::numeric_limits<uint64_t>::max() - kEpochsLeft;
  if (ids && epochs) return {};
  return base::fail(Code::kIntegrity,
                    std::string("its ") + (ids ? "writes" : "allocations") +
                        " are numbered to the last number there is, which no program reaches; "
                        "export the file and import it again");
}

base::Result<void> Contents::check_allocations() const {
  if (!valid_block_bytes(block_bytes)) {
    return base::fail(Code::kIntegrity,
                      "blocks cannot have " + std::to_string(block_bytes) + " bytes");
  }
  for (size_t i = 0; i < allocations.size(); ++i) {
    if (i > 0 && allocations[i].id <= allocations[i - 1].id) {
      return broken(allocations[i].id, "is not in ascending order");
    }
    TESSERA_TRY_VOID(check_alone(allocations[i], block_bytes));
  }
  return check_disjoint(allocations);
}

base::Result<void> Contents::check() const {
  if (size < 0 || size > pattern::kMaxPosition || map.end() > size) {
    return base::fail(Code::kIntegrity, "the size of the object file is " + std::to_string(size) +
                                            ", but its map reaches to byte " +
                                            std::to_string(map.end()));
  }
  TESSERA_TRY_VOID(check_allocations());
  base::Result<void> verdict;
  const auto visit = [&](const map::Piece& piece) {
    const Allocation* allocation = find(piece.allocation);
    const Interval places = piece.pairs.span(1);
    if (!verdict) return;
    if (allocation == nullptr) {
      verdict = broken(piece.allocation, "is named by the map but does not exist");
    } else if (!Interval{0, allocation->place.length()}.contains(places)) {
      verdict = broken(piece.allocation, "is named by the map behind its end");
    }
  };
  map.for_each(visit);
  map.for_each_replica(visit);
  return verdict;
}

namespace {

constexpr const char* kViewName = "view_name.";

std::string view_key(int64_t process) { return kViewName + std::to_string(process); }

}  // namespace

std::string view_name(const Contents& contents, int32_t process) {
  const auto found = contents.attributes.find(view_key(process));
  return found == contents.attributes.end() ? std::string() : found->second;
}

void set_view_name(Contents& contents, int64_t process, const std::string& name) {
  contents.attributes.erase(view_key(process));
  if (name.empty() || name == "P" + std::to_string(process)) return;
  contents.attributes[view_key(process)] = name;
}

void forget_view_names(Contents& contents) {
  std::erase_if(contents.attributes,
                [](const auto& attribute) { return attribute.first.starts_with(kViewName); });
}

std::string logical_bytes(const Contents& contents, map::AllocationId id, Interval places) {
  Interval span;
  const auto visit = [&](const map::Piece& piece) {
    if (piece.allocation != id || !piece.pairs.span(1).meets(places)) return;
    const bool ascends = piece.pairs.ascending(1);
    const Interval bytes = (ascends ? piece.pairs.within(places, 1) : piece.pairs).span(0);
    if (bytes.empty()) return;
    span = span.empty()
               ? bytes
               : Interval{std::min(span.begin, bytes.begin), std::max(span.end, bytes.end)};
  };
  contents.map.for_each(visit);
  if (span.empty()) return "no visible bytes of the object file";
  return "bytes in [" + std::to_string(span.begin) + ", " + std::to_string(span.end) +
         ") of the object file";
}

}  // namespace tessera::container
