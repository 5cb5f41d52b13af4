// The datatypes of tessera_mesh_mpi.h against an obvious oracle: the elements of every node that a
// part writes, one by one, packed by MPI.
#include <gtest/gtest.h>
#include <mpi.h>
#include <tessera_mesh.h>
#include <tessera_mesh_mpi.h>

#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "tessera/port/seeded_random.hpp"
#include "tessera/port/test_seed.hpp"

namespace {

using Nodes = std::vector<int64_t>;
using Elements = std::vector<int32_t>;

constexpr int kRecords = 2;

// A plan of random elements and parts, some of which have no node.
class RandomPlan {
 public:
  explicit RandomPlan(tessera::port::Random& random)
      : nodes_(static_cast<int64_t>(random.uniform(20))), parts_(1 + int(random.uniform(5))) {
    std::vector<int32_t> part_of;
    for (int64_t i = 0; i < nodes_; ++i) part_of.push_back(int32_t(random.uniform(parts())));
    std::vector<int64_t> begins = {0};
    std::vector<int32_t> corners;
    for (uint64_t i = nodes_ > 0 ? random.uniform(12) : 0; i > 0; --i) {
      for (uint64_t k = random.uniform(4); k > 0; --k) {
        corners.push_back(int32_t(random.uniform(static_cast<uint64_t>(nodes_))));
      }
      begins.push_back(std::ssize(corners));
    }
    const tessera_mesh_elements mesh = {nodes_, std::ssize(begins) - 1, begins.data(),
                                        corners.data()};
    const tessera_mesh_partition partition = {nodes_, parts_, part_of.data()};
    EXPECT_EQ(tessera_mesh_plan_make(&mesh, &partition, nullptr, &plan_), TESSERA_MESH_OK)
        << tessera_mesh_error();
  }
  ~RandomPlan() { tessera_mesh_plan_free(plan_); }
  RandomPlan(const RandomPlan&) = delete;
  RandomPlan& operator=(const RandomPlan&) = delete;

  [[nodiscard]] const tessera_mesh_plan* get() const { return plan_; }
  [[nodiscard]] int64_t nodes() const { return nodes_; }
  [[nodiscard]] uint64_t parts() const { return static_cast<uint64_t>(parts_); }

  [[nodiscard]] Nodes written(int part) const { return list(part, tessera_mesh_nodes); }
  [[nodiscard]] Nodes held(int part) const { return list(part, tessera_mesh_held); }

 private:
  template <typename Function>
  [[nodiscard]] Nodes list(int part, Function function) const {
    size_t count = 0;
    EXPECT_EQ(function(plan_, part, nullptr, 0, &count), TESSERA_MESH_OK);
    Nodes nodes(count);
    EXPECT_EQ(function(plan_, part, nodes.data(), count, &count), TESSERA_MESH_OK);
    return nodes;
  }

  int64_t nodes_;
  int parts_;
  tessera_mesh_plan* plan_ = nullptr;
};

// What a type picks out of records whose elements have their own numbers. Frees the type.
Elements picked(MPI_Datatype type, int64_t record_elements) {
  // One more of each, since MPI refuses memory that is nowhere.
  Elements records(static_cast<size_t>(record_elements * kRecords) + 1);
  std::iota(records.begin(), records.end(), 0);
  int bytes = 0;
  EXPECT_EQ(MPI_Type_size(type, &bytes), MPI_SUCCESS);
  Elements found(static_cast<size_t>(bytes) * kRecords / sizeof(int32_t) + 1);
  int position = 0;
  EXPECT_EQ(MPI_Pack(records.data(), kRecords, type, found.data(), bytes * kRecords, &position,
                     MPI_COMM_WORLD),
            MPI_SUCCESS);
  EXPECT_EQ(position, bytes * kRecords);
  EXPECT_EQ(MPI_Type_free(&type), MPI_SUCCESS);
  found.pop_back();
  return found;
}

// The elements of nodes at some places of each record.
Elements expected(const Nodes& places, int64_t record_nodes, int load) {
  Elements elements;
  for (int64_t record = 0; record < kRecords; ++record) {
    for (const int64_t place : places) {
      for (int i = 0; i < load; ++i) {
        elements.push_back(int32_t((record * record_nodes + place) * load + i));
      }
    }
  }
  return elements;
}

// Where nodes are in a list.
Nodes places_in(const Nodes& list, const Nodes& nodes) {
  Nodes places;
  for (size_t i = 0; i < list.size(); ++i) {
    if (std::find(nodes.begin(), nodes.end(), list[i]) != nodes.end()) {
      places.push_back(static_cast<int64_t>(i));
    }
  }
  return places;
}

void expect_types(const RandomPlan& plan, int part, int load) {
  const Nodes written = plan.written(part);
  const Nodes held = plan.held(part);
  const tessera_mesh_node_list list = {held.data(), held.size()};
  MPI_Datatype type = MPI_DATATYPE_NULL;
  ASSERT_EQ(tessera_mesh_file_type(plan.get(), part, load, MPI_INT32_T, &type), TESSERA_MESH_OK);
  EXPECT_EQ(picked(type, plan.nodes() * load), expected(written, plan.nodes(), load));
  ASSERT_EQ(tessera_mesh_memory_type(plan.get(), part, &list, load, MPI_INT32_T, &type),
            TESSERA_MESH_OK);
  EXPECT_EQ(picked(type, std::ssize(held) * load),
            expected(places_in(held, written), std::ssize(held), load));
  ASSERT_EQ(tessera_mesh_node_type(&list, plan.nodes(), load, MPI_INT32_T, &type), TESSERA_MESH_OK);
  EXPECT_EQ(picked(type, plan.nodes() * load), expected(held, plan.nodes(), load));
}

TEST(MeshTypes, PickTheNodesOfThePlan) {
  const uint64_t seed = tessera::port::test_seed();
  SCOPED_TRACE("TESSERA_SEED=" + std::to_string(seed));
  tessera::port::SeededRandom random(seed);
  for (int round = 0; round < 300 && !testing::Test::HasFailure(); ++round) {
    const RandomPlan plan(random);
    for (uint64_t part = 0; part < plan.parts(); ++part) {
      expect_types(plan, int(part), 1 + int(random.uniform(3)));
    }
  }
}

// Elements with a hole at their end: places are counted in extents, and the hole is not picked.
TEST(MeshTypes, ElementsMayHaveHoles) {
  const std::vector<int32_t> part_of = {0, 1, 0, 1};
  const tessera_mesh_elements mesh = {4, 0, nullptr, nullptr};
  const tessera_mesh_partition partition = {4, 2, part_of.data()};
  tessera_mesh_plan* plan = nullptr;
  ASSERT_EQ(tessera_mesh_plan_make(&mesh, &partition, nullptr, &plan), TESSERA_MESH_OK);
  MPI_Datatype element = MPI_DATATYPE_NULL;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_create_resized(MPI_INT32_T, 0, 2 * sizeof(int32_t), &element);
  ASSERT_EQ(tessera_mesh_file_type(plan, 1, 1, element, &type), TESSERA_MESH_OK);
  EXPECT_EQ(picked(type, 8), (Elements{2, 6, 10, 14}));
  MPI_Type_free(&element);
  tessera_mesh_plan_free(plan);
}

TEST(MeshTypes, WhatMakesNoSenseIsRefused) {
  tessera::port::SeededRandom random(1);
  const RandomPlan plan(random);
  const auto file_type = [&](int part, int load) {
    MPI_Datatype type = MPI_DATATYPE_NULL;
    const int status = tessera_mesh_file_type(plan.get(), part, load, MPI_DOUBLE, &type);
    EXPECT_EQ(type, MPI_DATATYPE_NULL);
    return status;
  };
  EXPECT_EQ(file_type(0, 0), TESSERA_MESH_INVALID);
  EXPECT_STRNE(tessera_mesh_error(), "");
  EXPECT_EQ(file_type(-1, 1), TESSERA_MESH_INVALID);
  EXPECT_EQ(file_type(int(plan.parts()), 1), TESSERA_MESH_INVALID);
  MPI_Datatype type = MPI_DATATYPE_NULL;
  EXPECT_EQ(tessera_mesh_file_type(nullptr, 0, 1, MPI_DOUBLE, &type), TESSERA_MESH_INVALID);
  const Nodes unsorted = {1, 0};
  const tessera_mesh_node_list list = {unsorted.data(), unsorted.size()};
  EXPECT_EQ(tessera_mesh_node_type(&list, 2, 1, MPI_DOUBLE, &type), TESSERA_MESH_INVALID);
  EXPECT_EQ(tessera_mesh_memory_type(plan.get(), 0, &list, 1, MPI_DOUBLE, &type),
            TESSERA_MESH_INVALID);
}

}  // namespace
