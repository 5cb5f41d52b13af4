#include "tessera/remap/plan.hpp"

#include <chrono>

#include "tessera/object/tile_wall.hpp"
#include "tessera/remap/remap_test_support.hpp"

namespace tessera::remap {
namespace {

using pattern::model::bytes_of;
using test::random_consumers;
using test::uniform;

// (P1), (P2): byte by byte.
void expect_plan(const Plan& plan, const std::vector<Consumer>& consumers, int64_t size,
                 PlanOptions options) {
  std::vector<int> shown(static_cast<size_t>(size), kNobody);
  std::vector<std::set<int64_t>> views;
  for (const Consumer& consumer : consumers) {
    views.push_back(bytes_of(consumer.bytes.within({0, size})));
    for (const int64_t byte : views.back()) {
      int& first = shown[static_cast<size_t>(byte)];
      if (first == kNobody) first = consumer.process;
    }
  }
  size_t next = 0;
  for (size_t i = 0; i < consumers.size(); ++i) {
    std::set<int64_t> first;
    for (const int64_t byte : views[i]) {
      if (shown[static_cast<size_t>(byte)] == consumers[i].process) first.insert(byte);
    }
    const bool replicated = options.sharing == Sharing::kReplicated;
    const std::set<int64_t>& expected = replicated ? views[i] : first;
    if (expected.empty()) continue;
    ASSERT_LT(next, plan.shelves.size());
    const Shelf& shelf = plan.shelves[next++];
    EXPECT_EQ(shelf.manager, consumers[i].process);
    EXPECT_EQ(bytes_of(shelf.bytes), expected);
    EXPECT_EQ(shelf.copies.size(), std::ssize(expected) - std::ssize(first));
    for (const int64_t byte : bytes_of(shelf.copies)) EXPECT_FALSE(first.contains(byte));
  }
  const auto rest = std::count(shown.begin(), shown.end(), kNobody);
  if (!options.keep_rest || rest == 0) {
    EXPECT_EQ(next, plan.shelves.size());
    return;
  }
  ASSERT_EQ(next + 1, plan.shelves.size());
  EXPECT_EQ(plan.shelves.back().manager, kNobody);
  EXPECT_EQ(plan.shelves.back().bytes.size(), rest);
  for (const int64_t byte : bytes_of(plan.shelves.back().bytes)) {
    EXPECT_EQ(shown[static_cast<size_t>(byte)], kNobody);
  }
}

TEST(Plan, GivesEveryByteToWhoSeesItFirst) {
  test::Engine engine(pattern::model::seed());
  for (int round = 0; round < pattern::model::rounds(400); ++round) {
    SCOPED_TRACE(pattern::model::seed_note(round));
    const int64_t size = uniform(engine, 1, 600);
    const std::vector<Consumer> consumers = random_consumers(engine, size);
    PlanOptions options;
    options.sharing = uniform(engine, 0, 1) == 0 ? Sharing::kOnce : Sharing::kReplicated;
    options.keep_rest = uniform(engine, 0, 2) > 0;
    const auto plan = make_plan(size, consumers, options);
    ASSERT_TRUE(plan) << plan.error().message();
    expect_plan(*plan, consumers, size, options);
    const auto map = map_of(*plan, 5, 7);
    ASSERT_TRUE(map) << map.error().message();
    map->check_invariants();
    EXPECT_EQ(map->covered_bytes(), plan->stored_bytes() - plan->extra_bytes());
    map::AllocationId id = 5;
    for (const Shelf& shelf : plan->shelves) {
      EXPECT_EQ(map->live_bytes(id), shelf.bytes.size());
      const auto whole = map->find_whole(shelf.bytes, id);
      ASSERT_TRUE(whole);
      EXPECT_EQ(whole->allocation, id++);
      EXPECT_EQ(whole->places.runs(), 1);  // (P3)
      EXPECT_EQ(whole->places.at()[0], 0);
    }
    const ByteSet some = test::random_view(engine, size);
    const auto restricted = restrict_plan(*plan, some);
    ASSERT_TRUE(restricted);
    std::vector<Consumer> fewer = consumers;
    for (Consumer& consumer : fewer) consumer.bytes = intersect(consumer.bytes, some).value();
    options.keep_rest = false;
    Plan without_rest = *restricted;
    std::erase_if(without_rest.shelves, [](const Shelf& shelf) { return shelf.manager < 0; });
    expect_plan(without_rest, fewer, size, options);
  }
}

TEST(Plan, StaysSmallForAWallOfAHundredScreens) {
  std::vector<Consumer> consumers;
  for (const ByteSet& view : object::reader_views(object::kPaperWall)) {
    consumers.push_back({static_cast<int32_t>(consumers.size()), view});
  }
  const int64_t size = object::kPaperWall.file_bytes();
  for (const Sharing sharing : {Sharing::kOnce, Sharing::kReplicated}) {
    const auto begin = std::chrono::steady_clock::now();
    const auto plan = make_plan(size, consumers, {sharing, true});
    ASSERT_TRUE(plan) << plan.error().message();
    const auto map = map_of(*plan, 0, 1);
    ASSERT_TRUE(map) << map.error().message();
    const auto took = std::chrono::steady_clock::now() - begin;
    EXPECT_EQ(map->covered_bytes(), size);
    EXPECT_LT(map->piece_count(), 2000);
    EXPECT_LT(took, std::chrono::seconds(10));
    RecordProperty("seconds", std::to_string(std::chrono::duration<double>(took).count()));
    std::printf("100 screens: %lld pieces, %.3f s\n", static_cast<long long>(map->piece_count()),
                std::chrono::duration<double>(took).count());
  }
}

TEST(Plan, TakesViewsFromObjectFiles) {
  test::Engine engine(pattern::model::seed());
  container::Contents contents;
  EXPECT_EQ(consumers_of(contents, 100).error().code, base::Code::kInvalid);
  for (int round = 0; round < 100; ++round) {
    SCOPED_TRACE(pattern::model::seed_note(round));
    const Consumer consumer = {3, test::random_view(engine, 500)};
    if (consumer.bytes.empty()) continue;
    contents.views = {writer_view(consumer, 500)};
    const auto again = consumers_of(contents, 500);
    ASSERT_TRUE(again) << again.error().message();
    ASSERT_EQ(again->size(), 1U);
    EXPECT_EQ(again->front().process, 3);
    EXPECT_EQ(bytes_of(again->front().bytes), bytes_of(consumer.bytes.within({0, 500})));
  }
  // A view goes on to the end of whatever file it is used for.
  contents.views = {{1, 4, 1, 10, pattern::Pattern::run({{2}}, 3).value()}};
  const auto tiled = consumers_of(contents, 28);
  ASSERT_TRUE(tiled);
  EXPECT_EQ(bytes_of(tiled->front().bytes), (std::set<int64_t>{6, 7, 8, 16, 17, 18, 26, 27}));
  contents.views.front().extent = 0;
  EXPECT_EQ(consumers_of(contents, 28).error().code, base::Code::kIntegrity);
}

}  // namespace
}  // namespace tessera::remap
