// tessera_mesh.h through the symbols of the library: plans against an obvious oracle, files that
// are damaged, missing or of another mesh, and arguments that make no sense.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <tessera_mesh.h>

#include <algorithm>
#include <climits>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "tessera/port/seeded_random.hpp"
#include "tessera/port/test_directory.hpp"
#include "tessera/port/test_seed.hpp"

namespace tessera::capi {
namespace {

using Nodes = std::vector<int64_t>;
using NodeSet = std::set<int64_t>;

constexpr int64_t kBig = std::numeric_limits<int64_t>::max();

void expect_error(const std::string& part) {
  EXPECT_NE(std::string(tessera_mesh_error()).find(part), std::string::npos)
      << tessera_mesh_error();
}

// The arrays of a mesh and its partition.
struct Input {
  int64_t nodes = 0;
  int parts = 1;
  std::vector<int64_t> begins = {0};
  std::vector<int32_t> corners;
  std::vector<int32_t> part_of;

  void add(const std::vector<int32_t>& element) {
    corners.insert(corners.end(), element.begin(), element.end());
    begins.push_back(std::ssize(corners));
  }
  [[nodiscard]] tessera_mesh_elements mesh() const {
    return {nodes, std::ssize(begins) - 1, begins.data(), corners.data()};
  }
  [[nodiscard]] tessera_mesh_partition partition() const { return {nodes, parts, part_of.data()}; }
  // The nodes that a part has, and their neighbours in elements.
  [[nodiscard]] NodeSet held(int part) const {
    NodeSet found;
    for (int64_t i = 0; i < nodes; ++i) {
      if (part_of[static_cast<size_t>(i)] == part) found.insert(i);
    }
    for (size_t i = 0; i + 1 < begins.size(); ++i) {
      const auto begin = corners.begin() + begins[i];
      const auto end = corners.begin() + begins[i + 1];
      const auto is_own = [&](int32_t c) { return part_of[static_cast<size_t>(c)] == part; };
      if (std::any_of(begin, end, is_own)) found.insert(begin, end);
    }
    return found;
  }
};

// A chain of nodes, its first half in part 0 and the rest in part 1.
Input chain(int32_t nodes) {
  Input input;
  input.nodes = nodes;
  input.parts = 2;
  for (int32_t i = 0; i < nodes; ++i) input.part_of.push_back(i < nodes / 2 ? 0 : 1);
  for (int32_t i = 0; i + 1 < nodes; ++i) input.add({i, i + 1});
  return input;
}

Input random_input(port::Random& random) {
  Input input;
  input.nodes = static_cast<int64_t>(random.uniform(24));
  input.parts = 1 + static_cast<int>(random.uniform(5));
  const auto below = [&](int64_t bound) {
    return static_cast<int32_t>(random.uniform(static_cast<uint64_t>(bound)));
  };
  for (int64_t i = 0; i < input.nodes; ++i) input.part_of.push_back(below(input.parts));
  for (int32_t i = input.nodes > 0 ? below(16) : 0; i > 0; --i) {
    std::vector<int32_t> element;
    for (int32_t k = below(4); k > 0; --k) element.push_back(below(input.nodes));
    input.add(element);
  }
  return input;
}

// A plan that a test calls in short.
class Plan {
 public:
  Plan() = default;
  explicit Plan(const Input& input, const char* policy = nullptr) {
    const auto mesh = input.mesh();
    const auto partition = input.partition();
    const tessera_mesh_options options = {policy, 0.5, 1};
    status = tessera_mesh_plan_make(&mesh, &partition, &options, &handle);
  }
  explicit Plan(const std::string& path) {
    status = tessera_mesh_plan_load(path.c_str(), nullptr, &handle);
  }
  Plan(const std::string& path, const Input& input) {
    const auto partition = input.partition();
    status = tessera_mesh_plan_load(path.c_str(), &partition, &handle);
  }
  ~Plan() { tessera_mesh_plan_free(handle); }
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;

  [[nodiscard]] int save(const std::string& path) const {
    return tessera_mesh_plan_save(handle, path.c_str());
  }
  [[nodiscard]] tessera_mesh_facts facts() const {
    tessera_mesh_facts facts{};
    EXPECT_EQ(tessera_mesh_plan_facts(handle, &facts), TESSERA_MESH_OK);
    return facts;
  }
  [[nodiscard]] Nodes nodes(int part) const { return list(part, tessera_mesh_nodes); }
  [[nodiscard]] Nodes held(int part) const { return list(part, tessera_mesh_held); }
  [[nodiscard]] std::vector<tessera_mesh_interval> share(int part) const {
    size_t count = 0;
    EXPECT_EQ(tessera_mesh_share(handle, part, nullptr, 0, &count), TESSERA_MESH_OK);
    std::vector<tessera_mesh_interval> share(count);
    EXPECT_EQ(tessera_mesh_share(handle, part, share.data(), count, &count), TESSERA_MESH_OK);
    return share;
  }

  tessera_mesh_plan* handle = nullptr;
  int status = TESSERA_MESH_FAILED;

 private:
  template <typename Function>
  [[nodiscard]] Nodes list(int part, Function function) const {
    size_t count = 0;
    EXPECT_EQ(function(handle, part, nullptr, 0, &count), TESSERA_MESH_OK) << tessera_mesh_error();
    Nodes nodes(count);
    EXPECT_EQ(function(handle, part, nodes.data(), count, &count), TESSERA_MESH_OK);
    return nodes;
  }
};

Nodes nodes_of(const std::vector<tessera_mesh_interval>& share) {
  Nodes nodes;
  for (const auto& [begin, end] : share) {
    for (int64_t node = begin; node < end; ++node) nodes.push_back(node);
  }
  return nodes;
}

// Every node is written once, by a part that holds it; the facts are those of the intervals.
void expect_sound(const Plan& plan, const Input& input) {
  ASSERT_EQ(plan.status, TESSERA_MESH_OK) << tessera_mesh_error();
  NodeSet written;
  int64_t intervals = 0;
  std::vector<int64_t> loads;
  for (int part = 0; part < input.parts; ++part) {
    const auto share = plan.share(part);
    const Nodes nodes = nodes_of(share);
    ASSERT_EQ(plan.nodes(part), nodes);
    const NodeSet held = input.held(part);
    const Nodes told = plan.held(part);
    ASSERT_EQ(told, Nodes(held.begin(), held.end()));
    for (const int64_t node : nodes) {
      ASSERT_TRUE(held.contains(node));
      ASSERT_TRUE(written.insert(node).second);
    }
    intervals += std::ssize(share);
    loads.push_back(std::ssize(nodes));
  }
  ASSERT_EQ(std::ssize(written), input.nodes);
  const tessera_mesh_facts facts = plan.facts();
  ASSERT_EQ(facts.parts, input.parts);
  ASSERT_EQ(facts.nodes, input.nodes);
  ASSERT_EQ(facts.intervals, intervals);
  if (input.nodes == 0) return;
  ASSERT_DOUBLE_EQ(facts.average_length, double(input.nodes) / double(intervals));
  const auto [least, most] = std::minmax_element(loads.begin(), loads.end());
  ASSERT_DOUBLE_EQ(facts.imbalance, double(*most - *least) * input.parts / double(input.nodes));
}

TEST(MeshApi, EveryNodeIsWrittenOnceByAHolder) {
  const uint64_t seed = port::test_seed();
  SCOPED_TRACE("TESSERA_SEED=" + std::to_string(seed));
  port::SeededRandom random(seed);
  int even = 0;
  for (int round = 0; round < 500 && !HasFailure(); ++round) {
    const Input input = random_input(random);
    for (const char* policy : {"metis", "random", "first", "idg", "optimal"}) {
      SCOPED_TRACE(policy);
      expect_sound(Plan(input, policy), input);
    }
    expect_sound(Plan(input), input);
    const Plan balanced(input, "balanced");
    if (balanced.status == TESSERA_MESH_NOT_FOUND) continue;
    SCOPED_TRACE("balanced");
    expect_sound(balanced, input);
    EXPECT_LE(balanced.facts().imbalance, 0.5);
    ++even;
  }
  EXPECT_GT(even, 50);
}

TEST(MeshApi, AChainHasTwoIntervals) {
  const Input input = chain(10);
  const Plan plan(input);
  EXPECT_EQ(plan.facts().intervals, 2);
  EXPECT_EQ(plan.held(0), (Nodes{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(plan.held(1), (Nodes{4, 5, 6, 7, 8, 9}));
}

TEST(MeshApi, PartsAreThoseThatWereGiven) {
  const Input input = chain(10);
  const Plan plan(input);
  size_t count = 0;
  std::vector<int32_t> part_of(10);
  ASSERT_EQ(tessera_mesh_parts(plan.handle, part_of.data(), part_of.size(), &count),
            TESSERA_MESH_OK);
  EXPECT_EQ(count, 10U);
  EXPECT_EQ(part_of, input.part_of);
}

TEST(MeshApi, AnArrayIsFilledAsFarAsItGoes) {
  const Plan plan(chain(10));
  size_t count = 0;
  Nodes nodes(4, -1);
  ASSERT_EQ(tessera_mesh_held(plan.handle, 0, nodes.data(), 3, &count), TESSERA_MESH_OK);
  EXPECT_EQ(count, 6U);
  EXPECT_EQ(nodes, (Nodes{0, 1, 2, -1}));
}

TEST(MeshApi, MetisDividesAMesh) {
  const Input input = chain(100);
  const auto mesh = input.mesh();
  Plan plan;
  ASSERT_EQ(tessera_mesh_plan_divide(&mesh, 4, nullptr, &plan.handle), TESSERA_MESH_OK)
      << tessera_mesh_error();
  plan.status = TESSERA_MESH_OK;
  Input divided = input;
  divided.parts = 4;
  size_t count = 0;
  ASSERT_EQ(tessera_mesh_parts(plan.handle, divided.part_of.data(), 100, &count), TESSERA_MESH_OK);
  expect_sound(plan, divided);
  EXPECT_EQ(std::set(divided.part_of.begin(), divided.part_of.end()), (std::set{0, 1, 2, 3}));
  EXPECT_EQ(tessera_mesh_plan_divide(&mesh, 0, nullptr, &plan.handle), TESSERA_MESH_INVALID);
  EXPECT_EQ(plan.handle, nullptr);
}

class MeshApiFiles : public testing::Test {
 protected:
  [[nodiscard]] std::string write(const std::string& name, const std::string& text) const {
    const std::string path = directory_.path(name);
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }
  [[nodiscard]] static std::string read(const std::string& path) {
    std::ifstream stream(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  [[nodiscard]] int64_t file_count() const {
    const std::filesystem::directory_iterator files(directory_.path(""));
    return std::distance(begin(files), end(files));
  }

  const port::TestDirectory directory_;
};

TEST_F(MeshApiFiles, ASavedPlanIsTheSame) {
  const std::string path = directory_.path("plan");
  for (const int32_t nodes : {0, 1, 10, 1000}) {
    const Input input = chain(nodes);
    const Plan made(input, "random");
    ASSERT_EQ(made.save(path), TESSERA_MESH_OK) << tessera_mesh_error();
    EXPECT_EQ(file_count(), 1);
    for (const bool checked : {false, true}) {
      const Plan loaded = checked ? Plan(path, input) : Plan(path);
      ASSERT_EQ(loaded.status, TESSERA_MESH_OK) << tessera_mesh_error();
      EXPECT_EQ(loaded.facts().nodes, nodes);
      EXPECT_EQ(loaded.facts().parts, 2);
      EXPECT_EQ(loaded.nodes(0), made.nodes(0));
      EXPECT_EQ(loaded.nodes(1), made.nodes(1));
    }
  }
}

TEST_F(MeshApiFiles, ALoadedPlanDoesNotKnowHolders) {
  const std::string path = directory_.path("plan");
  ASSERT_EQ(Plan(chain(10)).save(path), TESSERA_MESH_OK);
  const Plan loaded(path);
  size_t count = 1;
  EXPECT_EQ(tessera_mesh_held(loaded.handle, 0, nullptr, 0, &count), TESSERA_MESH_NOT_FOUND);
  expect_error("loaded");
  EXPECT_EQ(count, 0U);
  EXPECT_EQ(tessera_mesh_parts(loaded.handle, nullptr, 0, &count), TESSERA_MESH_NOT_FOUND);
  EXPECT_EQ(loaded.save(directory_.path("copy")), TESSERA_MESH_OK);
  EXPECT_EQ(read(directory_.path("copy")), read(path));
}

TEST_F(MeshApiFiles, APlanOfAnotherPartitionIsStale) {
  const std::string path = directory_.path("plan");
  ASSERT_EQ(Plan(chain(10)).save(path), TESSERA_MESH_OK);
  Input other = chain(10);
  other.part_of[3] = 1;
  EXPECT_EQ(Plan(path, other).status, TESSERA_MESH_STALE);
  expect_error(path);
  other = chain(10);
  other.parts = 3;
  EXPECT_EQ(Plan(path, other).status, TESSERA_MESH_STALE);
  EXPECT_EQ(Plan(path, chain(12)).status, TESSERA_MESH_STALE);
}

TEST_F(MeshApiFiles, APlanForAnotherNumberOfPartsIsStale) {
  const std::string path = directory_.path("plan");
  ASSERT_EQ(Plan(chain(10)).save(path), TESSERA_MESH_OK);
  const Plan plan(path);
  EXPECT_EQ(tessera_mesh_plan_fits(plan.handle, 2), TESSERA_MESH_OK);
  for (const int parts : {-1, 0, 1, 3}) {
    EXPECT_EQ(tessera_mesh_plan_fits(plan.handle, parts), TESSERA_MESH_STALE);
    expect_error("for 2 parts, not for " + std::to_string(parts));
  }
  EXPECT_EQ(tessera_mesh_plan_fits(nullptr, 2), TESSERA_MESH_INVALID);
}

TEST_F(MeshApiFiles, PipesAreRefusedAndNotWaitedFor) {
  const std::string pipe = directory_.path("pipe.mesh");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const std::string mesh = write("two.mesh", "2\n1 2 3 4\n2 3 4 5\n");
  Plan plan;
  EXPECT_EQ(Plan(pipe).status, TESSERA_MESH_INVALID);
  expect_error("pipe.mesh is not a regular file");
  EXPECT_EQ(tessera_mesh_plan_files(pipe.c_str(), nullptr, 2, nullptr, &plan.handle),
            TESSERA_MESH_INVALID);
  EXPECT_EQ(tessera_mesh_plan_files(mesh.c_str(), pipe.c_str(), 2, nullptr, &plan.handle),
            TESSERA_MESH_INVALID);
  expect_error("pipe.mesh is not a regular file");
}

// The command and the library take the same elements of a file, so they make the same partition,
// and count the same holders.
TEST_F(MeshApiFiles, TheCommandMakesTheSamePlan) {
  for (const char* name : {"device22.msh", "device41_binary.msh", "all_sections22.msh"}) {
    const std::string mesh = std::string(TESSERA_TEST_DATA) + "/mesh/" + name;
    for (const int parts : {2, 3, 4, 5}) {
      SCOPED_TRACE(testing::Message() << name << " in " << parts << " parts");
      Plan plan;
      const tessera_mesh_options options = {"random", 0.1, 1};
      ASSERT_EQ(tessera_mesh_plan_files(mesh.c_str(), nullptr, parts, &options, &plan.handle),
                TESSERA_MESH_OK);
      std::vector<int32_t> part_of(static_cast<size_t>(plan.facts().nodes));
      size_t count = 0;
      ASSERT_EQ(tessera_mesh_parts(plan.handle, part_of.data(), part_of.size(), &count),
                TESSERA_MESH_OK);
      std::string text;
      for (const int32_t part : part_of) text += std::to_string(part) + "\n";
      const std::string partition = directory_.path("part");
      const std::string saved = directory_.path("plan");
      const std::string command = std::string(TESSERA) + " mesh plan " + mesh +
                                  " --policy random --save " + saved + " > /dev/null ";
      ASSERT_EQ(plan.save(directory_.path("own")), TESSERA_MESH_OK);
      const Plan own(directory_.path("own"));
      const auto expect_same = [&](const std::string& words) {
        ASSERT_EQ(std::system((command + words).c_str()), 0);
        const Plan theirs(saved);
        for (int part = 0; part < parts; ++part) EXPECT_EQ(theirs.nodes(part), own.nodes(part));
      };
      expect_same("--parts " + std::to_string(parts) + " --write-partition " + partition);
      EXPECT_EQ(read(partition), text);
      expect_same("--partition " + partition);
    }
  }
}

TEST_F(MeshApiFiles, ADamagedPlanIsStale) {
  const std::string path = directory_.path("plan");
  ASSERT_EQ(Plan(chain(10), "random").save(path), TESSERA_MESH_OK);
  const std::string sound = read(path);
  for (size_t i = 0; i < sound.size(); ++i) {
    std::string damaged = sound;
    damaged[i] = static_cast<char>(damaged[i] ^ 4);
    EXPECT_EQ(Plan(write("damaged", damaged)).status, TESSERA_MESH_STALE) << "byte " << i;
    EXPECT_EQ(Plan(write("short", sound.substr(0, i))).status, TESSERA_MESH_STALE) << i << " bytes";
  }
  EXPECT_EQ(Plan(write("long", sound + '\0')).status, TESSERA_MESH_STALE);
  expect_error(directory_.path("long"));
}

TEST_F(MeshApiFiles, WhatCannotBeSavedLeavesNothing) {
  const Plan plan(chain(10));
  EXPECT_EQ(plan.save(directory_.path("none/plan")), TESSERA_MESH_NOT_FOUND);
  expect_error("none/plan");
  std::filesystem::create_directory(directory_.path("folder"));
  EXPECT_EQ(plan.save(directory_.path("folder")), TESSERA_MESH_FAILED);
  EXPECT_EQ(file_count(), 1);
  EXPECT_EQ(Plan(directory_.path("none")).status, TESSERA_MESH_NOT_FOUND);
  EXPECT_EQ(Plan(directory_.path("folder")).status, TESSERA_MESH_INVALID);
}

TEST_F(MeshApiFiles, MeshesAndPartitionsComeFromFiles) {
  const std::string mesh = write("two.mesh", "2\n1 2 3 4\n2 3 4 5\n");
  const std::string partition = write("two.part", "0\n0\n0\n1\n1\n");
  Plan plan;
  const auto plan_files = [&](const std::string& mesh_path, const char* partition_path, int parts) {
    tessera_mesh_plan_free(plan.handle);
    return tessera_mesh_plan_files(mesh_path.c_str(), partition_path, parts, nullptr, &plan.handle);
  };
  ASSERT_EQ(plan_files(mesh, partition.c_str(), 2), TESSERA_MESH_OK) << tessera_mesh_error();
  EXPECT_EQ(plan.held(0), (Nodes{0, 1, 2, 3, 4}));
  EXPECT_EQ(plan.held(1), (Nodes{0, 1, 2, 3, 4}));
  ASSERT_EQ(plan_files(mesh, nullptr, 2), TESSERA_MESH_OK) << tessera_mesh_error();
  EXPECT_EQ(plan.facts().nodes, 5);
  EXPECT_EQ(plan_files(mesh, write("short.part", "0\n1\n").c_str(), 2), TESSERA_MESH_INVALID);
  expect_error("short.part");
  EXPECT_EQ(plan_files(mesh, write("high.part", "0\n0\n0\n7\n1\n").c_str(), 2),
            TESSERA_MESH_INVALID);
  expect_error("high.part");
  EXPECT_EQ(plan_files(write("bad.mesh", "2\n1 2 3 4\n2 3 4 x\n"), nullptr, 2),
            TESSERA_MESH_INVALID);
  expect_error("bad.mesh");
  EXPECT_EQ(plan_files(directory_.path("none"), nullptr, 2), TESSERA_MESH_NOT_FOUND);
  EXPECT_EQ(plan_files(mesh, directory_.path("none").c_str(), 2), TESSERA_MESH_NOT_FOUND);
  expect_error("none");
}

TEST(MeshApi, ABalanceThatNoPlanHasIsNotFound) {
  Input input;
  input.nodes = 3;
  input.parts = 2;
  input.part_of = {0, 0, 1};
  const auto mesh = input.mesh();
  const auto partition = input.partition();
  const tessera_mesh_options options = {"balanced", 0.1, 1};
  Plan plan;
  EXPECT_EQ(tessera_mesh_plan_make(&mesh, &partition, &options, &plan.handle),
            TESSERA_MESH_NOT_FOUND);
}

TEST(MeshApi, IntervalsOfNodes) {
  const Nodes nodes = {0, 1, 2, 5, 7, 8};
  const tessera_mesh_node_list list = {nodes.data(), nodes.size()};
  std::vector<tessera_mesh_interval> intervals(4);
  size_t count = 0;
  ASSERT_EQ(tessera_mesh_intervals(&list, intervals.data(), 4, &count), TESSERA_MESH_OK);
  intervals.resize(count);
  EXPECT_EQ(count, 3U);
  EXPECT_EQ(nodes_of(intervals), nodes);
  for (const Nodes& wrong : {Nodes{1, 1}, Nodes{2, 1}, Nodes{-1, 0}, Nodes{kBig}}) {
    const tessera_mesh_node_list refused = {wrong.data(), wrong.size()};
    EXPECT_EQ(tessera_mesh_intervals(&refused, nullptr, 0, &count), TESSERA_MESH_INVALID);
  }
}

TEST(MeshApi, PlacesOfAShareInMemory) {
  const Plan plan(chain(10), "metis");
  const Nodes held = {4, 5, 6, 7, 8, 9};
  const auto places = [&](const Nodes& nodes, int part) {
    const tessera_mesh_node_list list = {nodes.data(), nodes.size()};
    size_t count = 0;
    std::vector<tessera_mesh_interval> found(8);
    const int status = tessera_mesh_share_within(plan.handle, part, &list, found.data(), 8, &count);
    EXPECT_EQ(status, count > 0 ? TESSERA_MESH_OK : TESSERA_MESH_INVALID);
    found.resize(count);
    return nodes_of(found);
  };
  EXPECT_EQ(places(held, 1), (Nodes{1, 2, 3, 4, 5}));
  EXPECT_EQ(places({1, 5, 6, 7, 8, 9, 20}, 1), (Nodes{1, 2, 3, 4, 5}));
  EXPECT_EQ(places({4, 5, 6, 8, 9}, 1), Nodes());
  expect_error("node 7");
  EXPECT_EQ(places({}, 1), Nodes());
  EXPECT_EQ(places({5, 6, 8, 7, 9}, 1), Nodes());
  EXPECT_EQ(places(held, 2), Nodes());
}

struct Refusal {
  tessera_mesh_record record;
  tessera_mesh_interval interval;
};

TEST(MeshApi, BlocksOfIntervals) {
  const std::vector<tessera_mesh_interval> intervals = {{0, 2}, {2, 3}, {7, 10}};
  const tessera_mesh_record record = {10, 3, 8};
  std::vector<int> lengths(3);
  std::vector<int64_t> offsets(3);
  ASSERT_EQ(tessera_mesh_blocks(&record, intervals.data(), 3, lengths.data(), offsets.data()),
            TESSERA_MESH_OK);
  EXPECT_EQ(lengths, (std::vector{2, 1, 3}));
  EXPECT_EQ(offsets, (std::vector<int64_t>{0, 48, 168}));
  EXPECT_EQ(tessera_mesh_blocks(&record, nullptr, 0, nullptr, nullptr), TESSERA_MESH_OK);
  const std::vector<Refusal> refusals = {
      {{10, 0, 8}, {0, 1}},         {{10, -1, 8}, {0, 1}},     {{10, 1, 0}, {0, 1}},
      {{-1, 1, 8}, {0, 1}},         {{10, 1, 8}, {-1, 1}},     {{10, 1, 8}, {1, 1}},
      {{10, 1, 8}, {9, 11}},        {{10, 1, 8}, {3, 2}},      {{kBig, 2, 1}, {0, 1}},
      {{2, INT_MAX, kBig}, {0, 1}}, {{kBig, 1, 1}, {0, kBig}},
  };
  for (const Refusal& refusal : refusals) {
    EXPECT_EQ(
        tessera_mesh_blocks(&refusal.record, &refusal.interval, 1, lengths.data(), offsets.data()),
        TESSERA_MESH_INVALID);
    expect_error(" ");
  }
  const std::vector<tessera_mesh_interval> overlapping = {{0, 2}, {1, 3}};
  EXPECT_EQ(tessera_mesh_blocks(&record, overlapping.data(), 2, lengths.data(), offsets.data()),
            TESSERA_MESH_INVALID);
}

// Changes one thing of a sound input and expects a sentence with some words in it.
template <typename Change>
void expect_refused(Change change, const std::string& words) {
  const Input input = chain(4);
  auto mesh = input.mesh();
  auto partition = input.partition();
  tessera_mesh_options options = {nullptr, 0.1, 1};
  change(mesh, partition, options);
  Plan plan;
  EXPECT_EQ(tessera_mesh_plan_make(&mesh, &partition, &options, &plan.handle),
            TESSERA_MESH_INVALID);
  EXPECT_EQ(plan.handle, nullptr);
  expect_error(words);
}

TEST(MeshApi, InputThatMakesNoSenseIsNamed) {
  const std::vector<int64_t> descending = {0, 4, 2, 6};
  const std::vector<int64_t> late = {1, 2, 4, 6};
  const std::vector<int32_t> outside = {0, 1, 1, 4, 2, 3};
  const std::vector<int32_t> below = {0, 1, 1, 2, -1, 3};
  const std::vector<int32_t> no_part = {0, 0, 2, 1};
  expect_refused([](auto& m, auto&, auto&) { m.nodes = -1; }, "-1 nodes");
  expect_refused([](auto& m, auto&, auto&) { m.nodes = int64_t{1} << 31; }, "2^31");
  expect_refused([](auto& m, auto&, auto&) { m.nodes = 5; }, "5");
  expect_refused([](auto& m, auto&, auto&) { m.elements = -1; }, "-1 elements");
  expect_refused([](auto& m, auto&, auto&) { m.begins = nullptr; }, "begins");
  expect_refused([](auto& m, auto&, auto&) { m.corners = nullptr; }, "corners");
  expect_refused([&](auto& m, auto&, auto&) { m.begins = descending.data(); }, "element 1");
  expect_refused([&](auto& m, auto&, auto&) { m.begins = late.data(); }, "element 0");
  expect_refused([&](auto& m, auto&, auto&) { m.corners = outside.data(); }, "corner 4");
  expect_refused([&](auto& m, auto&, auto&) { m.corners = below.data(); }, "corner -1");
  expect_refused([](auto&, auto& p, auto&) { p.parts = 0; }, "0 parts");
  expect_refused([](auto&, auto& p, auto&) { p.nodes = 3; }, "3");
  expect_refused([](auto&, auto& p, auto&) { p.part_of = nullptr; }, "parts of nodes");
  expect_refused([&](auto&, auto& p, auto&) { p.part_of = no_part.data(); }, "node 2");
  expect_refused([](auto&, auto&, auto& o) { o.policy = "best"; }, "idg");
  const auto balanced = [](double bound) {
    return [bound](auto&, auto&, auto& o) { o = {"balanced", bound, 1}; };
  };
  expect_refused(balanced(-0.5), "imbalance");
  expect_refused(balanced(std::nan("")), "imbalance");
}

TEST(MeshApi, NothingIsNoArgument) {
  const Input input = chain(4);
  const auto mesh = input.mesh();
  const auto partition = input.partition();
  const tessera_mesh_record record = {4, 1, 8};
  const tessera_mesh_interval interval = {0, 1};
  const tessera_mesh_node_list no_nodes = {nullptr, 1};
  tessera_mesh_facts facts{};
  size_t count = 0;
  Plan plan(input);
  tessera_mesh_plan* other = nullptr;
  const std::vector<int> statuses = {
      tessera_mesh_plan_make(nullptr, &partition, nullptr, &other),
      tessera_mesh_plan_make(&mesh, nullptr, nullptr, &other),
      tessera_mesh_plan_make(&mesh, &partition, nullptr, nullptr),
      tessera_mesh_plan_divide(nullptr, 2, nullptr, &other),
      tessera_mesh_plan_files(nullptr, nullptr, 2, nullptr, &other),
      tessera_mesh_plan_files("mesh", "", 2, nullptr, &other),
      tessera_mesh_plan_save(nullptr, "plan"),
      tessera_mesh_plan_save(plan.handle, nullptr),
      tessera_mesh_plan_load("", nullptr, &other),
      tessera_mesh_plan_facts(nullptr, &facts),
      tessera_mesh_plan_facts(plan.handle, nullptr),
      tessera_mesh_share(nullptr, 0, nullptr, 0, &count),
      tessera_mesh_share(plan.handle, 0, nullptr, 0, nullptr),
      tessera_mesh_share(plan.handle, 0, nullptr, 1, &count),
      tessera_mesh_share(plan.handle, -1, nullptr, 0, &count),
      tessera_mesh_nodes(plan.handle, 2, nullptr, 0, &count),
      tessera_mesh_held(plan.handle, INT_MIN, nullptr, 0, &count),
      tessera_mesh_parts(nullptr, nullptr, 0, &count),
      tessera_mesh_intervals(nullptr, nullptr, 0, &count),
      tessera_mesh_intervals(&no_nodes, nullptr, 0, &count),
      tessera_mesh_share_within(plan.handle, 0, nullptr, nullptr, 0, &count),
      tessera_mesh_blocks(nullptr, nullptr, 0, nullptr, nullptr),
      tessera_mesh_blocks(&record, &interval, 1, nullptr, nullptr),
  };
  for (size_t i = 0; i < statuses.size(); ++i) EXPECT_EQ(statuses[i], TESSERA_MESH_INVALID) << i;
  EXPECT_EQ(other, nullptr);
  tessera_mesh_plan_free(nullptr);
  EXPECT_STRNE(tessera_mesh_error(), "");
  EXPECT_EQ(plan.facts().nodes, 4);
  EXPECT_STREQ(tessera_mesh_error(), "");
}

}  // namespace
}  // namespace tessera::capi
