#include "tessera/cli/mesh_renumber_command.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <optional>

#include "tessera/base/json_writer.hpp"
#include "tessera/cli/file_kind.hpp"
#include "tessera/cli/numbers.hpp"
#include "tessera/cli/output_file.hpp"
#include "tessera/cli/separate_files.hpp"
#include "tessera/mesh/order.hpp"
#include "tessera/mesh/renumber.hpp"

namespace tessera::cli {

using base::Code;
using base::fail;
using base::Result;

namespace {

// The average difference between the least and the largest number in an element.
double mean_reach(const mesh::Mesh& mesh, std::span<const mesh::Node> numbers) {
  double sum = 0;
  for (int64_t i = 0; i < mesh.elements(); ++i) {
    mesh::Node least = INT32_MAX;
    mesh::Node most = 0;
    for (const mesh::Node node : mesh.element(i)) {
      const mesh::Node number = numbers.empty() ? node : numbers[static_cast<size_t>(node)];
      least = std::min(least, number);
      most = std::max(most, number);
    }
    if (least <= most) sum += most - least;
  }
  return mesh.elements() == 0 ? 0 : sum / static_cast<double>(mesh.elements());
}

struct Renumbered {
  mesh::Order order = mesh::Order::kRcm;
  int64_t nodes = 0;
  double reach_before = 0;
  double reach_after = 0;
};

// With --force a mesh and its partition may each take their own place: they are read whole before.
Result<void> check_files(const MeshRenumberOptions& options) {
  const NamedFile mesh = {"MESH", options.path};
  const NamedFile to = {"OUT", options.to};
  const NamedFile partition = {"--partition", options.partition.path};
  const NamedFile new_partition = {"--write-partition", options.write_partition_path};
  TESSERA_TRY_VOID(check_separate(std::array{mesh, to}, std::array{new_partition}));
  TESSERA_TRY_VOID(check_separate(std::array{partition}, std::array{to}));
  if (options.force) return {};
  return check_separate(std::array{partition}, std::array{new_partition});
}

Result<mesh::Order> order_of(const MeshRenumberOptions& options) {
  TESSERA_TRY(const mesh::Order order, mesh::parse_order(options.order));
  if (order == mesh::Order::kFile) {
    return fail(Code::kInvalid, "the order file is the one that the mesh has");
  }
  const bool needs_partition = order == mesh::Order::kIo || !options.write_partition_path.empty();
  if (needs_partition && !options.partition.is_given()) {
    return fail(Code::kInvalid,
                fmt::format("{} needs a partition: name --parts or --partition",
                            order == mesh::Order::kIo ? "the order io" : "--write-partition"));
  }
  TESSERA_TRY_VOID(check_files(options));
  return order;
}

Result<Renumbered> renumber(const MeshRenumberOptions& options) {
  TESSERA_TRY(const mesh::Order order, order_of(options));
  TESSERA_TRY(const auto from, open_regular(options.path, port::Access::kRead));
  TESSERA_TRY(const mesh::LoadedMesh read, read_mesh(*from));
  std::optional<mesh::Partition> partition;
  if (options.partition.is_given()) {
    TESSERA_TRY(partition, find_partition(read.mesh, options.partition));
  }
  TESSERA_TRY(const auto numbers,
              mesh::order_nodes(read.mesh, order, partition ? &*partition : nullptr));
  TESSERA_TRY(OutputFile to, OutputFile::create(options.to, {.replace = options.force}));
  TESSERA_TRY_VOID(mesh::write_renumbered(*from, to.file(), numbers));
  // A mesh beside the partition of its old order would be taken for a pair, so neither appears
  // unless both could be written.
  if (!options.write_partition_path.empty()) {
    TESSERA_TRY_VOID(
        save_partition(options.write_partition_path, mesh::renumbered(*partition, numbers)));
  }
  TESSERA_TRY_VOID(to.finish());
  return Renumbered{.order = order,
                    .nodes = read.mesh.nodes(),
                    .reach_before = mean_reach(read.mesh, {}),
                    .reach_after = mean_reach(read.mesh, numbers)};
}

std::string as_json(const MeshRenumberOptions& options, const Renumbered& done) {
  base::JsonWriter writer;
  writer.begin_object().member("mesh", options.path).member("to", options.to);
  writer.member("order", mesh::order_name(done.order)).member("nodes", done.nodes);
  writer.member("mean_reach_before", done.reach_before);
  writer.member("mean_reach_after", done.reach_after).end_object();
  return writer.finish();
}

}  // namespace

Result<std::string> mesh_renumber_output(const MeshRenumberOptions& options) {
  TESSERA_TRY(const Renumbered done, renumber(options));
  if (options.json) return as_json(options, done);
  std::string text = fmt::format(
      "{}: {} in the order {}; the numbers in an element lie {:.0f} apart, before {:.0f}\n",
      options.to, counted(done.nodes, "node"), mesh::order_name(done.order), done.reach_after,
      done.reach_before);
  if (!options.write_partition_path.empty()) {
    text += fmt::format("partition: {}\n", options.write_partition_path);
  }
  return text;
}

ExitCode run_mesh_renumber(const MeshRenumberOptions& options) {
  if (const auto order = order_of(options); !order) {
    return report_usage(order.error().message() + " (see tessera mesh renumber --help)",
                        options.json);
  }
  const auto output = mesh_renumber_output(options);
  if (!output) return report(output.error(), options.json);
  fmt::print("{}", *output);
  return ExitCode::kOk;
}

}  // namespace tessera::cli
