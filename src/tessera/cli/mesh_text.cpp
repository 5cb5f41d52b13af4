#include "tessera/cli/mesh_text.hpp"

#include <fmt/core.h>

#include "tessera/base/json_writer.hpp"
#include "tessera/cli/numbers.hpp"

namespace tessera::cli {

using Align = Table::Align;
using base::JsonWriter;
using Layout = JsonWriter::Layout;

namespace {

std::string name_of(const PlannedPolicy& planned) {
  return std::string(owner::policy_name(planned.policy));
}

double per_process(const owner::WriterMetrics& metrics) {
  return static_cast<double>(metrics.intervals) / metrics.processes;
}

double of_optimal(const MeshPlanFacts& facts, const owner::WriterMetrics& metrics) {
  if (facts.optimal_intervals == 0) return 1;
  return static_cast<double>(metrics.intervals) / static_cast<double>(facts.optimal_intervals);
}

std::string seconds_text(double seconds) { return duration_text(seconds * 1e9); }

std::string stages_text(const MeshPlanFacts& facts) {
  std::string text;
  for (const auto& [stage, seconds] : facts.stages_s) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", stage, seconds_text(seconds));
  }
  return text;
}

void write_numbers(JsonWriter& writer, const char* name, const std::vector<int64_t>& numbers) {
  writer.key(name).begin_array(Layout::kOneLine);
  for (const int64_t number : numbers) writer.value(number);
  writer.end_array();
}

void write_policy(JsonWriter& writer, const MeshPlanFacts& facts, const PlannedPolicy& planned) {
  const owner::WriterMetrics& metrics = planned.metrics;
  writer.begin_object().member("policy", name_of(planned)).member("seconds", planned.seconds);
  if (!planned.writers) {
    writer.member("failure", planned.failure).end_object();
    return;
  }
  writer.member("intervals", metrics.intervals);
  writer.member("intervals_per_process", per_process(metrics));
  writer.member("average_length", metrics.average_length);
  writer.member("imbalance", metrics.imbalance);
  writer.member("of_optimal", of_optimal(facts, metrics));
  write_numbers(writer, "intervals_of", metrics.intervals_of);
  write_numbers(writer, "nodes_of", metrics.items_of);
  writer.end_object();
}

}  // namespace

std::string mesh_line(const MeshPlanFacts& facts) {
  return fmt::format("{} and {} ({}), {}", counted(facts.mesh.nodes, "node"),
                     counted(facts.mesh.elements, "element"), mesh::format_name(facts.mesh.format),
                     facts.order == mesh::Order::kFile
                         ? "in the order of the file"
                         : fmt::format("in the order {}", mesh::order_name(facts.order)));
}

std::string partition_line(const MeshPlanFacts& facts) {
  const std::string parts = counted(facts.parts, "part");
  if (!facts.partition_path.empty()) return fmt::format("{}, {}", parts, facts.partition_path);
  return fmt::format("{}, made by METIS with seed {}", parts, facts.seed);
}

Table mesh_policy_table(const MeshPlanFacts& facts) {
  Table table({{"policy", Align::kLeft},
               {"intervals", Align::kRight},
               {"a process", Align::kRight},
               {"average length", Align::kRight},
               {"LB", Align::kRight},
               {"of optimal", Align::kRight},
               {"planned in", Align::kRight}});
  for (const PlannedPolicy& planned : facts.planned) {
    const owner::WriterMetrics& metrics = planned.metrics;
    if (!planned.writers) {
      table.add({name_of(planned), "none", "", "", "", "", seconds_text(planned.seconds)});
      continue;
    }
    table.add({name_of(planned), with_commas(metrics.intervals),
               fmt::format("{:.1f}", per_process(metrics)),
               fmt::format("{:.1f}", metrics.average_length),
               fmt::format("{:.3f}", metrics.imbalance),
               fmt::format("{:.3f}x", of_optimal(facts, metrics)), seconds_text(planned.seconds)});
  }
  return table;
}

std::string mesh_plan_text(const MeshPlanFacts& facts) {
  std::string text = fmt::format("{}: {}\n", facts.path, mesh_line(facts));
  text += fmt::format("  partition    {}\n", partition_line(facts));
  text += fmt::format("  shared       {} ({:.1f}%), {} with all copies\n",
                      counted(facts.shared_nodes, "node"), facts.replication_percent,
                      with_commas(facts.replicas));
  text += fmt::format("  time         {}\n\n", stages_text(facts));
  text += mesh_policy_table(facts).text();
  for (const PlannedPolicy& planned : facts.planned) {
    if (!planned.writers) text += fmt::format("\n{}: {}\n", name_of(planned), planned.failure);
  }
  return text;
}

std::string mesh_plan_json(const MeshPlanFacts& facts) {
  JsonWriter writer;
  writer.begin_object().member("mesh", facts.path);
  writer.member("format", mesh::format_name(facts.mesh.format));
  writer.member("nodes", facts.mesh.nodes).member("elements", facts.mesh.elements);
  writer.member("order", mesh::order_name(facts.order)).member("parts", facts.parts);
  if (facts.partition_path.empty()) {
    writer.member("partition", "metis").member("seed", std::to_string(facts.seed));
  } else {
    writer.member("partition", facts.partition_path);
  }
  writer.member("fingerprint", fmt::format("{:016x}", facts.fingerprint));
  writer.member("shared_nodes", facts.shared_nodes).member("replicas", facts.replicas);
  writer.member("replication_percent", facts.replication_percent);
  writer.member("optimal_intervals", facts.optimal_intervals);
  writer.key("policies").begin_array();
  for (const PlannedPolicy& planned : facts.planned) write_policy(writer, facts, planned);
  writer.end_array().key("seconds").begin_object();
  for (const auto& [stage, seconds] : facts.stages_s) writer.member(stage, seconds);
  writer.end_object().end_object();
  return writer.finish();
}

}  // namespace tessera::cli
