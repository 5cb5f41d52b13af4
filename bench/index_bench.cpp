#include "bench/index_bench.hpp"

#include <absl/container/btree_map.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <random>

#include "tessera/object/midpoint_tree.hpp"
#include "tessera/object/object_index.hpp"
#include "tessera/pattern/assembler.hpp"

namespace tessera::bench {

namespace {

using object::MidpointTree;
using object::ObjectIndex;
using object::ObjectSet;
using pattern::ByteSet;
using pattern::Interval;

// Long enough that fetching the inner nodes, which the contestant before has displaced, is not what
// is measured.
constexpr int64_t kQueriesPerRepetition = int64_t{1} << 16;
constexpr size_t kQueries = size_t{1} << 18;  // more than the caches remember
constexpr uint64_t kSeed = 39;

struct Record {
  int64_t begin = 0;
  object::SharersId sharers = 0;
};

// One set of objects in every structure, and the queries.
struct Indexes {
  std::vector<Interval> sorted;
  std::unique_ptr<ObjectIndex> index;
  std::map<int64_t, Record> tree;  // by end
  absl::btree_map<int64_t, Record> btree;
  std::unique_ptr<MidpointTree> midpoint;
  std::vector<Interval> queries;
};

// Objects of 1 to 4,096 bytes, every third after a hole.
std::vector<Interval> irregular_objects(int64_t count) {
  std::mt19937_64 random(kSeed);
  std::uniform_int_distribution<int64_t> length(1, 4096);
  std::vector<Interval> objects;
  int64_t at = 0;
  for (int64_t i = 0; i < count; ++i) {
    if (random() % 3 == 0) at += length(random);
    const int64_t begin = at;
    at += length(random);
    objects.push_back({begin, at});
  }
  return objects;
}

// The same number in few small crowds far apart: what splitting in the middle is bad at.
std::vector<Interval> crowded_objects(int64_t count) {
  constexpr int64_t kCrowd = 1000;
  constexpr int64_t kDistance = int64_t{1} << 46;
  std::vector<Interval> objects;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t begin = i / kCrowd * kDistance + i % kCrowd * 3;
    objects.push_back({begin, begin + 2});
  }
  return objects;
}

// Queries begin in a random object and are up to twice as long as a typical one.
std::vector<Interval> queries_on(const std::vector<Interval>& objects) {
  const auto width_max = static_cast<uint64_t>(2 * objects[objects.size() / 2].length());
  std::mt19937_64 random(kSeed + 1);
  std::uniform_int_distribution<size_t> any(0, objects.size() - 1);
  std::vector<Interval> queries;
  for (size_t i = 0; i < kQueries; ++i) {
    const Interval& object = objects[any(random)];
    const int64_t begin =
        std::uniform_int_distribution<int64_t>(object.begin, object.end - 1)(random);
    queries.push_back({begin, begin + 1 + static_cast<int64_t>(random() % width_max)});
  }
  return queries;
}

// Three processes in turn, so that objects that touch have different sharers and stay apart.
base::Result<ObjectSet> object_set_of(const std::vector<Interval>& objects) {
  constexpr size_t kProcesses = 3;
  std::vector<ByteSet> views;
  for (size_t process = 0; process < kProcesses; ++process) {
    pattern::Assembler<1> view;
    for (size_t i = process; i < objects.size(); i += kProcesses) {
      view.append_run({{objects[i].begin}}, objects[i].length());
    }
    TESSERA_TRY(const auto bytes, view.finish());
    views.push_back(ByteSet::of_ascending(bytes));
  }
  // Irregular views cost a step for each of their runs.
  const pattern::Budget budget = {.steps = int64_t{1} << 26, .max_runs = int64_t{1} << 24};
  return ObjectSet::of({0, objects.back().end}, views, budget);
}

base::Result<std::shared_ptr<Indexes>> make_indexes(std::vector<Interval> objects) {
  auto indexes = std::make_shared<Indexes>();
  TESSERA_TRY(const ObjectSet set, object_set_of(objects));
  indexes->index = std::make_unique<ObjectIndex>(set);
  indexes->midpoint = std::make_unique<MidpointTree>(Interval{0, objects.back().end});
  for (size_t i = 0; i < objects.size(); ++i) {
    const Record record = {objects[i].begin, static_cast<object::SharersId>(i % 3)};
    indexes->tree.emplace_hint(indexes->tree.end(), objects[i].end, record);
    indexes->btree.emplace_hint(indexes->btree.end(), objects[i].end, record);
    indexes->midpoint->insert(objects[i], static_cast<int64_t>(i));
  }
  indexes->queries = queries_on(objects);
  indexes->sorted = std::move(objects);
  return indexes;
}

// Each search gives the sum of where the objects it met begin: the same work and one answer for
// all.
int64_t search_index(const Indexes& indexes, const Interval& query) {
  int64_t sum = 0;
  indexes.index->for_each_meeting(
      query, [&sum](const object::Object& object) { sum += object.bytes.begin; });
  return sum;
}

template <typename Map>
int64_t search_map(const Map& map, const Interval& query) {
  int64_t sum = 0;
  for (auto i = map.lower_bound(query.begin + 1); i != map.end(); ++i) {
    if (i->second.begin >= query.end) break;
    sum += i->second.begin;
  }
  return sum;
}

int64_t search_sorted(const Indexes& indexes, const Interval& query) {
  const auto& sorted = indexes.sorted;
  auto i = std::upper_bound(sorted.begin(), sorted.end(), query.begin,
                            [](int64_t a, const Interval& interval) { return a < interval.end; });
  int64_t sum = 0;
  for (; i != sorted.end() && i->begin < query.end; ++i) sum += i->begin;
  return sum;
}

int64_t search_midpoint(const Indexes& indexes, const Interval& query) {
  int64_t sum = 0;
  indexes.midpoint->visit(query.begin, query.end,
                          [&sum](int64_t, const Interval& object) { sum += object.begin; });
  return sum;
}

template <typename Search>
Contestant searcher(std::string name, std::shared_ptr<Indexes> indexes, Search search) {
  return timed_cpu(std::move(name),
                   [indexes = std::move(indexes), search, at = size_t{0}]() mutable {
                     int64_t sum = 0;
                     for (int64_t i = 0; i < kQueriesPerRepetition; ++i) {
                       sum += search(*indexes, indexes->queries[at]);
                       at = (at + 1) % kQueries;
                     }
                     keep(sum);
                   });
}

base::Result<void> check_agreement(const Indexes& indexes) {
  for (size_t i = 0; i < 20'000; ++i) {
    const Interval& query = indexes.queries[i];
    const int64_t expected = search_map(indexes.tree, query);
    if (search_index(indexes, query) != expected || search_sorted(indexes, query) != expected ||
        search_map(indexes.btree, query) != expected ||
        search_midpoint(indexes, query) != expected) {
      return base::fail(base::Code::kIntegrity,
                        fmt::format("the indexes disagree about [{},{})", query.begin, query.end));
    }
  }
  return {};
}

base::Result<Case> make_case(std::vector<Interval> objects) {
  TESSERA_TRY(const auto indexes, make_indexes(std::move(objects)));
  TESSERA_TRY_VOID(check_agreement(*indexes));
  Case measured;
  measured.unit = "ns";
  measured.amount = static_cast<double>(kQueriesPerRepetition);
  measured.ours = searcher("object index", indexes, search_index);
  measured.peers = {
      searcher("std::map", indexes,
               [](const Indexes& in, const Interval& query) { return search_map(in.tree, query); }),
      searcher(
          "absl::btree_map", indexes,
          [](const Indexes& in, const Interval& query) { return search_map(in.btree, query); }),
      searcher("sorted array", indexes, search_sorted),
      searcher("midpoint tree", indexes, search_midpoint)};
  measured.note =
      fmt::format("midpoint tree depth {}, object index {:.1f} MiB", indexes->midpoint->depth(),
                  static_cast<double>(indexes->index->memory_bytes()) / (1 << 20));
  return measured;
}

base::Result<Case> make_irregular(int64_t count) {
  TESSERA_TRY(Case measured, make_case(irregular_objects(count)));
  measured.x = static_cast<double>(count);
  measured.x_label = "objects";
  if (count == 1'000'000) {
    measured.bars = {{Bar::Kind::kRatioAtLeast, 3.0, "std::map"}};
    measured.paper = Paper{"O(log n + r) per query, no time given", "paper 0, sections E and F"};
  }
  return measured;
}

}  // namespace

std::vector<CaseMaker> index_cases() {
  const std::string group = "Index: objects that meet [a,b), time of one query";
  std::vector<CaseMaker> cases;
  for (const int64_t count : {1'000, 10'000, 100'000, 1'000'000}) {
    cases.push_back({fmt::format("index query, {} irregular objects", count), group,
                     [count] { return make_irregular(count); }});
  }
  cases.push_back({"index query, 1000000 objects in crowds",
                   "Index: objects in crowds far apart, time of one query",
                   [] { return make_case(crowded_objects(1'000'000)); }});
  return cases;
}

}  // namespace tessera::bench
