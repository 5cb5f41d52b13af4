#include "tessera/cli/mesh_commands.hpp"

#include <CLI/CLI.hpp>
#include <climits>
#include <string>

#include "tessera/cli/help_texts.hpp"

namespace tessera::cli {

namespace {

constexpr int kPartsMax = 1 << 24;
constexpr int kSeedMax = INT_MAX;  // what METIS takes

// What is wrong with a bound, or nothing. More than the number of parts cannot be reached.
std::string imbalance_error(std::string& text) {
  double value = 0;
  const bool is_number = CLI::detail::lexical_cast(text, value);
  if (is_number && value >= 0 && value <= kPartsMax) return {};
  return text + " is not a number from 0 to " + std::to_string(kPartsMax);
}

void add_partition(CLI::App& command, PartitionChoice& choice) {
  command.add_option("--parts", choice.parts, "Parts, which METIS makes without --partition")
      ->type_name("N")
      ->check(CLI::Range(1, kPartsMax).description(""));
  command.add_option("--partition", choice.path, "A partition file: the part of each node, a line")
      ->type_name("FILE");
  command.add_option("--seed", choice.seed, "Seed of METIS and of the policy random")
      ->type_name("N")
      ->check(CLI::Range(0, kSeedMax).description(""))
      ->capture_default_str();
}

void add_write_partition(CLI::App& command, std::string& path) {
  command.add_option("--write-partition", path, "Also write the partition to FILE")
      ->type_name("FILE");
}

void add_plan(CLI::App& mesh, MeshPlanOptions& options) {
  CLI::App& command = *mesh.add_subcommand("plan", "Choose who writes the shared nodes");
  command.add_option("MESH", options.path, "A .msh file of Gmsh, or a .mesh or .graph of METIS")
      ->required();
  add_partition(command, options.partition);
  command.add_option("--policy", options.policy, "How writers are chosen; all compares them")
      ->type_name("metis|random|first|idg|optimal|balanced|all")
      ->capture_default_str();
  command
      .add_option("--max-imbalance", options.max_imbalance, "The most LB of the policy balanced")
      ->type_name("X")
      ->check(CLI::Validator(imbalance_error, ""))
      ->capture_default_str();
  command.add_option("--order", options.order, "As if the nodes were in this order")
      ->type_name("file|rcm|x|y|z|hilbert|io")
      ->capture_default_str();
  command.add_option("--save", options.save_path, "Save the plan to FILE")->type_name("FILE");
  add_write_partition(command, options.write_partition_path);
  command.add_flag("--json", options.json, "Print JSON, errors included");
  command.add_option("--html", options.html_path, "Also write a page with plots to FILE")
      ->type_name("FILE");
  command.footer(kMeshPlanFooter);
}

void add_renumber(CLI::App& mesh, MeshRenumberOptions& options) {
  CLI::App& command = *mesh.add_subcommand("renumber", "Put the nodes into another order");
  command.add_option("MESH", options.path, "A .msh file of Gmsh, or a .mesh or .graph of METIS")
      ->required();
  command.add_option("OUT", options.to, "The file to make, in the same format")->required();
  command.add_option("--order", options.order, "The order")
      ->type_name("rcm|x|y|z|hilbert|io")
      ->required();
  add_partition(command, options.partition);
  add_write_partition(command, options.write_partition_path);
  command.add_flag("--force", options.force, "Replace OUT if it is there");
  command.add_flag("--json", options.json, "Print JSON, errors included");
  command.footer(kMeshRenumberFooter);
}

}  // namespace

void add_mesh_commands(CLI::App& app, MeshCommands& commands) {
  CLI::App& mesh = *app.add_subcommand("mesh", "Plan who writes the nodes of a mesh");
  mesh.require_subcommand(1);
  mesh.footer(kMeshFooter);
  add_plan(mesh, commands.plan);
  add_renumber(mesh, commands.renumber);
}

std::optional<ExitCode> run_mesh_command(const CLI::App& app, const MeshCommands& commands) {
  if (!app.got_subcommand("mesh")) return std::nullopt;
  const CLI::App& mesh = *app.get_subcommand("mesh");
  if (mesh.got_subcommand("renumber")) return run_mesh_renumber(commands.renumber);
  return run_mesh_plan(commands.plan);
}

}  // namespace tessera::cli
