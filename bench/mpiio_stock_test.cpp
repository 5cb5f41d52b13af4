#include "bench/mpiio_stock.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace tessera::bench {
namespace {

Trial trial(const std::string& name, double ns) { return {{name, {}}, ns}; }

std::set<std::string> names_of(const std::vector<Trial>& trials) {
  std::set<std::string> names;
  for (const size_t i : contenders(trials)) names.insert(trials[i].mode.name);
  return names;
}

TEST(Contenders, AreTheNearOnesAndTheBestOfEachSort) {
  EXPECT_EQ(
      names_of({trial("A independent", 100), trial("B independent", 149),
                trial("C independent", 151), trial("D collective", 4000),
                trial("E collective", 3000)}),
      (std::set<std::string>{"A independent", "B independent", "D collective", "E collective"}));
  EXPECT_EQ(names_of({trial("A collective", 100), trial("B collective", 151)}),
            (std::set<std::string>{"A collective"}));
  EXPECT_EQ(names_of({trial("A collective", 5), trial("B independent", 90)}),
            (std::set<std::string>{"A collective", "B independent"}));
}

TEST(Contenders, AreFewEvenWhereAllAreAlike) {
  std::vector<Trial> trials;
  for (size_t i = 0; i < 3 * kContendersMax; ++i) {
    trials.push_back(trial("independent " + std::to_string(i), 100 + static_cast<double>(i)));
  }
  trials.push_back(trial("collective", 130));
  const auto chosen = names_of(trials);
  EXPECT_EQ(chosen.size(), kContendersMax + 1);
  EXPECT_TRUE(chosen.contains("independent 0"));
  EXPECT_TRUE(chosen.contains("collective"));
}

TEST(Contenders, MayBeNone) { EXPECT_TRUE(contenders({}).empty()); }

TEST(StockModes, NamesAreDistinctAndSayTheirSort) {
  for (const char* mpi : {"openmpi", "mpich"}) {
    std::set<std::string> names;
    int collective = 0;
    for (const StockMode& mode : stock_modes(mpi, 4)) {
      EXPECT_TRUE(names.insert(mode.name).second) << mode.name;
      EXPECT_FALSE(mode.kind.tessera) << mode.name;
      EXPECT_EQ(mode.kind.ranks, 4);
      EXPECT_EQ(mode.kind.mpi, mpi);
      EXPECT_NE(mode.collective(), mode.name.find("independent") != std::string::npos);
      EXPECT_EQ(mode.hints.find(' '), std::string::npos) << "hints are one word of a command";
      collective += mode.collective() ? 1 : 0;
    }
    EXPECT_GE(collective, 3);
    EXPECT_EQ(names.contains("OMPIO independent"), mpi == std::string("openmpi"));
  }
}

TEST(StockModes, OnlyOneCallAPieceIsLeftOutWherePiecesAreSmall) {
  for (const StockMode& mode : stock_modes("openmpi", 2)) {
    EXPECT_EQ(mode.one_call_a_piece, mode.name == "ROMIO independent, ds disabled") << mode.name;
  }
}

// Runs where the MPI's compiler is installed.
TEST(FindField, TriesEveryModeAndKeepsBothSorts) {
  MpiPool pool;
  const auto modes = stock_modes("openmpi", 2);
  const auto started = pool.job(modes[0].kind, false);
  if (!started && started.error().code == base::Code::kNotFound) {
    GTEST_SKIP() << started.error().message();
  }
  for (const Flow flow : {Flow::kWrite, Flow::kRead}) {
    Operation operation;
    operation.workload = {"column", {8, 2000, 0}};
    operation.flow = flow;
    const auto field = find_field(pool, modes, operation, true);
    ASSERT_TRUE(field) << field.error().message();
    EXPECT_EQ(field->note, "");
    EXPECT_EQ(field->contenders.size() + field->dropped_ns.size(), modes.size() - 1)
        << "all but the one that is hopeless for small pieces";
    const auto collective = std::count_if(field->contenders.begin(), field->contenders.end(),
                                          [](const StockMode& mode) { return mode.collective(); });
    EXPECT_GE(collective, 1);
    EXPECT_LT(collective, static_cast<std::ptrdiff_t>(field->contenders.size()));
  }
}

TEST(FindField, FailsWhereNoModeWorks) {
  MpiPool pool;
  const auto modes = stock_modes("openmpi", 2);
  const auto started = pool.job(modes[0].kind, false);
  if (!started && started.error().code == base::Code::kNotFound) {
    GTEST_SKIP() << started.error().message();
  }
  Operation operation;
  operation.workload = {"nosuch", {0, 0, 0}};
  const auto field = find_field(pool, modes, operation, false);
  ASSERT_FALSE(field);
  EXPECT_NE(field.error().message().find("no such workload"), std::string::npos)
      << field.error().message();
}

}  // namespace
}  // namespace tessera::bench
