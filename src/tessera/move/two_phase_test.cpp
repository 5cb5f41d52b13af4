#include "tessera/move/two_phase.hpp"

#include <gtest/gtest.h>

#include "tessera/move/test_moves.hpp"
#include "tessera/move/two_phase_message.hpp"

namespace tessera::move {
namespace {

using base::Code;
using model::Chance;
using pattern::model::seed;
using pattern::model::seed_note;
using pattern::model::uniform;

Policy policy(int64_t nodes, int64_t per_node) {
  Policy result;
  result.cb_nodes = nodes;
  result.cb_per_node = per_node;
  return result;
}

TEST(TwoPhase, AggregatorsAreSpreadOverTheNodes) {
  const std::vector<int> node = {0, 0, 0, 1, 1, 2};
  EXPECT_EQ(aggregators_of(node, policy(0, 0)), (std::vector<int>{0, 3, 5}));
  EXPECT_EQ(aggregators_of(node, policy(2, 1)), (std::vector<int>{0, 3}));
  EXPECT_EQ(aggregators_of(node, policy(4, 0)), (std::vector<int>{0, 1, 3, 5}));
  EXPECT_EQ(aggregators_of(node, policy(5, 2)), (std::vector<int>{0, 1, 3, 4, 5}));
  EXPECT_EQ(aggregators_of(node, policy(100, 0)), (std::vector<int>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(aggregators_of(node, policy(100, 1)), (std::vector<int>{0, 3, 5}));
  EXPECT_EQ(aggregators_of(std::vector<int>{7}, policy(0, 1)), (std::vector<int>{0}));
}

TEST(TwoPhase, ListsAreReadAsTheyWereWritten) {
  Chance chance(seed());
  for (int round = 0; round < 300; ++round) {
    const Pattern file = model::random_file(chance, 500);
    const int64_t cell = uniform(chance, 1, 50);
    const ListMessage message = {list_cells(file, cell, 0), uniform(chance, 0, 1) == 0};
    const auto read = decode_list(encode_list(message), cell);
    ASSERT_TRUE(read) << seed_note(round);
    ASSERT_EQ(read->short_before, message.short_before);
    ASSERT_EQ(read->list.complete, message.list.complete);
    ASSERT_EQ(read->list.parts.size(), message.list.parts.size());
    for (size_t i = 0; i < read->list.parts.size(); ++i) {
      ASSERT_EQ(read->list.parts[i].begin, message.list.parts[i].begin);
      ASSERT_EQ(read->list.parts[i].bytes, message.list.parts[i].bytes);
    }
  }
}

TEST(TwoPhase, ListsThatNoRankGivesAreRefused) {
  const CellPart good = {10, 15, 0, 5};
  const auto refused = [](const CellList& list) {
    const auto read = decode_list(encode_list({list, false}), 10);
    return !read && read.error().code == Code::kIntegrity;
  };
  EXPECT_FALSE(refused({{good}, true}));
  EXPECT_TRUE(refused({{{-5, 15, 0, 5}}, true}));
  EXPECT_TRUE(refused({{{15, 15, 0, 5}}, true}));
  EXPECT_TRUE(refused({{{10, 15, 0, 6}}, true}));
  EXPECT_TRUE(refused({{{10, 15, 0, 0}}, true}));
  EXPECT_TRUE(refused({{{10, 15, -1, 5}}, true}));
  EXPECT_TRUE(refused({{{18, 22, 0, 4}}, true}));  // two cells
  EXPECT_TRUE(refused({{good, good}, true}));
  EXPECT_TRUE(refused({{}, false}));
  base::Bytes cut = encode_list({{{good}, true}, false});
  cut.pop_back();
  EXPECT_FALSE(decode_list(cut, 10));
}

TEST(TwoPhase, ParcelsNamePlacesOfTheirReceiverOnly) {
  const Pattern places = pattern::repeat(Pattern::run({{100}}, 2).value(), 3, {{10}}).value();
  base::Bytes parcel = begin_parcel(places, 1);
  parcel.push_back(std::byte{9});
  const auto read = read_parcel(parcel, {100, 122});
  ASSERT_TRUE(read);
  EXPECT_EQ(read->places.size(), 6);
  ASSERT_EQ(read->bytes.size(), 1U);
  EXPECT_EQ(read->bytes[0], std::byte{9});
  for (const Interval other : {Interval{101, 122}, Interval{100, 121}, Interval{0, 0}}) {
    const auto refused = read_parcel(parcel, other);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::kIntegrity);
  }
  const Pattern descending = pattern::repeat(Pattern::run({{110}}, 2).value(), 2, {{-10}}).value();
  EXPECT_FALSE(read_parcel(begin_parcel(descending, 0), {0, 1000}));
  parcel.resize(3);
  EXPECT_FALSE(read_parcel(parcel, {100, 122}));
}

}  // namespace
}  // namespace tessera::move
