#include "tessera/cli/mesh_plan_command.hpp"

#include <fmt/core.h>

#include <utility>
#include <vector>

#include "tessera/base/bytes.hpp"
#include "tessera/cli/file_kind.hpp"
#include "tessera/cli/files.hpp"
#include "tessera/cli/mesh_model.hpp"
#include "tessera/cli/mesh_page.hpp"
#include "tessera/cli/mesh_text.hpp"
#include "tessera/cli/output_file.hpp"
#include "tessera/cli/separate_files.hpp"
#include "tessera/mesh/classify.hpp"
#include "tessera/mesh/fingerprint.hpp"
#include "tessera/owner/writers_codec.hpp"
#include "tessera/port/posix_clock.hpp"

namespace tessera::cli {

using base::Code;
using base::fail;
using base::Result;
using owner::Policy;

namespace {

// What the words of the options mean.
struct Wanted {
  std::vector<Policy> policies;
  mesh::Order order = mesh::Order::kFile;
};

// Seconds since it was asked last.
class Stopwatch {
 public:
  double lap_s() {
    const int64_t now_ns = clock_.now_ns();
    return static_cast<double>(now_ns - std::exchange(begin_ns_, now_ns)) * 1e-9;
  }

 private:
  port::PosixClock clock_;
  int64_t begin_ns_ = clock_.now_ns();
};

Result<void> check_files(const MeshPlanOptions& options) {
  const NamedFile read[] = {{"MESH", options.path}, {"--partition", options.partition.path}};
  const NamedFile written[] = {{"--write-partition", options.write_partition_path},
                               {"--save", options.save_path},
                               {"--html", options.html_path}};
  return check_separate(read, written);
}

// Before the mesh is read, which can take minutes.
Result<void> check_outputs(const MeshPlanOptions& options) {
  const std::pair<const std::string&, OutputKind> written[] = {
      {options.write_partition_path, OutputKind::kPartition},
      {options.save_path, OutputKind::kPlan},
      {options.html_path, OutputKind::kPage}};
  for (const auto& [path, kind] : written) {
    if (!path.empty()) TESSERA_TRY_VOID(check_output(path, kind));
  }
  return {};
}

Result<Wanted> wanted_of(const MeshPlanOptions& options) {
  Wanted wanted;
  TESSERA_TRY(wanted.order, mesh::parse_order(options.order));
  if (options.policy == "all") {
    const auto all = owner::all_policies();
    wanted.policies.assign(all.begin(), all.end());
  } else {
    TESSERA_TRY(const Policy policy, owner::parse_policy(options.policy));
    wanted.policies = {policy};
  }
  if (!options.partition.is_given()) {
    return fail(Code::kInvalid,
                "name the number of parts with --parts, or a partition file with "
                "--partition");
  }
  if (!options.save_path.empty() && wanted.policies.size() > 1) {
    return fail(Code::kInvalid, "--save takes the plan of one --policy");
  }
  const bool writes = !options.save_path.empty() || !options.write_partition_path.empty();
  if (writes && wanted.order != mesh::Order::kFile) {
    return fail(Code::kInvalid,
                fmt::format("what is saved is for the mesh as its file has it; renumber that first "
                            "(tessera mesh renumber MESH OUT --order {})",
                            options.order));
  }
  TESSERA_TRY_VOID(check_files(options));
  return wanted;
}

// Reads all, so that the nodes can be put into another order or METIS can partition them.
Result<mesh::ClassifiedMesh> classify_in_memory(port::PlainFile& file,
                                                const MeshPlanOptions& options, mesh::Order order,
                                                MeshPlanFacts& facts) {
  Stopwatch watch;
  TESSERA_TRY(mesh::LoadedMesh read, read_mesh(file));
  facts.stages_s.emplace_back("read", watch.lap_s());
  TESSERA_TRY(mesh::Partition partition, find_partition(read.mesh, options.partition));
  facts.stages_s.emplace_back("partition", watch.lap_s());
  if (order != mesh::Order::kFile) {
    TESSERA_TRY(const auto numbers, mesh::order_nodes(read.mesh, order, &partition));
    read.mesh = mesh::renumbered(read.mesh, numbers);
    partition = mesh::renumbered(partition, numbers);
    facts.stages_s.emplace_back("order", watch.lap_s());
  }
  auto sharing = mesh::classify(read.mesh, partition);
  facts.stages_s.emplace_back("classify", watch.lap_s());
  return mesh::ClassifiedMesh{
      .facts = read.facts, .partition = std::move(partition), .sharing = std::move(sharing)};
}

Result<mesh::ClassifiedMesh> classify_file(const MeshPlanOptions& options, mesh::Order order,
                                           MeshPlanFacts& facts) {
  TESSERA_TRY(const auto file, open_regular(options.path, port::Access::kRead));
  if (order != mesh::Order::kFile || options.partition.path.empty()) {
    return classify_in_memory(*file, options, order, facts);
  }
  Stopwatch watch;
  TESSERA_TRY(auto classified, read_classified(*file, options.partition));
  facts.stages_s.emplace_back("read and classify", watch.lap_s());
  return classified;
}

void tell(MeshPlanFacts& facts, const MeshPlanOptions& options, const mesh::ClassifiedMesh& mesh) {
  facts.path = options.path;
  facts.mesh = mesh.facts;
  facts.parts = mesh.partition.parts;
  facts.partition_path = options.partition.path;
  facts.seed = options.partition.seed;
  facts.fingerprint = mesh::fingerprint(mesh.partition);
  facts.shared_nodes = mesh.sharing.shared_items();
  facts.replicas = mesh.sharing.replicas();
  facts.replication_percent = owner::replication_percent(mesh.sharing);
}

// A bound that balanced cannot keep is a fact of the mesh; all else is an error.
Result<PlannedPolicy> plan(const owner::Sharing& sharing, const owner::PolicyOptions& options) {
  PlannedPolicy planned;
  planned.policy = options.policy;
  Stopwatch watch;
  auto writers = owner::choose_writers(sharing, options);
  planned.seconds = watch.lap_s();
  if (!writers && writers.error().code != Code::kNotFound) return base::failure_of(writers);
  if (!writers) {
    planned.failure = writers.error().message();
    return planned;
  }
  planned.metrics = owner::measure(*writers);
  planned.writers = *std::move(writers);
  return planned;
}

Result<void> plan_all(MeshPlanFacts& facts, const MeshPlanOptions& options,
                      const std::vector<Policy>& policies, const owner::Sharing& sharing) {
  double seconds = 0;
  for (const Policy policy : policies) {
    TESSERA_TRY(PlannedPolicy planned, plan(sharing, {.policy = policy,
                                                      .seed = options.partition.seed,
                                                      .max_imbalance = options.max_imbalance}));
    if (!planned.writers && policies.size() == 1) return fail(Code::kNotFound, planned.failure);
    seconds += planned.seconds;
    if (policy == Policy::kOptimal) facts.optimal_intervals = planned.metrics.intervals;
    facts.planned.push_back(std::move(planned));
  }
  facts.stages_s.emplace_back(policies.size() == 1 ? "plan" : "plans", seconds);
  if (facts.optimal_intervals == 0) {
    TESSERA_TRY(const PlannedPolicy optimal, plan(sharing, {.policy = Policy::kOptimal}));
    facts.optimal_intervals = optimal.metrics.intervals;
  }
  return {};
}

Result<void> save_plan(const MeshPlanOptions& options, const MeshPlanFacts& facts) {
  const PlannedPolicy& planned = facts.planned.front();
  TESSERA_TRY(const base::Bytes bytes,
              owner::encode_plan({.policy = std::string(owner::policy_name(planned.policy)),
                                  .fingerprint = facts.fingerprint,
                                  .label = options.path,
                                  .writers = *planned.writers}));
  TESSERA_TRY(auto output, OutputFile::create(options.save_path, {.own = OutputKind::kPlan}));
  TESSERA_TRY_VOID(output.file().write_at(0, bytes).status);
  return output.finish();
}

Result<std::string> write_files(const MeshPlanOptions& options, const MeshPlanFacts& facts,
                                const mesh::Partition& partition) {
  std::string written;
  if (!options.write_partition_path.empty()) {
    TESSERA_TRY_VOID(save_partition(options.write_partition_path, partition));
    written += fmt::format("partition: {}\n", options.write_partition_path);
  }
  if (!options.save_path.empty()) {
    TESSERA_TRY_VOID(save_plan(options, facts));
    written += fmt::format("plan: {}\n", options.save_path);
  }
  if (!options.html_path.empty()) {
    TESSERA_TRY_VOID(write_whole(options.html_path, mesh_plan_page(facts), OutputKind::kPage));
    written += fmt::format("page: {}\n", options.html_path);
  }
  return written;
}

}  // namespace

Result<std::string> mesh_plan_output(const MeshPlanOptions& options) {
  TESSERA_TRY(const Wanted wanted, wanted_of(options));
  TESSERA_TRY_VOID(check_outputs(options));
  MeshPlanFacts facts;
  facts.order = wanted.order;
  TESSERA_TRY(const mesh::ClassifiedMesh mesh, classify_file(options, wanted.order, facts));
  tell(facts, options, mesh);
  TESSERA_TRY_VOID(plan_all(facts, options, wanted.policies, mesh.sharing));
  TESSERA_TRY(const std::string written, write_files(options, facts, mesh.partition));
  if (options.json) return mesh_plan_json(facts);
  return mesh_plan_text(facts) + (written.empty() ? "" : "\n" + written);
}

ExitCode run_mesh_plan(const MeshPlanOptions& options) {
  if (const auto wanted = wanted_of(options); !wanted) {
    return report_usage(wanted.error().message() + " (see tessera mesh plan --help)", options.json);
  }
  const auto output = mesh_plan_output(options);
  if (!output) return report(output.error(), options.json);
  fmt::print("{}", *output);
  return ExitCode::kOk;
}

}  // namespace tessera::cli
