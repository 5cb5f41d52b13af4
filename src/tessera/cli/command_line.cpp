#include "tessera/cli/command_line.hpp"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <exception>
#include <string>
#include <string_view>

#include "tessera/cli/bench_command.hpp"
#include "tessera/cli/demo_command.hpp"
#include "tessera/cli/exit_code.hpp"
#include "tessera/cli/objects_command.hpp"
#include "tessera/cli/version_command.hpp"

namespace tessera::cli {

namespace {

constexpr const char* kAbout =
    "Tessera: parallel I/O for MPI programs. A file is what its processes share, not one line of "
    "bytes.";

constexpr const char* kFooter = R"(
Examples:
  tessera demo                      the tile wall of the paper, in text and as a page
  tessera objects VIEWS.json        who shares which bytes of a file
  tessera bench all                 measure, against the competitors on this machine
  tessera COMMAND --help            more about a command

Exit codes: 0 ok, 1 error, 2 usage, 3 not found, 4 integrity, 5 retry, 6 permission or expired.)";

constexpr const char* kObjectsFooter = R"(
The views of all processes cut a file into objects: runs of bytes that the same processes share.
VIEWS.json names the file's size and each process's view:

  {"size": 80,
   "views": [{"name": "P0", "type": {"intervals": [[0, 15], [26, 70]]}},
             {"name": "P1", "type": {"vector": {"count": 4, "blocklength": 5, "stride": 20}}}]}

Intervals are [begin, end): [0, 15] holds the bytes 0 to 14. All MPI datatypes can be written; see
docs/formats/views.md.

Examples:
  tessera objects VIEWS.json                 a picture, every object (large sets: families), totals
  tessera objects VIEWS.json --at 18:36      only the objects that meet the bytes 18 to 35
  tessera objects VIEWS.json --json          for programs
  tessera objects VIEWS.json --html o.html   also a page with pictures
  generate-views | tessera objects -         from standard input)";

constexpr const char* kDemoFooter = R"(
Takes the example of "Improving I/O Performance through the Dynamic Remapping of Object Sets" (Logan
and Dickens): writers store an image by rows, the readers of a wall of overlapping screens each need
a tile of it. Shows both object sets, how a translator finds which reader objects a written object
meets, and the layout in which every reader reads one run; first for 60x3 pixels, then for a 10x10
wall of 1920x1650 tiles.

Examples:
  tessera demo                     text here, pictures in tessera-demo.html
  tessera demo --html wall.html    the page elsewhere
  tessera demo --json              for programs)";

constexpr const char* kBenchFooter = R"(
Runs ours and its competitors interleaved in one run, the best competitor also against itself, so
that every ratio comes with the noise of that run. Ratios are "higher is better", always.

Examples:
  tessera bench --list                 what there is
  tessera bench pattern                one bench, as a table
  tessera bench pattern --json         for programs
  tessera bench all --html bench.html  everything, with plots
  tessera bench pattern --only gather  the cases whose name contains "gather"
  tessera bench pattern --quick        to try, not to believe)";

constexpr const char* kVersionFooter = R"(
Examples:
  tessera version
  tessera version --json)";

struct CommandLine {
  CLI::App app{kAbout, "tessera"};
  ObjectsOptions objects;
  std::string at;
  DemoOptions demo;
  BenchCommandOptions bench;
  VersionOptions version;
};

void add_json(CLI::App& command, bool& json) {
  command.add_flag("--json", json, "Print JSON, errors included");
}

void add_objects(CommandLine& line) {
  CLI::App& command = *line.app.add_subcommand("objects", "Show who shares which bytes of a file");
  command.add_option("VIEWS", line.objects.views_path, "Views file; - is standard input")
      ->required();
  add_json(command, line.objects.json);
  command.add_option("--html", line.objects.html_path, "Also write a page with pictures to FILE")
      ->type_name("FILE");
  command.add_option("--at", line.at, "Only the objects that meet these bytes")
      ->type_name("BEGIN:END");
  command
      .add_option("--families", line.objects.families_max,
                  "Families listed of a large set, largest first; 0 lists all")
      ->type_name("N")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command.footer(kObjectsFooter);
}

void add_demo(CommandLine& line) {
  CLI::App& command = *line.app.add_subcommand("demo", "Show the tile wall of the paper");
  add_json(command, line.demo.json);
  command.add_option("--html", line.demo.html_path, "Write the page with pictures to FILE")
      ->type_name("FILE")
      ->capture_default_str();
  command.footer(kDemoFooter);
}

void add_bench(CommandLine& line) {
  CLI::App& command = *line.app.add_subcommand("bench", "Measure, against competitors");
  command.add_option("NAME", line.bench.names, "Benches to run; all is every one of them");
  command.add_flag("--list", line.bench.list, "List the benches and stop");
  add_json(command, line.bench.json);
  command.add_option("--html", line.bench.html_path, "Also write a page with plots to FILE")
      ->type_name("FILE");
  command.add_option("--only", line.bench.only, "Run the cases whose name or group contains TEXT")
      ->type_name("TEXT");
  command.add_flag("--quick", line.bench.quick, "Few rounds: to try, not to believe");
  command.add_option("--rounds", line.bench.rounds, "Rounds of each case")
      ->type_name("N")
      ->check(CLI::PositiveNumber);
  command.add_option("--seconds", line.bench.seconds, "Time limit of each case")
      ->type_name("S")
      ->check(CLI::PositiveNumber);
  command.add_option("--seed", line.bench.seed, "Seed of everything random")->type_name("N");
  command.footer(kBenchFooter);
}

void add_version(CommandLine& line) {
  CLI::App& command = *line.app.add_subcommand("version", "Print the version");
  add_json(command, line.version.json);
  command.footer(kVersionFooter);
}

// Asked of the arguments themselves: an error in them must be told in the form they ask for.
bool wants_json(int argc, const char* const* argv) {
  return std::any_of(argv, argv + argc,
                     [](const char* argument) { return std::string_view(argument) == "--json"; });
}

// The parser's own message and where help is.
ExitCode usage(const CLI::App& app, const std::string& message, bool json) {
  std::string command = "tessera";
  for (const CLI::App* sub : app.get_subcommands()) command += " " + sub->get_name();
  return report_usage(fmt::format("{} (see {} --help)", message, command), json);
}

ExitCode run(CommandLine& line) {
  const auto chosen = [&](const char* name) { return line.app.got_subcommand(name); };
  if (chosen("objects")) {
    if (!line.at.empty()) {
      const auto at = parse_interval(line.at);
      if (!at) return usage(line.app, "--at " + at.error().message(), line.objects.json);
      line.objects.at = *at;
    }
    return run_objects(line.objects);
  }
  if (chosen("demo")) return run_demo(line.demo);
  if (chosen("bench")) return run_bench_command(line.bench);
  return run_version(line.version);
}

}  // namespace

int run_command_line(int argc, const char* const* argv) {
  CommandLine line;
  line.app.require_subcommand(1);
  line.app.footer(kFooter);
  line.app.set_version_flag("--version", version_line());
  add_demo(line);
  add_objects(line);
  add_bench(line);
  add_version(line);
  const bool json = wants_json(argc, argv);
  ExitCode code = ExitCode::kOk;
  try {
    line.app.parse(argc, argv);
    code = run(line);
  } catch (const CLI::CallForHelp& error) {
    return line.app.exit(error);
  } catch (const CLI::CallForVersion& error) {
    return line.app.exit(error);
  } catch (const CLI::ParseError& error) {
    code = usage(line.app, error.what(), json);
  } catch (const std::exception& error) {
    code = report({base::Code::kFailed, 0, fmt::format("gave up: {}", error.what())}, json);
  }
  return static_cast<int>(code);
}

}  // namespace tessera::cli
