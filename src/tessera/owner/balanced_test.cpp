#include "tessera/owner/balanced.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <limits>
#include <optional>

#include "tessera/owner/policies.hpp"
#include "tessera/owner/test_sharings.hpp"
#include "tessera/port/test_seed.hpp"

namespace tessera::owner {
namespace {

// What all choices come to, by trying them.
struct AllChoices {
  const std::vector<PlainItem>& items;
  int processes = 0;
  double bound = 0;
  std::vector<Process> writers = {};
  double least_imbalance = std::numeric_limits<double>::infinity();
  std::optional<int64_t> fewest_runs = {};  // of those that keep the bound

  void look() {
    if (writers.size() < items.size()) {
      for (const Process writer : items[writers.size()].holders) {
        writers.push_back(writer);
        look();
        writers.pop_back();
      }
      return;
    }
    Writers choice(processes);
    int64_t runs = 0;
    for (size_t i = 0; i < items.size(); ++i) {
      choice.append(1, writers[i]);
      if (i == 0 || items[i].behind_gap || writers[i] != writers[i - 1]) ++runs;
    }
    const double imbalance = measure(choice).imbalance;
    least_imbalance = std::min(least_imbalance, imbalance);
    if (imbalance <= bound && (!fewest_runs || runs < *fewest_runs)) fewest_runs = runs;
  }
};

// The bound is kept exactly where that is possible, and few runs more than needed are made.
TEST(Balanced, AgainstAllChoices) {
  port::SeededRandom random(port::test_seed());
  int64_t runs = 0;
  int64_t fewest = 0;
  int64_t cases = 0;
  for (int round = 0; round < 2000; ++round) {
    const int processes = 1 + static_cast<int>(below(random, 4));
    const auto items = random_items(random, 1 + below(random, 8), processes);
    const double bound = 0.25 * static_cast<double>(below(random, 9));
    AllChoices all{.items = items, .processes = processes, .bound = bound};
    all.look();
    SCOPED_TRACE(testing::Message() << "round " << round << ", bound " << bound);
    const auto writers = balanced_writers(sharing_of_items(items, processes), bound);
    ASSERT_EQ(writers.has_value(), all.fewest_runs.has_value());
    if (!writers) {
      EXPECT_EQ(writers.error().code, base::Code::kNotFound);
      char smallest[40];
      std::snprintf(smallest, sizeof smallest, "the smallest is %.6g", all.least_imbalance);
      EXPECT_NE(writers.error().context.find(smallest), std::string::npos)
          << writers.error().context << ", expected: " << smallest;
      continue;
    }
    expect_holders(items, *writers);
    ASSERT_LE(measure(*writers).imbalance, bound);
    const int64_t found = runs_of(items, *writers);
    ASSERT_GE(found, *all.fewest_runs);
    ASSERT_LE(found, *all.fewest_runs + 3);
    ++cases;
    runs += found;
    fewest += *all.fewest_runs;
  }
  std::printf("%lld cases, %lld runs, %lld at least\n", static_cast<long long>(cases),
              static_cast<long long>(runs), static_cast<long long>(fewest));
  EXPECT_LE(static_cast<double>(runs), 1.05 * static_cast<double>(fewest));
}

TEST(Balanced, KeepsTheBoundOfLargerOnes) {
  port::SeededRandom random(port::test_seed());
  int kept = 0;
  for (int round = 0; round < 200; ++round) {
    const int processes = 2 + static_cast<int>(below(random, 9));
    const auto items = random_items(random, 50 + below(random, 400), processes);
    const Sharing sharing = sharing_of_items(items, processes);
    const double bound = 0.05 * static_cast<double>(1 + below(random, 10));
    const auto writers = balanced_writers(sharing, bound);
    if (!writers) continue;
    ++kept;
    expect_holders(items, *writers);
    EXPECT_LE(measure(*writers).imbalance, bound);
    EXPECT_GE(runs_of(items, *writers), runs_of(items, optimal_writers(sharing)));
  }
  std::printf("%d of 200 kept their bound\n", kept);
  EXPECT_GE(kept, 100);
}

// Long stretches have to be cut inside to be shared out evenly.
TEST(Balanced, CutsStretches) {
  Sharing sharing(4);
  sharing.append(1000, sharing.intern(std::vector<Process>{0, 1, 2, 3}));
  const Writers writers = balanced_writers(sharing, 0).value();
  EXPECT_EQ(measure(writers).imbalance, 0);
  EXPECT_EQ(measure(writers).intervals, 4);
}

// What process 0 has too much reaches process 3 only through the others.
TEST(Balanced, MovesAlongChains) {
  Sharing sharing(4);
  for (const Process p : {0, 1, 2}) {
    sharing.append(120, sharing.intern(std::vector<Process>{p, p + 1}));
  }
  const Writers writers = balanced_writers(sharing, 0).value();
  EXPECT_EQ(measure(writers).items_of, (std::vector<int64_t>{90, 90, 90, 90}));
  EXPECT_EQ(measure(writers).intervals, 4);
}

TEST(Balanced, ABoundThatNobodyMissesGivesTheFewest) {
  port::SeededRandom random(port::test_seed());
  const auto items = random_items(random, 500, 6);
  const Sharing sharing = sharing_of_items(items, 6);
  for (const double bound : {6.0, 1e300, std::numeric_limits<double>::infinity()}) {
    const Writers writers = balanced_writers(sharing, bound).value();
    EXPECT_EQ(runs_of(items, writers), runs_of(items, optimal_writers(sharing)));
  }
}

// Along such a curve runs are long and few, and what is not handed over at borders costs much.
TEST(Balanced, MeshesAlongACurveAreEvenAtNextToNoCost) {
  constexpr double kBound = 0.1;
  port::SeededRandom random(port::test_seed());
  int64_t intervals = 0;
  int64_t fewest = 0;
  for (const int parts : {8, 16, 32, 64, 8, 16, 32, 64}) {
    const GridMesh mesh = GridMesh::halved(24, parts, random);
    const Sharing sharing = mesh.sharing(mesh.curve_order());
    const auto writers = balanced_writers(sharing, kBound);
    ASSERT_TRUE(writers) << writers.error().context;
    EXPECT_LE(measure(*writers).imbalance, kBound);
    intervals += measure(*writers).intervals;
    fewest += measure(optimal_writers(sharing)).intervals;
  }
  std::printf("%lld intervals, %lld at least\n", static_cast<long long>(intervals),
              static_cast<long long>(fewest));
  EXPECT_LE(static_cast<double>(intervals), 1.05 * static_cast<double>(fewest));
}

TEST(Balanced, MeshesAreEvenAtTheCostOfFewIntervals) {
  port::SeededRandom random(port::test_seed());
  const GridMesh mesh(24, 16, random);
  for (const auto& order : {mesh.natural_order(), mesh.level_order(), mesh.random_order(random)}) {
    const Sharing sharing = mesh.sharing(order);
    const WriterMetrics home = measure(home_writers(sharing));
    const WriterMetrics optimal = measure(optimal_writers(sharing));
    const auto writers = balanced_writers(sharing, home.imbalance);
    ASSERT_TRUE(writers) << writers.error().context;
    const WriterMetrics balanced = measure(*writers);
    EXPECT_LE(balanced.imbalance, home.imbalance);
    EXPECT_GE(balanced.intervals, optimal.intervals);
    EXPECT_LE(static_cast<double>(balanced.intervals),
              1.10 * static_cast<double>(optimal.intervals));
  }
}

}  // namespace
}  // namespace tessera::owner
