#include "bench/lock_counts.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <random>

namespace tessera::bench {
namespace {

// A file in elements, and whose they are: one bit for each process.
using Owners = std::vector<uint64_t>;

// Cells of the cube, dealt by their coordinates.
Owners block3d_owners(int64_t side) {
  constexpr int64_t kCube = 100;
  const int64_t block = (kCube + side - 1) / side;
  Owners owners;
  for (int64_t z = 0; z < kCube; ++z) {
    for (int64_t y = 0; y < kCube; ++y) {
      for (int64_t x = 0; x < kCube; ++x) {
        const int64_t rank = (z / block * side + y / block) * side + x / block;
        owners.push_back(uint64_t{1} << rank);
      }
    }
  }
  return owners;
}

Owners flash_owners(int64_t processes) {
  Owners owners;
  for (int64_t block = 0; block < int64_t{24} * 80 * processes; ++block) {
    owners.insert(owners.end(), 512, uint64_t{1} << (block % processes));
  }
  return owners;
}

Owners tile_owners() {
  Owners owners;
  for (int64_t y = 0; y < 640 + 768; ++y) {
    for (int64_t x = 0; x < 2 * 754 + 1024; ++x) {
      uint64_t here = 0;
      for (int64_t tile = 0; tile < 6; ++tile) {
        const int64_t left = tile % 3 * 754;
        const int64_t top = tile / 3 * 640;
        const bool inside = left <= x && x < left + 1024 && top <= y && y < top + 768;
        here |= uint64_t{inside} << tile;
      }
      owners.push_back(here);
    }
  }
  return owners;
}

// What each process locks, element by element.
Owners locked_by(const Owners& owners, int64_t processes, Locking locking) {
  if (locking == Locking::kList) return owners;
  Owners locked(owners.size(), 0);
  for (int64_t rank = 0; rank < processes; ++rank) {
    const auto has = [&](uint64_t here) { return (here >> rank & 1) != 0; };
    auto begin = std::find_if(owners.begin(), owners.end(), has);
    auto end = std::find_if(owners.rbegin(), owners.rend(), has).base();
    if (locking == Locking::kFile) begin = owners.begin(), end = owners.end();
    for (auto at = begin; at != end; ++at) {
      locked[static_cast<size_t>(at - owners.begin())] |= uint64_t{1} << rank;
    }
  }
  return locked;
}

int64_t runs_of(const Owners& locked, int64_t rank) {
  int64_t runs = 0;
  bool before = false;
  for (const uint64_t here : locked) {
    const bool now = (here >> rank & 1) != 0;
    runs += now && !before ? 1 : 0;
    before = now;
  }
  return runs;
}

std::vector<uint64_t> conflicts_of(const Owners& locked, int64_t processes) {
  std::vector<uint64_t> conflicts(static_cast<size_t>(processes), 0);
  for (const uint64_t here : locked) {
    for (uint64_t rest = here; rest != 0; rest &= rest - 1) {
      const int rank = std::countr_zero(rest);
      conflicts[static_cast<size_t>(rank)] |= here & ~(uint64_t{1} << rank);
    }
  }
  return conflicts;
}

// Every subset is tried.
int64_t most_by_subsets(const std::vector<uint64_t>& conflicts) {
  int64_t most = 0;
  for (uint64_t subset = 0; subset < uint64_t{1} << conflicts.size(); ++subset) {
    bool free = true;
    for (uint64_t rest = subset; rest != 0; rest &= rest - 1) {
      free = free && (conflicts[static_cast<size_t>(std::countr_zero(rest))] & subset) == 0;
    }
    if (free) most = std::max(most, int64_t{std::popcount(subset)});
  }
  return most;
}

void expect_as_counted(const Accesses& accesses, const Owners& owners, Locking locking) {
  const auto processes = static_cast<int64_t>(accesses.size());
  const auto counts = count_locks(accesses, locking);
  ASSERT_TRUE(counts) << counts.error().message();
  const Owners locked = locked_by(owners, processes, locking);
  int64_t fewest = runs_of(locked, 0);
  int64_t most = fewest;
  for (int64_t rank = 1; rank < processes; ++rank) {
    fewest = std::min(fewest, runs_of(locked, rank));
    most = std::max(most, runs_of(locked, rank));
  }
  EXPECT_EQ(counts->locks_min, fewest) << name_of(locking);
  EXPECT_EQ(counts->locks_max, most) << name_of(locking);
  const auto conflicts = conflicts_of(locked, processes);
  // Beyond 16 processes there are too many subsets; conflicts are still those of the elements.
  const int64_t at_once =
      processes <= 16 ? most_by_subsets(conflicts) : independent_most(conflicts);
  EXPECT_EQ(counts->at_once, at_once) << name_of(locking);
}

class LockCountsTest : public testing::TestWithParam<Locking> {};

TEST_P(LockCountsTest, BlocksAreAsTheirElementsSay) {
  for (const int64_t side : {2, 3, 4}) {
    const auto accesses = block3d_accesses(side);
    ASSERT_TRUE(accesses) << accesses.error().message();
    expect_as_counted(*accesses, block3d_owners(side), GetParam());
  }
}

TEST_P(LockCountsTest, FlashIsAsItsElementsSay) {
  for (const int64_t processes : {8, 16}) {
    const auto accesses = flash_accesses(processes);
    ASSERT_TRUE(accesses) << accesses.error().message();
    expect_as_counted(*accesses, flash_owners(processes), GetParam());
  }
}

TEST_P(LockCountsTest, TilesAreAsTheirElementsSay) {
  const auto accesses = tile_reader_accesses();
  ASSERT_TRUE(accesses) << accesses.error().message();
  expect_as_counted(*accesses, tile_owners(), GetParam());
}

INSTANTIATE_TEST_SUITE_P(Modes, LockCountsTest,
                         testing::Values(Locking::kFile, Locking::kRange, Locking::kList),
                         [](const auto& mode) { return std::string(name_of(mode.param)); });

// The numbers that are printed, so that a change of them is seen.
TEST(LockCounts, ListLocksOfTheTables) {
  const auto largest = [](const base::Result<Accesses>& accesses) {
    return count_locks(accesses.value(), Locking::kList).value();
  };
  EXPECT_EQ(largest(block3d_accesses(2)).locks_max, 2500);
  EXPECT_EQ(largest(block3d_accesses(3)).locks_max, 1156);
  EXPECT_EQ(largest(block3d_accesses(3)).locks_min, 1024);
  EXPECT_EQ(largest(block3d_accesses(4)).locks_max, 625);
  EXPECT_EQ(largest(flash_accesses(64)).locks_max, 1920);
  EXPECT_EQ(largest(flash_accesses(64)).at_once, 64);
  EXPECT_EQ(largest(tile_reader_accesses()).locks_max, 768);
  EXPECT_EQ(largest(tile_reader_accesses()).at_once, 2);
}

TEST(IndependentMost, AgreesWithAllSubsetsOfRandomGraphs) {
  std::mt19937_64 random(20251116);
  for (int trial = 0; trial < 500; ++trial) {
    const size_t vertices = random() % 11;
    const uint64_t density = random() % 5;
    std::vector<uint64_t> neighbours(vertices, 0);
    for (size_t i = 0; i < vertices; ++i) {
      for (size_t j = 0; j < i; ++j) {
        if (random() % 4 >= density) continue;
        neighbours[i] |= uint64_t{1} << j;
        neighbours[j] |= uint64_t{1} << i;
      }
    }
    EXPECT_EQ(independent_most(neighbours), most_by_subsets(neighbours)) << "trial " << trial;
  }
}

TEST(LockCounts, EveryEntryOfTheTablesIsACase) { EXPECT_EQ(lock_count_cases().size(), 48U); }

}  // namespace
}  // namespace tessera::bench
