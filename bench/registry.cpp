#include "bench/atomic_bench.hpp"
#include "bench/bench.hpp"
#include "bench/copy_bench.hpp"
#include "bench/halo_bench.hpp"
#include "bench/index_bench.hpp"
#include "bench/join_bench.hpp"
#include "bench/lock_bench.hpp"
#include "bench/lock_counts.hpp"
#include "bench/lock_mode_bench.hpp"
#include "bench/mesh_bench.hpp"
#include "bench/mesh_plan_bench.hpp"
#include "bench/mpiio_bench.hpp"
#include "bench/mpiio_resource_bench.hpp"
#include "bench/object_file_bench.hpp"
#include "bench/object_map_bench.hpp"
#include "bench/overlap_bench.hpp"
#include "bench/price_bench.hpp"
#include "bench/remap_bench.hpp"
#include "bench/slow_bench.hpp"
#include "bench/translate_bench.hpp"
#include "bench/wall_bench.hpp"

namespace tessera::bench {

namespace {

std::vector<CaseMaker> pattern_cases() {
  std::vector<CaseMaker> cases;
  for (const auto& make_group : {wall_cases, overlap_cases, join_cases, index_cases, copy_cases}) {
    for (CaseMaker& maker : make_group()) cases.push_back(std::move(maker));
  }
  return cases;
}

std::vector<CaseMaker> all_lock_cases() {
  std::vector<CaseMaker> cases;
  for (const auto& make_group : {lock_count_cases, lock_cases, lock_mode_cases, atomic_cases}) {
    for (CaseMaker& maker : make_group()) cases.push_back(std::move(maker));
  }
  return cases;
}

std::vector<CaseMaker> all_mpiio_cases() {
  const auto pool = std::make_shared<MpiPool>();
  std::vector<CaseMaker> cases;
  for (const auto& make_group : {mpiio_cases, mpiio_memory_cases, mpiio_overlap_cases}) {
    for (CaseMaker& maker : make_group(pool)) cases.push_back(std::move(maker));
  }
  return cases;
}

std::vector<CaseMaker> all_object_cases() {
  std::vector<CaseMaker> cases;
  for (const auto& make_group : {object_map_cases, object_file_cases, slow_cases, remap_cases,
                                 price_cases, translate_cases}) {
    for (CaseMaker& maker : make_group()) cases.push_back(std::move(maker));
  }
  return cases;
}

std::vector<CaseMaker> all_mesh_cases() {
  const auto pool = std::make_shared<MpiPool>();
  const auto shares = std::make_shared<MeshShares>(pool);
  std::vector<CaseMaker> cases = mesh_plan_cases(pool, shares);
  for (CaseMaker& maker : mesh_write_cases(pool, shares)) cases.push_back(std::move(maker));
  for (CaseMaker& maker : halo_cases(pool)) cases.push_back(std::move(maker));
  return cases;
}

}  // namespace

const std::vector<Bench>& all_benches() {
  static const std::vector<Bench> benches = {
      {"pattern", "patterns and objects: encoding, overlap, join, object sets, index, copying",
       pattern_cases},
      {"mpiio", "MPI-IO of unchanged programs: against OMPIO and ROMIO in Open MPI, ROMIO in MPICH",
       all_mpiio_cases, kMpiioMeanBar, true},
      {"locks", "list locks: counts, the table, the service, what atomic mode costs, against stock",
       all_lock_cases},
      {"objects",
       "object files: maps, tiles, checkpoints, sharing, against plain files; remapping against cp",
       all_object_cases,
       {},
       true},
      {"mesh",
       "meshes and halos: who writes what several ranks hold, against stock; how plans are made",
       all_mesh_cases, kMeshMeanBar, true},
  };
  return benches;
}

}  // namespace tessera::bench
