#include "tessera/owner/levelling.hpp"

#include <gtest/gtest.h>

#include "tessera/owner/policies.hpp"
#include "tessera/owner/test_sharings.hpp"
#include "tessera/port/test_seed.hpp"

namespace tessera::owner {
namespace {

struct Loads {
  int64_t least = 0;
  int64_t most = 0;
};

Loads loads_of(const Writers& writers) {
  const auto loads = measure(writers).items_of;
  const auto [least, most] = std::minmax_element(loads.begin(), loads.end());
  return {*least, *most};
}

Writers any_choice(port::Random& random, const Sharing& sharing) {
  switch (below(random, 4)) {
    case 0:
      return home_writers(sharing);
    case 1:
      return random_writers(sharing, random.uniform(1000));
    case 2:
      return idg_writers(sharing);
    default:
      return optimal_writers(sharing);
  }
}

Writers writers_of(int processes, const std::vector<WriterInterval>& intervals) {
  Writers writers(processes);
  for (const auto& [begin, end, writer] : intervals) writers.append(end - begin, writer);
  return writers;
}

// (V1) to (V3), from any choice to any width.
void expect_invariants(port::Random& random, size_t most_items, int most_processes) {
  const int processes = 1 + static_cast<int>(below(random, static_cast<size_t>(most_processes)));
  const auto items = random_items(random, 1 + below(random, most_items), processes);
  const Sharing sharing = sharing_of_items(items, processes);
  const Writers before = any_choice(random, sharing);
  const auto width = static_cast<int64_t>(below(random, 8));
  const Writers after = levelled(sharing, before, width);
  expect_holders(items, after);
  EXPECT_LE(runs_of(items, after), runs_of(items, before));
  EXPECT_GE(runs_of(items, after), runs_of(items, optimal_writers(sharing)));
  const Loads then = loads_of(before);
  const Loads now = loads_of(after);
  EXPECT_LE(now.most, then.most);
  EXPECT_GE(now.least, then.least);
  EXPECT_EQ(after, levelled(sharing, before, width));
  if (then.most - then.least <= width) {
    EXPECT_EQ(after, before);
  }
}

TEST(Levelling, KeepsItsInvariantsOnSmallOnes) {
  port::SeededRandom random(port::test_seed());
  for (int round = 0; round < 5000; ++round) {
    SCOPED_TRACE(round);
    expect_invariants(random, 8, 4);
    if (HasFailure()) return;
  }
}

TEST(Levelling, KeepsItsInvariantsOnLargerOnes) {
  port::SeededRandom random(port::test_seed());
  for (int round = 0; round < 300; ++round) {
    SCOPED_TRACE(round);
    expect_invariants(random, 400, 9);
    if (HasFailure()) return;
  }
}

TEST(Levelling, NothingIsLevel) { EXPECT_EQ(levelled(Sharing(3), Writers(3), 0), Writers(3)); }

// Borders move both ways, and through several stretches.
TEST(Levelling, MovesBorders) {
  Sharing sharing(3);
  sharing.append(40, sharing.intern(std::vector<Process>{0}));
  sharing.append(30, sharing.intern(std::vector<Process>{0, 1}));
  sharing.append(30, sharing.intern(std::vector<Process>{1, 0, 2}));
  sharing.append(50, sharing.intern(std::vector<Process>{1}));
  const Writers before = writers_of(3, {{0, 100, 0}, {100, 150, 1}});
  const Writers after = levelled(sharing, before, 50);
  EXPECT_EQ(after, writers_of(3, {{0, 75, 0}, {75, 150, 1}}));
  const Writers other = writers_of(3, {{0, 40, 0}, {40, 150, 1}});
  EXPECT_EQ(levelled(sharing, other, 50), after);
}

TEST(Levelling, HandsWholeRunsOver) {
  Sharing sharing(3);
  for (int i = 0; i < 2; ++i) {
    sharing.append(30, sharing.intern(std::vector<Process>{0, 2}));
    sharing.append(15, sharing.intern(std::vector<Process>{1}));
  }
  const Writers after = levelled(sharing, optimal_writers(sharing), 0);
  EXPECT_EQ(measure(after).imbalance, 0);
  EXPECT_EQ(measure(after).intervals, 4);
}

// Across a gap no border moves, and a run may go to who writes on its other side.
TEST(Levelling, KnowsGaps) {
  Sharing sharing(2);
  sharing.append(30, sharing.intern(std::vector<Process>{0, 1}));
  sharing.leave_gap();
  sharing.append(10, sharing.intern(std::vector<Process>{0, 1}));
  sharing.leave_gap();
  sharing.append(20, sharing.intern(std::vector<Process>{1}));
  const Writers before = writers_of(2, {{0, 30, 0}, {30, 60, 1}});
  EXPECT_EQ(levelled(sharing, before, 0), before);
  const Writers uneven = writers_of(2, {{0, 40, 0}, {40, 60, 1}});
  EXPECT_EQ(levelled(sharing, uneven, 0), before);
}

}  // namespace
}  // namespace tessera::owner
