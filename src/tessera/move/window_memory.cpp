#include "tessera/move/window_memory.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "tessera/base/assert.hpp"
#include "tessera/base/checked.hpp"
#include "tessera/base/page.hpp"

namespace tessera::move {

namespace {

using base::kPageBytes;
// Larger windows leave the caches; smaller ones make ranks meet more often than they need.
constexpr int64_t kCellBytesMax = int64_t{4} << 20;
constexpr int64_t kCellBytesMin = 16;
// A small move of two ranks has at least so many rounds, unless that takes cells smaller than this;
// the more ranks, the more a meeting costs, and the fewer rounds there are.
constexpr int64_t kRoundsOfTwo = 4;
constexpr int64_t kRoundsMin = 2;
constexpr int64_t kSmallCellBytes = int64_t{256} << 10;

// A load from a page that is there maps its neighbours too, as far as this.
constexpr int64_t kFaultAroundBytes = int64_t{64} << 10;
// Fewer pages are not worth the trouble.
constexpr int64_t kProvidedBytesMin = int64_t{1} << 20;

// Loads what nobody uses; others may be storing there.
void touch(std::span<const std::byte> memory, int64_t step) {
  for (size_t at = 0; at < memory.size(); at += static_cast<size_t>(step)) {
    static_cast<void>(*const_cast<const volatile std::byte*>(&memory[at]));
  }
}

int64_t page_aligned(int64_t bytes) { return base::ceil_div(bytes, kPageBytes) * kPageBytes; }

int64_t cell_for(int ranks, const WindowMemory::Sizes& sizes) {
  const int64_t fitting = sizes.buffer_bytes / 9 * 4;
  const int64_t rounds = std::max(kRoundsMin, 2 * kRoundsOfTwo / ranks);
  const int64_t suiting = std::max(kSmallCellBytes, sizes.file_bytes / rounds);
  const int64_t cell = std::max(kCellBytesMin, std::min({fitting, suiting, kCellBytesMax}));
  // Large cells lie on the borders of the system's large pages.
  return cell < kPageBytes ? cell
                           : static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(cell)));
}

}  // namespace

struct WindowMemory::Row {
  int64_t count;
  int64_t complete;
  int64_t overlaps_nobody;
  std::array<CellPart, static_cast<size_t>(kListedCells)> parts;
};

WindowMemory::WindowMemory(int ranks, const Sizes& sizes)
    : ranks_(ranks), cell_(cell_for(ranks, sizes)) {}

int64_t WindowMemory::outcomes_at() const { return ranks_ * static_cast<int64_t>(sizeof(Row)); }

int64_t WindowMemory::halves_at() const {
  const auto outcomes = kListedCells * kLanesMax * static_cast<int64_t>(sizeof(int64_t));
  return page_aligned(outcomes_at() + outcomes);
}

int64_t WindowMemory::half_stride() const { return page_aligned(cell_); }

int64_t WindowMemory::maps_at() const { return halves_at() + 2 * half_stride(); }

int64_t WindowMemory::bytes_needed() const {
  return page_aligned(maps_at() + 2 * CoverageMap::memory_bytes(cell_));
}

void WindowMemory::attach(std::span<std::byte> memory) {
  TESSERA_ASSERT(std::ssize(memory) >= bytes_needed());
  TESSERA_ASSERT(reinterpret_cast<uintptr_t>(memory.data()) % sizeof(int64_t) == 0);
  memory_ = memory.data();
}

WindowMemory::Row& WindowMemory::row(int rank) const {
  TESSERA_ASSERT(memory_ != nullptr && rank >= 0 && rank < ranks_);
  return reinterpret_cast<Row*>(memory_)[rank];
}

void WindowMemory::write_row(int rank, const CellList& list, bool overlaps_nobody) {
  Row& mine = row(rank);
  mine.count = std::ssize(list.parts);
  mine.complete = list.complete ? 1 : 0;
  mine.overlaps_nobody = overlaps_nobody ? 1 : 0;
  std::copy(list.parts.begin(), list.parts.end(), mine.parts.begin());
}

std::vector<CellList> WindowMemory::read_rows() const {
  std::vector<CellList> lists;
  for (int rank = 0; rank < ranks_; ++rank) {
    const Row& from = row(rank);
    TESSERA_ASSERT(from.count >= 0 && from.count <= kListedCells);
    lists.push_back({{from.parts.begin(), from.parts.begin() + from.count}, from.complete != 0});
  }
  return lists;
}

bool WindowMemory::nobody_overlaps() const {
  for (int rank = 0; rank < ranks_; ++rank) {
    if (row(rank).overlaps_nobody == 0) return false;
  }
  return true;
}

void WindowMemory::provide_pages(int rank) const {
  const int64_t bytes = 2 * half_stride();
  const int64_t share = page_aligned(base::ceil_div(bytes, ranks_));
  if (bytes < kProvidedBytesMin) return;
  touch({memory_ + halves_at() + std::min(bytes, rank * share),
         memory_ + halves_at() + std::min(bytes, (rank + 1) * share)},
        kPageBytes);
}

void WindowMemory::take_over_pages() const {
  const int64_t bytes = 2 * half_stride();
  if (bytes < kProvidedBytesMin) return;
  touch({memory_ + halves_at(), memory_ + halves_at() + bytes}, kFaultAroundBytes);
}

int64_t& WindowMemory::outcome(int64_t round, int64_t lane) const {
  TESSERA_ASSERT(round >= 0 && round < kListedCells && lane >= 0 && lane < kLanesMax);
  return reinterpret_cast<int64_t*>(memory_ + outcomes_at())[round * kLanesMax + lane];
}

std::byte* WindowMemory::place(int64_t round, int64_t position) const {
  return memory_ + halves_at() + round % 2 * half_stride() + position % cell_;
}

CoverageMap WindowMemory::map(int64_t round) const {
  const int64_t bytes = CoverageMap::memory_bytes(cell_);
  return CoverageMap({memory_ + maps_at() + round % 2 * bytes, static_cast<size_t>(bytes)});
}

}  // namespace tessera::move
