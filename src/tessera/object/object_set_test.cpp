#include "tessera/object/object_set.hpp"

#include <gtest/gtest.h>

#include <ctime>
#include <random>
#include <set>

#include "tessera/object/object_index.hpp"
#include "tessera/object/tile_wall.hpp"
#include "tessera/pattern/assembler.hpp"

namespace tessera::object {
namespace {

using pattern::ByteSet;
using pattern::Interval;

ByteSet set_of(const std::vector<Interval>& intervals) {
  ByteSet set;
  for (const Interval& interval : intervals) {
    set = unite(set, ByteSet::of(interval).value()).value();
  }
  return set;
}

// Rows of a two-dimensional tile in a file of `width` bytes a row.
ByteSet tile(int64_t row, int64_t rows, int64_t column, int64_t columns, int64_t width) {
  const auto line = pattern::Pattern::run({{row * width + column}}, columns).value();
  return ByteSet::of_ascending(repeat(line, rows, {{width}}).value());
}

using Expected = std::pair<Interval, std::vector<Process>>;

std::vector<Expected> all_objects(const ObjectSet& set) {
  std::vector<Expected> result;
  for (const Object& object : set.meeting(set.range())) {
    const auto sharers = set.sharers(object.sharers);
    result.push_back({object.bytes, {sharers.begin(), sharers.end()}});
  }
  return result;
}

// Paper 0, Figure 2. The text gives the file's 80 units, the cuts 0-14 | 15-69 of P0 and
// 10-14 | 15-25 | 26-29 of P1, and with Figure 3 that O3 holds 29 and O4 holds 39; the rest of the
// figure is not in the text, and these views agree with all of it.
ObjectSet figure_2() {
  return ObjectSet::of({0, 80},
                       std::vector<ByteSet>{set_of({{0, 15}, {26, 70}}),
                                            set_of({{10, 30}, {60, 75}}), set_of({{50, 80}})})
      .value();
}

TEST(ObjectSet, Figure2OfPaper0) {
  const std::vector<Expected> expected = {
      {{0, 10}, {0}},        {{10, 15}, {0, 1}}, {{15, 26}, {1}},
      {{26, 30}, {0, 1}},    {{30, 50}, {0}},    {{50, 60}, {0, 2}},
      {{60, 70}, {0, 1, 2}}, {{70, 75}, {1, 2}}, {{75, 80}, {2}}};
  EXPECT_EQ(all_objects(figure_2()), expected);
  EXPECT_EQ(figure_2().object_count(), 9);
  EXPECT_EQ(figure_2().shared_object_count(), 5);
}

TEST(ObjectSet, Figure3SearchOfPaper0) {
  // The paper's inclusive interval {18,35} finds O2, O3 and O4.
  const auto found = figure_2().meeting({18, 36});
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0].bytes, (Interval{15, 26}));
  EXPECT_EQ(found[1].bytes, (Interval{26, 30}));
  EXPECT_EQ(found[2].bytes, (Interval{30, 50}));
}

TEST(ObjectSet, Figure5OfPaper0) {
  // Four readers of a 60 x 3 picture; the paper prints object 8 as 150-169, which overlaps object
  // 7: it is 160-179.
  const std::vector<ByteSet> readers = {tile(0, 2, 0, 40, 60), tile(0, 2, 20, 40, 60),
                                        tile(1, 2, 0, 40, 60), tile(1, 2, 20, 40, 60)};
  const std::vector<Expected> expected = {
      {{0, 20}, {0}},     {{20, 40}, {0, 1}},        {{40, 60}, {1}},
      {{60, 80}, {0, 2}}, {{80, 100}, {0, 1, 2, 3}}, {{100, 120}, {1, 3}},
      {{120, 140}, {2}},  {{140, 160}, {2, 3}},      {{160, 180}, {3}}};
  const ObjectSet set = ObjectSet::of({0, 180}, readers).value();
  EXPECT_EQ(all_objects(set), expected);
  const auto of_reader_0 = set.families_of(0);
  ASSERT_EQ(of_reader_0.size(), 4U);
  const auto conflicts = set.conflicts();
  ASSERT_EQ(conflicts.size(), 6U);
  EXPECT_EQ(conflicts[0], (Conflict{0, 1, 40, 2}));
  EXPECT_EQ(conflicts[2], (Conflict{0, 3, 20, 1}));
}

TEST(ObjectSet, TheWallIsAFewHundredFamilies) {
  const auto set = ObjectSet::of({0, kPaperWall.file_bytes()}, reader_views(kPaperWall));
  ASSERT_TRUE(set);
  const auto families = set->families();
  EXPECT_EQ(families.size(), 19U * 19U);
  EXPECT_EQ(set->object_count(), 19 * kPaperWall.height());
  int64_t covered = 0;
  int64_t memory = 0;
  for (const Family& family : families) {
    covered += family.bytes.size();
    memory += family.bytes.ascending().memory_bytes();
  }
  EXPECT_EQ(covered, kPaperWall.file_bytes());
  EXPECT_LT(memory + set->memory_bytes(), 1000000);
}

TEST(ObjectSet, DroppingEveryViewLeavesNothing) {
  ObjectSet set = ObjectSet::of({0, kPaperWall.file_bytes()}, reader_views(kPaperWall)).value();
  for (Process p = 0; p < 100; ++p) ASSERT_TRUE(set.drop((p * 37) % 100));
  EXPECT_EQ(set.object_count(), 0);
  EXPECT_TRUE(set.line().shape().is_run());
}

TEST(ObjectSet, ErrorsNameTheirCause) {
  ObjectSet set = figure_2();
  EXPECT_EQ(set.add(1, ByteSet{}).error().code, base::Code::kInvalid);
  EXPECT_EQ(set.drop(7).error().code, base::Code::kNotFound);
  const auto disjoint = set.require_disjoint();
  ASSERT_FALSE(disjoint);
  EXPECT_EQ(disjoint.error().message(),
            "views that must be disjoint overlap: processes 0 and 1 share byte 10");
  ASSERT_TRUE(set.drop(1));
  ASSERT_TRUE(set.drop(2));
  EXPECT_TRUE(set.require_disjoint());
}

TEST(ObjectSet, ARefusedViewChangesNothing) {
  ObjectSet set({0, int64_t{1} << 50});
  const auto irregular = [](int64_t stride) {
    const auto run = pattern::Pattern::run({{0}}, 1).value();
    const auto inner = repeat(run, 100, {{stride}}).value();
    return ByteSet::of_ascending(repeat(inner, 1000000, {{stride * 131}}).value());
  };
  ASSERT_TRUE(set.add(0, irregular(997)));
  const int64_t objects = set.object_count();
  const auto refused = set.add(1, irregular(1009), {100, 1000});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, base::Code::kTooComplex);
  EXPECT_EQ(set.object_count(), objects);
  EXPECT_EQ(set.processes(), std::vector<Process>{0});
}

// The oracle: the sharers of every byte of a small file.
class Model {
 public:
  explicit Model(int64_t size) : sharers_(static_cast<size_t>(size)) {}

  void add(Process process, const ByteSet& view) {
    for (size_t b = 0; b < sharers_.size(); ++b) {
      if (view.contains(static_cast<int64_t>(b))) sharers_[b].insert(process);
    }
  }
  void drop(Process process) {
    for (auto& sharers : sharers_) sharers.erase(process);
  }
  [[nodiscard]] std::vector<Expected> meeting(Interval bytes) const {
    std::vector<Expected> objects;
    for (size_t b = 0; b < sharers_.size();) {
      size_t end = b + 1;
      while (end < sharers_.size() && sharers_[end] == sharers_[b]) ++end;
      const Interval object = {static_cast<int64_t>(b), static_cast<int64_t>(end)};
      if (!sharers_[b].empty() && !bytes.empty() && object.meets(bytes)) {
        objects.push_back({object, {sharers_[b].begin(), sharers_[b].end()}});
      }
      b = end;
    }
    return objects;
  }

 private:
  std::vector<std::set<Process>> sharers_;
};

using Engine = std::mt19937_64;

int64_t uniform(Engine& engine, int64_t low, int64_t high) {
  return std::uniform_int_distribution<int64_t>(low, high)(engine);
}

ByteSet random_view(Engine& engine) {
  const int64_t length = uniform(engine, 1, 5);
  const auto run = pattern::Pattern::run({{uniform(engine, 0, 40)}}, length).value();
  const auto row = repeat(run, uniform(engine, 1, 6), {{uniform(engine, length, 12)}}).value();
  const int64_t stride = row.span().length() + uniform(engine, 0, 3) * 4;
  return ByteSet::of_ascending(repeat(row, uniform(engine, 1, 4), {{stride}}).value());
}

uint64_t seed() {
  const char* text = std::getenv("TESSERA_SEED");
  return text != nullptr ? std::strtoull(text, nullptr, 10) : 7;
}

TEST(ObjectSetModel, BuildingAtOnceEqualsAddingOneByOne) {
  Engine engine(seed());
  for (int round = 0; round < 300; ++round) {
    SCOPED_TRACE("TESSERA_SEED=" + std::to_string(seed()) + " round " + std::to_string(round));
    std::vector<ByteSet> views;
    ObjectSet added({0, 100});
    for (int64_t i = uniform(engine, 0, 7); i > 0; --i) {
      views.push_back(random_view(engine));
      ASSERT_TRUE(added.add(static_cast<Process>(views.size()) - 1, views.back()));
    }
    const ObjectSet built = ObjectSet::of({0, 100}, views).value();
    ASSERT_EQ(all_objects(built), all_objects(added));
    ASSERT_EQ(built.processes(), added.processes());
  }
}

TEST(ObjectSet, ManyIrregularViewsTakeLessThanQuadraticTime) {
  Engine engine(seed());
  std::vector<ByteSet> views;
  for (int view = 0; view < 100; ++view) {
    std::vector<pattern::Run> runs;
    for (int64_t at = uniform(engine, 0, 99), i = 0; i < 500; ++i) {
      runs.push_back({at, uniform(engine, 1, 20)});
      at += uniform(engine, 30, 2000);
    }
    views.push_back(ByteSet::of_ascending(pattern::pattern_of_runs(runs).value()));
  }
  const std::clock_t begin = std::clock();  // of this process: others may be busy
  const auto set = ObjectSet::of({0, 2000000}, views);
  ASSERT_TRUE(set);
  EXPECT_GT(set->object_count(), 25000);
  EXPECT_LT(std::clock() - begin, 20 * CLOCKS_PER_SEC);
}

void check_queries(const ObjectSet& set, const Model& model, Engine& engine) {
  const int64_t begin = uniform(engine, -3, 130);
  const Interval bytes = {begin, begin + uniform(engine, 0, 20)};
  std::vector<Expected> found;
  for (const Object& object : set.meeting(bytes)) {
    const auto sharers = set.sharers(object.sharers);
    found.push_back({object.bytes, {sharers.begin(), sharers.end()}});
  }
  ASSERT_EQ(found, model.meeting(bytes));
  std::vector<Object> indexed;
  ObjectIndex(set).for_each_meeting(bytes, [&](const Object& o) { indexed.push_back(o); });
  ASSERT_EQ(indexed, set.meeting(bytes));
  ASSERT_EQ(static_cast<size_t>(set.object_count()), model.meeting(set.range()).size());
}

TEST(ObjectSetModel, AddAndDropAgreeWithABitmap) {
  const int rounds = std::getenv("TESSERA_SOAK") != nullptr ? 20000 : 400;
  Engine engine(seed());
  for (int round = 0; round < rounds; ++round) {
    SCOPED_TRACE("TESSERA_SEED=" + std::to_string(seed()) + " round " + std::to_string(round));
    const int64_t size = uniform(engine, 1, 128);
    ObjectSet set({0, size});
    Model model(size);
    std::set<Process> present;
    for (int step = 0; step < 12; ++step) {
      const auto process = static_cast<Process>(uniform(engine, 0, 5));
      if (present.insert(process).second) {
        const ByteSet view = random_view(engine);
        ASSERT_TRUE(set.add(process, view, {uniform(engine, 0, 60), 100000}));
        model.add(process, view);
      } else {
        present.erase(process);
        ASSERT_TRUE(set.drop(process));
        model.drop(process);
      }
      set.line().check_invariants();
      check_queries(set, model, engine);
      if (::testing::Test::HasFatalFailure()) return;
    }
  }
}

}  // namespace
}  // namespace tessera::object
