// The functions of tessera_mesh.h. No exception leaves them.
#include <tessera_mesh.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "tessera/capi/answer.hpp"
#include "tessera/capi/mesh_input.hpp"
#include "tessera/capi/mesh_plan.hpp"

struct tessera_mesh_plan {
  tessera::capi::MeshPlan plan;
};

namespace tessera::capi {

namespace {

using base::Code;
using base::Result;

int status_of(Code code) {
  switch (code) {
    case Code::kInvalid:
    case Code::kTooComplex:
      return TESSERA_MESH_INVALID;
    case Code::kNotFound:
      return TESSERA_MESH_NOT_FOUND;
    case Code::kIntegrity:
      return TESSERA_MESH_STALE;
    case Code::kFailed:
    case Code::kRetry:
    case Code::kDenied:
      return TESSERA_MESH_FAILED;
  }
  return TESSERA_MESH_FAILED;
}

template <typename Call>
int answer(Call call) noexcept {
  return answer_with(status_of, call);
}

// Puts what a call makes in its place, which is null where it fails.
template <typename Make>
int answer_plan(tessera_mesh_plan** place, Make make) {
  return answer([&]() -> Result<void> {
    if (place == nullptr) return base::fail(Code::kInvalid, "there is no place for the plan");
    *place = nullptr;
    TESSERA_TRY(MeshPlan made, make());
    *place = new tessera_mesh_plan{std::move(made)};
    return {};
  });
}

template <typename Entry>
struct Array {
  Entry* entries;
  size_t capacity;
  size_t* count;
};

// Fills the array of a caller with as much as it takes.
template <typename Entry, typename Make>
int answer_array(const Array<Entry>& array, Make make) {
  return answer([&]() -> Result<void> {
    if (array.count == nullptr) return base::fail(Code::kInvalid, "there is no place for a count");
    *array.count = 0;
    if (array.entries == nullptr && array.capacity > 0) {
      return base::fail(Code::kInvalid, "there is no array");
    }
    TESSERA_TRY(const auto made, make());
    std::copy_n(made.begin(), std::min(made.size(), array.capacity), array.entries);
    *array.count = made.size();
    return {};
  });
}

Result<const MeshPlan*> plan_of(const tessera_mesh_plan* handle) {
  if (handle == nullptr) return base::fail(Code::kInvalid, "there is no plan");
  return &handle->plan;
}

Result<std::string> path_of(const char* path, const char* what) {
  if (path == nullptr || *path == '\0') {
    return base::fail(Code::kInvalid, std::string(what) + " has no name");
  }
  return std::string(path);
}

Result<tessera_mesh_facts> facts_of(const MeshPlan& plan) {
  const owner::WriterMetrics metrics = owner::measure(plan.writers());
  return tessera_mesh_facts{.parts = metrics.processes,
                            .nodes = metrics.items,
                            .intervals = metrics.intervals,
                            .average_length = metrics.average_length,
                            .imbalance = metrics.imbalance};
}

Result<Intervals> share_within(const tessera_mesh_plan* handle, int part,
                               const tessera_mesh_node_list* held) {
  TESSERA_TRY(const MeshPlan* const plan, plan_of(handle));
  TESSERA_TRY(const auto nodes, nodes_of(held));
  TESSERA_TRY(const Intervals share, plan->share(part));
  return places_within(share, nodes);
}

}  // namespace

}  // namespace tessera::capi

using namespace tessera;
using base::Code;
using base::Result;
using capi::MeshPlan;

int tessera_mesh_plan_make(const tessera_mesh_elements* mesh,
                           const tessera_mesh_partition* partition,
                           const tessera_mesh_options* options, tessera_mesh_plan** plan) {
  return capi::answer_plan(plan, [&]() -> Result<MeshPlan> {
    TESSERA_TRY(const auto chosen, capi::options_of(options));
    TESSERA_TRY(const auto parts, capi::partition_of(partition));
    TESSERA_TRY(auto sharing, capi::sharing_of(mesh, parts));
    return MeshPlan::make(std::move(sharing), parts, chosen);
  });
}

int tessera_mesh_plan_divide(const tessera_mesh_elements* mesh, int parts,
                             const tessera_mesh_options* options, tessera_mesh_plan** plan) {
  return capi::answer_plan(plan, [&]() -> Result<MeshPlan> {
    TESSERA_TRY(const auto chosen, capi::options_of(options));
    TESSERA_TRY(const auto elements, capi::mesh_of(mesh));
    return MeshPlan::divide(elements, parts, chosen);
  });
}

int tessera_mesh_plan_files(const char* mesh_path, const char* partition_path, int parts,
                            const tessera_mesh_options* options, tessera_mesh_plan** plan) {
  return capi::answer_plan(plan, [&]() -> Result<MeshPlan> {
    TESSERA_TRY(const auto chosen, capi::options_of(options));
    TESSERA_TRY(const auto mesh_name, capi::path_of(mesh_path, "the mesh"));
    if (partition_path == nullptr) return capi::plan_files(mesh_name, "", parts, chosen);
    TESSERA_TRY(const auto partition_name, capi::path_of(partition_path, "the partition"));
    return capi::plan_files(mesh_name, partition_name, parts, chosen);
  });
}

int tessera_mesh_plan_save(const tessera_mesh_plan* plan, const char* path) {
  return capi::answer([&]() -> Result<void> {
    TESSERA_TRY(const MeshPlan* const known, capi::plan_of(plan));
    TESSERA_TRY(const auto name, capi::path_of(path, "the file of the plan"));
    return known->save(name);
  });
}

int tessera_mesh_plan_load(const char* path, const tessera_mesh_partition* partition,
                           tessera_mesh_plan** plan) {
  return capi::answer_plan(plan, [&]() -> Result<MeshPlan> {
    TESSERA_TRY(const auto name, capi::path_of(path, "the file of the plan"));
    if (partition == nullptr) return MeshPlan::load(name, std::nullopt);
    TESSERA_TRY(auto parts, capi::partition_of(partition));
    return MeshPlan::load(name, std::move(parts));
  });
}

void tessera_mesh_plan_free(tessera_mesh_plan* plan) { delete plan; }

int tessera_mesh_plan_facts(const tessera_mesh_plan* plan, tessera_mesh_facts* facts) {
  return capi::answer([&]() -> Result<void> {
    TESSERA_TRY(const MeshPlan* const known, capi::plan_of(plan));
    if (facts == nullptr) return base::fail(Code::kInvalid, "there is no place for the facts");
    TESSERA_TRY(*facts, capi::facts_of(*known));
    return {};
  });
}

int tessera_mesh_plan_fits(const tessera_mesh_plan* plan, int parts) {
  return capi::answer([&]() -> Result<void> {
    TESSERA_TRY(const MeshPlan* const known, capi::plan_of(plan));
    return known->check_parts(parts);
  });
}

int tessera_mesh_share(const tessera_mesh_plan* plan, int part, tessera_mesh_interval* intervals,
                       size_t capacity, size_t* count) {
  const capi::Array<tessera_mesh_interval> array{intervals, capacity, count};
  return capi::answer_array(array, [&]() -> Result<capi::Intervals> {
    TESSERA_TRY(const MeshPlan* const known, capi::plan_of(plan));
    return known->share(part);
  });
}

int tessera_mesh_nodes(const tessera_mesh_plan* plan, int part, int64_t* nodes, size_t capacity,
                       size_t* count) {
  const capi::Array<int64_t> array{nodes, capacity, count};
  return capi::answer_array(array, [&]() -> Result<std::vector<int64_t>> {
    TESSERA_TRY(const MeshPlan* const known, capi::plan_of(plan));
    return known->nodes(part);
  });
}

int tessera_mesh_held(const tessera_mesh_plan* plan, int part, int64_t* nodes, size_t capacity,
                      size_t* count) {
  const capi::Array<int64_t> array{nodes, capacity, count};
  return capi::answer_array(array, [&]() -> Result<std::vector<int64_t>> {
    TESSERA_TRY(const MeshPlan* const known, capi::plan_of(plan));
    return known->held(part);
  });
}

int tessera_mesh_parts(const tessera_mesh_plan* plan, int32_t* part_of, size_t capacity,
                       size_t* count) {
  const capi::Array<int32_t> array{part_of, capacity, count};
  return capi::answer_array(array, [&]() -> Result<std::vector<int32_t>> {
    TESSERA_TRY(const MeshPlan* const known, capi::plan_of(plan));
    return known->part_of();
  });
}

int tessera_mesh_intervals(const tessera_mesh_node_list* list, tessera_mesh_interval* intervals,
                           size_t capacity, size_t* count) {
  const capi::Array<tessera_mesh_interval> array{intervals, capacity, count};
  return capi::answer_array(array, [&]() -> Result<capi::Intervals> {
    TESSERA_TRY(const auto nodes, capi::nodes_of(list));
    return capi::intervals_of(nodes);
  });
}

int tessera_mesh_share_within(const tessera_mesh_plan* plan, int part,
                              const tessera_mesh_node_list* held, tessera_mesh_interval* intervals,
                              size_t capacity, size_t* count) {
  const capi::Array<tessera_mesh_interval> array{intervals, capacity, count};
  return capi::answer_array(array, [&] { return capi::share_within(plan, part, held); });
}

int tessera_mesh_blocks(const tessera_mesh_record* record, const tessera_mesh_interval* intervals,
                        size_t count, int* lengths, int64_t* offsets) {
  return capi::answer([&]() -> Result<void> {
    if (record == nullptr) return base::fail(Code::kInvalid, "there is no record");
    if (count > 0 && (intervals == nullptr || lengths == nullptr || offsets == nullptr)) {
      return base::fail(Code::kInvalid, "there are no arrays");
    }
    TESSERA_TRY(const auto made, capi::blocks_of(*record, {intervals, count}));
    std::copy(made.lengths.begin(), made.lengths.end(), lengths);
    std::copy(made.offsets.begin(), made.offsets.end(), offsets);
    return {};
  });
}

const char* tessera_mesh_error(void) { return capi::last_error().c_str(); }
