#include "bench/lock_counts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>

#include "tessera/base/assert.hpp"
#include "tessera/pattern/darray.hpp"
#include "tessera/pattern/datatype.hpp"
#include "tessera/pattern/overlap.hpp"

namespace tessera::bench {

namespace {

using pattern::ByteSet;
using pattern::Interval;

// The processes of a graph that are not decided yet, and how many were taken so far.
void take_more(const std::vector<uint64_t>& neighbours, uint64_t open, int64_t taken,
               int64_t& most) {
  most = std::max(most, taken);
  if (taken + std::popcount(open) <= most) return;
  const auto degree = [&](int vertex) {
    return std::popcount(neighbours[static_cast<size_t>(vertex)] & open);
  };
  int fewest = std::countr_zero(open);
  for (uint64_t rest = open; rest != 0; rest &= rest - 1) {
    const int vertex = std::countr_zero(rest);
    if (degree(vertex) < degree(fewest)) fewest = vertex;
  }
  // A largest set has this vertex or one of its neighbours.
  const auto bit = [](int vertex) { return uint64_t{1} << vertex; };
  for (uint64_t rest = open & (neighbours[static_cast<size_t>(fewest)] | bit(fewest)); rest != 0;
       rest &= rest - 1) {
    const int vertex = std::countr_zero(rest);
    take_more(neighbours, open & ~(neighbours[static_cast<size_t>(vertex)] | bit(vertex)),
              taken + 1, most);
    open &= ~bit(vertex);
  }
}

base::Result<ByteSet> locked(const ByteSet& access, Locking locking) {
  switch (locking) {
    case Locking::kFile:
      return ByteSet::of(Interval{0, pattern::kMaxPosition});
    case Locking::kRange:
      return ByteSet::of(access.span());
    case Locking::kList:
      break;
  }
  return access;
}

// A row of one of the paper's tables.
struct Row {
  const char* table;
  const char* benchmark;
  int64_t processes;
  Locking locking;
  int64_t locks;    // of a process, as printed there
  int64_t at_once;  // likewise
};

constexpr auto kRows = std::to_array<Row>({
    {"Table 1", "3-D block", 8, Locking::kFile, 1, 1},
    {"Table 1", "3-D block", 27, Locking::kFile, 1, 1},
    {"Table 1", "3-D block", 64, Locking::kFile, 1, 1},
    {"Table 1", "3-D block", 8, Locking::kRange, 1, 4},
    {"Table 1", "3-D block", 27, Locking::kRange, 1, 9},
    {"Table 1", "3-D block", 64, Locking::kRange, 1, 16},
    {"Table 1", "3-D block", 8, Locking::kList, 25, 8},
    {"Table 1", "3-D block", 27, Locking::kList, 12, 27},
    {"Table 1", "3-D block", 64, Locking::kList, 64, 64},
    {"Table 2", "FLASH", 8, Locking::kFile, 1, 1},
    {"Table 2", "FLASH", 16, Locking::kFile, 1, 1},
    {"Table 2", "FLASH", 32, Locking::kFile, 1, 1},
    {"Table 2", "FLASH", 64, Locking::kFile, 1, 1},
    {"Table 2", "FLASH", 8, Locking::kRange, 1, 1},
    {"Table 2", "FLASH", 16, Locking::kRange, 1, 1},
    {"Table 2", "FLASH", 32, Locking::kRange, 1, 1},
    {"Table 2", "FLASH", 64, Locking::kRange, 1, 1},
    {"Table 2", "FLASH", 8, Locking::kList, 64, 8},
    {"Table 2", "FLASH", 16, Locking::kList, 64, 16},
    {"Table 2", "FLASH", 32, Locking::kList, 64, 64},
    {"Table 2", "FLASH", 64, Locking::kList, 64, 64},
    {"Table 3", "tile reader", 6, Locking::kFile, 1, 1},
    {"Table 3", "tile reader", 6, Locking::kRange, 1, 2},
    {"Table 3", "tile reader", 6, Locking::kList, 64, 2},
});

// The paper does not say why; it ran on PVFS.
constexpr const char* kListRequest =
    "64 is also the most that a list request of ROMIO to PVFS names";

base::Result<Accesses> accesses_of(const Row& row) {
  if (row.benchmark == std::string("tile reader")) return tile_reader_accesses();
  if (row.benchmark == std::string("FLASH")) return flash_accesses(row.processes);
  return block3d_accesses(row.processes == 8 ? 2 : row.processes == 27 ? 3 : 4);
}

// Where the number of list locks comes from.
std::string locks_derived(const Row& row) {
  if (row.benchmark == std::string("FLASH")) {
    return fmt::format("24 variables x 80 blocks = 1,920 runs of 4 KiB; {}", kListRequest);
  }
  if (row.benchmark == std::string("tile reader")) {
    return fmt::format("a tile has 768 lines, none as wide as the frame; {}", kListRequest);
  }
  switch (row.processes) {
    case 8:
      return "50 x 50 rows of 50 ints, none adjacent";
    case 27:
      return "100 = 34 + 34 + 32: 34 x 34 rows, 32 x 32 in the far corner; the paper: 12, of 3 "
             "processes 4";
    default:
      return "25 x 25 rows of 25 ints, none adjacent";
  }
}

// Why so many can work at once, where the paper says otherwise.
std::string at_once_derived(const Row& row) {
  if (row.locking == Locking::kList) return "more than there are processes in the paper";
  if (row.benchmark == std::string("tile reader")) {
    return "tiles side by side alternate line by line, and both rows of tiles have the 128 shared "
           "lines: all spans overlap";
  }
  return "blocks in the same planes alternate row by row, so their spans overlap; only layers of "
         "blocks are apart";
}

Case count_case(const Row& row, int64_t ours, int64_t papers, const std::string& derived) {
  Case counted;
  counted.kind = Kind::kSize;
  counted.x = static_cast<double>(row.processes);
  counted.x_label = "processes";
  counted.ours = sized("Tessera", static_cast<double>(ours));
  counted.paper = Paper{std::to_string(papers), fmt::format("paper 1, {}", row.table),
                        static_cast<double>(papers)};
  if (ours != papers) counted.note = derived;
  return counted;
}

base::Result<Case> locks_case(const Row& row) {
  TESSERA_TRY(const Accesses accesses, accesses_of(row));
  TESSERA_TRY(const LockCounts counts, count_locks(accesses, row.locking));
  Case counted = count_case(row, counts.locks_max, row.locks, locks_derived(row));
  counted.unit = "locks";
  return counted;
}

base::Result<Case> at_once_case(const Row& row) {
  TESSERA_TRY(const Accesses accesses, accesses_of(row));
  TESSERA_TRY(const LockCounts counts, count_locks(accesses, row.locking));
  Case counted = count_case(row, counts.at_once, row.at_once, at_once_derived(row));
  counted.unit = "processes";
  return counted;
}

}  // namespace

const char* name_of(Locking locking) {
  switch (locking) {
    case Locking::kFile:
      return "file";
    case Locking::kRange:
      return "range";
    case Locking::kList:
      return "list";
  }
  return "";
}

base::Result<Accesses> block3d_accesses(int64_t side) {
  constexpr int64_t kCube = 100;
  TESSERA_TRY(const pattern::Datatype element, pattern::basic(4));
  const pattern::Axis axis = {kCube, pattern::Distribution::kBlock, pattern::kDefaultArg, side};
  const std::array<pattern::Axis, 3> axes = {axis, axis, axis};
  const int64_t processes = side * side * side;
  Accesses accesses;
  for (int64_t rank = 0; rank < processes; ++rank) {
    TESSERA_TRY(const pattern::Datatype block,
                pattern::darray({processes, rank}, axes, pattern::Order::kC, element));
    TESSERA_TRY(ByteSet bytes, ByteSet::of(block.bytes));
    accesses.push_back(std::move(bytes));
  }
  return accesses;
}

base::Result<Accesses> flash_accesses(int64_t processes) {
  constexpr int64_t kBlocks = int64_t{24} * 80;
  constexpr int64_t kCells = int64_t{8} * 8 * 8;
  constexpr int64_t kCellBytes = 8;
  TESSERA_TRY(const pattern::Datatype cell, pattern::basic(kCellBytes));
  TESSERA_TRY(const pattern::Datatype blocks,
              pattern::vector({kBlocks, kCells, kCells * processes}, cell));
  TESSERA_TRY(const ByteSet first, ByteSet::of(blocks.bytes));
  Accesses accesses;
  for (int64_t rank = 0; rank < processes; ++rank) {
    TESSERA_TRY(ByteSet bytes, first.shifted(rank * kCells * kCellBytes));
    accesses.push_back(std::move(bytes));
  }
  return accesses;
}

base::Result<Accesses> tile_reader_accesses() {
  constexpr int64_t kColumns = 3;
  constexpr int64_t kRowsOfTiles = 2;
  constexpr int64_t kWidth = 1024;
  constexpr int64_t kHeight = 768;
  constexpr int64_t kStepX = kWidth - 270;
  constexpr int64_t kStepY = kHeight - 128;
  TESSERA_TRY(const pattern::Datatype pixel, pattern::basic(3));
  Accesses accesses;
  for (int64_t tile = 0; tile < kColumns * kRowsOfTiles; ++tile) {
    const std::array<pattern::Slice, 2> slices = {
        pattern::Slice{(kRowsOfTiles - 1) * kStepY + kHeight, kHeight, tile / kColumns * kStepY},
        pattern::Slice{(kColumns - 1) * kStepX + kWidth, kWidth, tile % kColumns * kStepX}};
    TESSERA_TRY(const pattern::Datatype part, pattern::subarray(slices, pattern::Order::kC, pixel));
    TESSERA_TRY(ByteSet bytes, ByteSet::of(part.bytes));
    accesses.push_back(std::move(bytes));
  }
  return accesses;
}

base::Result<LockCounts> count_locks(const Accesses& accesses, Locking locking) {
  TESSERA_ASSERT(!accesses.empty() && accesses.size() <= 64);
  std::vector<ByteSet> locks;
  for (const ByteSet& access : accesses) {
    TESSERA_TRY(ByteSet bytes, locked(access, locking));
    locks.push_back(std::move(bytes));
  }
  const auto by_runs = [](const ByteSet& a, const ByteSet& b) { return a.runs() < b.runs(); };
  const auto [fewest, most] = std::minmax_element(locks.begin(), locks.end(), by_runs);
  LockCounts counts = {fewest->runs(), most->runs(), 0};
  std::vector<uint64_t> conflicts(locks.size(), 0);
  for (size_t i = 0; i < locks.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      TESSERA_TRY(const bool conflict, pattern::overlaps(locks[i], locks[j]));
      if (!conflict) continue;
      conflicts[i] |= uint64_t{1} << j;
      conflicts[j] |= uint64_t{1} << i;
    }
  }
  counts.at_once = independent_most(conflicts);
  return counts;
}

int64_t independent_most(const std::vector<uint64_t>& neighbours) {
  TESSERA_ASSERT(neighbours.size() <= 64);
  if (neighbours.empty()) return 0;
  int64_t most = 0;
  take_more(neighbours, ~uint64_t{0} >> (64 - neighbours.size()), 0, most);
  return most;
}

std::vector<CaseMaker> lock_count_cases() {
  std::vector<CaseMaker> cases;
  for (const Row& row : kRows) {
    const std::string what = fmt::format("{}: {}, {} processes, {}", row.table, row.benchmark,
                                         row.processes, name_of(row.locking));
    cases.push_back({what + ", locks a process", std::string(row.table) + ": locks a process",
                     [row] { return locks_case(row); }});
    cases.push_back({what + ", at once", std::string(row.table) + ": processes at once",
                     [row] { return at_once_case(row); }});
  }
  return cases;
}

}  // namespace tessera::bench
