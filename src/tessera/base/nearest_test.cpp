// Typos and the words that were meant.
#include "tessera/base/nearest.hpp"

#include <gtest/gtest.h>

#include <array>

namespace tessera::base {
namespace {

TEST(Nearest, DistanceCountsInsertionsDropsReplacementsAndExchanges) {
  EXPECT_EQ(edit_distance("", ""), 0U);
  EXPECT_EQ(edit_distance("", "abc"), 3U);
  EXPECT_EQ(edit_distance("remap", "remap"), 0U);
  EXPECT_EQ(edit_distance("remapp", "remap"), 1U);
  EXPECT_EQ(edit_distance("rmap", "remap"), 1U);
  EXPECT_EQ(edit_distance("remop", "remap"), 1U);
  EXPECT_EQ(edit_distance("--hepl", "--help"), 1U);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
}

TEST(Nearest, NamesWhatWasMeant) {
  constexpr std::array<std::string_view, 3> kKnown = {"remap", "report", "run"};
  EXPECT_EQ(nearest("remapp", kKnown), "remap");
  EXPECT_EQ(nearest("repotr", kKnown), "report");
  EXPECT_EQ(nearest("rnu", kKnown), "run");
  EXPECT_EQ(did_you_mean("remapp", kKnown), "; did you mean remap?");
}

TEST(Nearest, NamesNothingThatIsFar) {
  constexpr std::array<std::string_view, 2> kKnown = {"remap", "run"};
  EXPECT_EQ(nearest("speed", kKnown), "");
  EXPECT_EQ(nearest("x", kKnown), "");
  EXPECT_EQ(nearest("", kKnown), "");
  EXPECT_EQ(nearest(std::string(100, 'r'), kKnown), "");
  EXPECT_EQ(did_you_mean("speed", kKnown), "");
}

}  // namespace
}  // namespace tessera::base
