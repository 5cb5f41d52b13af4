#include "tessera/cli/command_line.hpp"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <exception>
#include <functional>
#include <iostream>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/base/nearest.hpp"
#include "tessera/cli/bench_command.hpp"
#include "tessera/cli/demo_command.hpp"
#include "tessera/cli/exit_code.hpp"
#include "tessera/cli/help_texts.hpp"
#include "tessera/cli/hint_variables.hpp"
#include "tessera/cli/hints_command.hpp"
#include "tessera/cli/locks_command.hpp"
#include "tessera/cli/mesh_commands.hpp"
#include "tessera/cli/object_commands.hpp"
#include "tessera/cli/objects_command.hpp"
#include "tessera/cli/remap_command.hpp"
#include "tessera/cli/report_command.hpp"
#include "tessera/cli/run_command.hpp"
#include "tessera/cli/tune_command.hpp"
#include "tessera/cli/version_command.hpp"

namespace tessera::cli {

namespace {

constexpr int kRanksMax = 1 << 24;
constexpr int kThreadsMax = 1024;

struct CommandLine {
  CLI::App app{kAbout, "tessera"};
  ObjectsOptions objects;
  std::string at;
  RemapCommandOptions remap;
  DemoOptions demo;
  RunOptions run;
  EnvOptions env;
  ReportOptions report;
  HintsOptions hints;
  LocksOptions locks;
  std::string locks_watch;
  BreakOptions locks_break;
  ObjectCommands object_files;
  MeshCommands mesh;
  TuneOptions tune;
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
  command.add_option("--against", line.bench.against, "Also measure the build in DIR, in turn")
      ->type_name("DIR");
  command.footer(kBenchFooter);
}

void add_version(CommandLine& line) {
  CLI::App& command = *line.app.add_subcommand("version", "Print the version");
  add_json(command, line.version.json);
  command.footer(kVersionFooter);
}

// An option whose value is one of a few words, written "a|b" in its help.
void add_word(CLI::App& command, const std::string& name, const std::string& words,
              const std::function<void(const std::string&)>& take, const std::string& about) {
  std::vector<std::string> known;
  std::istringstream stream(words);
  for (std::string word; std::getline(stream, word, '|');) known.push_back(word);
  command.add_option_function<std::string>(name, take, about)
      ->type_name(words)
      ->check(CLI::IsMember(known).description(""));
}

void add_remap(CommandLine& line) {
  CLI::App& command =
      *line.app.add_subcommand("remap", "Lay a file out for those who will read it");
  command.add_option("IN", line.remap.in, "A plain file or an object file")->required();
  command.add_option("OUT", line.remap.out, "The object file to make")->required();
  CLI::Option_group& views = *command.add_option_group("Views", "Who reads which bytes");
  views.add_option("--views", line.remap.views, "A views file")->type_name("FILE");
  views
      .add_option("--like", line.remap.like,
                  "The views that an object file records; also a views file")
      ->type_name("FILE");
  views.require_option(1);
  add_word(
      command, "--replicate", "shared|none",
      [&line](const std::string& word) { line.remap.replicate = word == "shared"; },
      "Store shared bytes for each reader (the default), or once");
  command.add_flag("--only-views", line.remap.only_views, "Leave out what nobody views");
  command.add_option("--threads", line.remap.threads, "Threads; by default one a core, up to 4")
      ->type_name("N")
      ->check(CLI::Range(1, kThreadsMax).description(""));
  command.add_flag("!--no-sync", line.remap.durable,
                   "Do not wait until OUT is on the disk; cp does not either");
  command.add_flag("--direct", line.remap.direct, "Write past the system's memory (direct I/O)");
  command.add_flag("--force", line.remap.force, "Replace OUT if it is there");
  command.add_flag("--quiet", line.remap.quiet, "Print nothing");
  add_json(command, line.remap.json);
  command.footer(kRemapFooter);
}

void add_mpi(CLI::App& command, std::optional<Mpi>& mpi) {
  add_word(
      command, "--mpi", "openmpi|mpich",
      [&mpi](const std::string& word) { mpi = mpi_of_word(word); }, "The MPI of the program");
}

void add_run(CommandLine& line) {
  CLI::App& command = *line.app.add_subcommand("run", "Run an MPI program on Tessera");
  command.prefix_command();
  command.add_option("-n", line.run.ranks, "Ranks to start")
      ->type_name("N")
      ->check(CLI::Range(1, kRanksMax).description(""))
      ->required();
  add_mpi(command, line.run.mpi);
  command.add_option("-o", line.run.hints, "A hint; may be given several times")
      ->type_name("HINT=VALUE")
      ->allow_extra_args(false);
  command.add_option("--record-views", line.run.record_views, "Leave there what each rank saw")
      ->type_name("FOLDER");
  add_word(
      command, "--launcher", "mpiexec|srun",
      [&line](const std::string& word) {
        line.run.launcher = word == "srun" ? LauncherKind::kSrun : LauncherKind::kMpiexec;
      },
      "What starts the ranks");
  command.add_option("--launcher-args", line.run.launcher_args, "More arguments of the launcher")
      ->type_name("\"ARGUMENTS\"")
      ->allow_extra_args(false);
  command.add_flag("--dry-run", line.run.dry_run, "Print the command instead of running it");
  command.footer(kRunFooter);
}

void add_env(CommandLine& line) {
  CLI::App& command =
      *line.app.add_subcommand("env", "Print what to set to run without tessera run");
  add_mpi(command, line.env.mpi);
  add_word(
      command, "--shell", "sh|csh",
      [&line](const std::string& word) {
        line.env.shell = word == "csh" ? Shell::kCsh : Shell::kSh;
      },
      "Whose language to print");
  command.footer(kEnvFooter);
}

void add_report(CommandLine& line) {
  CLI::App& command = *line.app.add_subcommand("report", "Show where the I/O of a job went");
  command.add_option("LOG", line.report.log_paths, "Logs of jobs; - is standard input")->required();
  command.add_option("-o,--html", line.report.page_path, "Write the page to FILE")
      ->type_name("FILE");
  command.add_flag("--text", line.report.text, "Print the summary only, without a page");
  add_json(command, line.report.json);
  command.footer(kReportFooter);
}

void add_hints(CommandLine& line) {
  CLI::App& command = *line.app.add_subcommand("hints", "List the hints");
  command.add_flag("--markdown", line.hints.markdown, "Print docs/hints.md");
  add_json(command, line.hints.json);
  command.footer(kHintsFooter);
}

void add_tune(CommandLine& line) {
  constexpr double kSecondsMin = 0.1;
  constexpr double kSecondsMax = 600;
  CLI::App& command = *line.app.add_subcommand("tune", "Measure what transfers cost in a folder");
  command.add_option("DIR", line.tune.directory, "A folder of the file system")->required();
  command.add_option("--seconds", line.tune.seconds, "How long to measure, about (3)")
      ->type_name("N")
      ->check(CLI::Range(kSecondsMin, kSecondsMax));
  command.add_flag("--dry-run", line.tune.dry_run, "Store nothing");
  command.add_option("--message-ns", line.tune.message_ns, "A message between nodes takes NS")
      ->type_name("NS");
  command
      .add_option("--network-byte-ns", line.tune.network_byte_ns, "A byte between nodes takes NS")
      ->type_name("NS");
  command
      .add_option("--nodes-served", line.tune.nodes_served,
                  "N nodes are served by the file system at once")
      ->type_name("N");
  add_json(command, line.tune.json);
  command.footer(kTuneFooter);
}

void add_locks(CommandLine& line) {
  CLI::App& command = *line.app.add_subcommand("locks", "Show the locks of lock servers");
  command.add_option("ADDRESS", line.locks.address, "Servers; by default all of yours");
  command.add_option("--file", line.locks.file, "Only the locks of this file")->type_name("NAME");
  command.add_option("--watch", line.locks_watch, "Look again every so many seconds (2)")
      ->type_name("[SECONDS]")
      ->expected(0, 1);
  add_json(command, line.locks.json);
  command.footer(kLocksFooter);
  CLI::App& breaking = *command.add_subcommand("break", "Take a lock away from its client");
  breaking.add_option("ID", line.locks_break.lock, "The lock, as tessera locks shows it")
      ->required();
  breaking.add_option("ADDRESS", line.locks_break.address, "Its server");
  breaking.add_flag("--yes", line.locks_break.yes, "Do not ask");
  breaking.footer(kBreakFooter);
}

// Asked of the arguments themselves: an error in them must be told in the form they ask for.
bool wants_json(int argc, const char* const* argv) {
  return std::any_of(argv, argv + argc,
                     [](const char* argument) { return std::string_view(argument) == "--json"; });
}

// How many arguments come before the "--" of `tessera run`; what follows is another program's.
int own_arguments(int argc, const char* const* argv) {
  if (argc < 2 || std::string_view(argv[1]) != "run") return argc;
  const char* const* end = std::find(argv, argv + argc, std::string_view("--"));
  return static_cast<int>(end - argv);
}

using Words = std::vector<std::string>;

std::string meant(const std::string& word, const Words& known) {
  return base::did_you_mean(word, {std::vector<std::string_view>(known.begin(), known.end())});
}

Words command_names(const CLI::App& app) {
  Words names;
  for (const CLI::App* sub : app.get_subcommands(nullptr)) names.push_back(sub->get_name());
  return names;
}

// All ways to write the options of a command, dashes included.
Words option_names(const CLI::App& command) {
  Words names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

bool contains(const Words& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// The command that was named last: "locks break" in `tessera locks break 5`.
const CLI::App& last_command(const CLI::App& app) {
  const CLI::App* command = &app;
  while (!command->get_subcommands().empty()) command = command->get_subcommands().front();
  return *command;
}

// What the parser could not place, where it is an option that the command does not have.
std::optional<std::string> unknown_option(const CLI::App& app) {
  const CLI::App& command = last_command(app);
  const Words known = option_names(command);
  for (const std::string& word : command.remaining()) {
    const std::string name = word.substr(0, word.find('='));
    if (name.size() < 2 || name == "--" || name.front() != '-') break;  // another program's follow
    if (contains(known, name)) continue;
    return fmt::format("there is no option {}{}", name, meant(name, known));
  }
  return std::nullopt;
}

// What stands where a command of the last command should, where it is none: "paln" in `tessera mesh
// paln`. A command that takes such words itself, as `tessera locks ADDRESS`, must have one like it.
std::optional<std::string> unknown_nested_command(const CLI::App& app, const Words& words) {
  const CLI::App& command = last_command(app);
  const Words known = command_names(command);
  if (known.empty() || app.get_subcommands().empty()) return std::nullopt;
  const auto named = std::find(words.begin(), words.end(), command.get_name());
  const auto is_word = [](const std::string& word) { return !word.empty() && word[0] != '-'; };
  const auto next = named == words.end() ? named : std::find_if(named + 1, words.end(), is_word);
  if (next == words.end()) return std::nullopt;
  const std::string near = meant(*next, known);
  const bool takes_words =
      !command.get_options([](const CLI::Option* option) { return option->get_positional(); })
           .empty();
  if (near.empty() && takes_words) return std::nullopt;
  return fmt::format("no command is called '{}'{}", *next, near);
}

// `tessera help A B` is `tessera A B --help`. Fails where the first word, or a word of help, is no
// command.
base::Result<Words> command_words(const CLI::App& app, int argc, const char* const* argv) {
  Words words(argv + 1, argv + argc);
  const bool help = !words.empty() && words.front() == "help";
  if (help) words.erase(words.begin());
  const CLI::App* command = &app;
  for (const std::string& word : words) {
    if (word.empty() || word.front() == '-') break;
    const auto same = [&](const CLI::App* sub) { return sub->get_name() == word; };
    const auto subs = command->get_subcommands(same);
    if (subs.empty()) {
      return base::fail(base::Code::kInvalid, fmt::format("no command is called '{}'{}", word,
                                                          meant(word, command_names(*command))));
    }
    if (!help) break;
    command = subs.front();
  }
  if (help) words.emplace_back("--help");
  return words;
}

// The parser's own message and where help is.
ExitCode usage(const CLI::App& app, const std::string& message, bool json) {
  std::string command = "tessera";
  for (const CLI::App* sub : app.get_subcommands()) command += " " + sub->get_name();
  return report_usage(fmt::format("{} (see {} --help)", message, command), json);
}

ExitCode run_run(CommandLine& line) {
  // Without "--" the first word that is no option begins the program; a "--" after it is its own.
  auto before = line.app.get_subcommand("run")->remaining();
  if (const auto wrong = unknown_option(line.app)) return usage(line.app, *wrong, false);
  if (!before.empty() && !line.run.program.empty()) before.emplace_back("--");
  line.run.program.insert(line.run.program.begin(), before.begin(), before.end());
  if (line.run.program.empty()) return usage(line.app, "name a program after --", false);
  if (const auto wrong = hint_variables(line.run.hints, ""); !wrong) {
    return usage(line.app, "-o " + wrong.error().message(), false);
  }
  return run_program(line.run);
}

// What follows --watch is its time, or else the address.
std::optional<std::string> set_watch(CommandLine& line) {
  constexpr double kWatchSeconds = 2;
  constexpr double kWatchSecondsMax = 86'400;
  double seconds = kWatchSeconds;
  if (!line.locks_watch.empty() && !CLI::detail::lexical_cast(line.locks_watch, seconds)) {
    if (!line.locks.address.empty()) return "--watch " + line.locks_watch + ": no time";
    line.locks.address = line.locks_watch;
    seconds = kWatchSeconds;
  }
  if (!(seconds > 0 && seconds <= kWatchSecondsMax)) return "--watch: more than 0, up to a day";
  line.locks.watch_s = seconds;
  return std::nullopt;
}

ExitCode run_locks_command(CommandLine& line) {
  const CLI::App& command = *line.app.get_subcommand("locks");
  if (command.got_subcommand("break")) return run_break(line.locks_break);
  if (command.count("--watch") > 0) {
    if (const auto wrong = set_watch(line)) return usage(line.app, *wrong, line.locks.json);
  }
  return run_locks(line.locks);
}

ExitCode run(CommandLine& line, const BenchRunner& benches, const char* const* argv) {
  const auto chosen = [&](const char* name) { return line.app.got_subcommand(name); };
  if (chosen("objects")) {
    if (!line.at.empty()) {
      const auto at = parse_interval(line.at);
      if (!at) return usage(line.app, "--at " + at.error().message(), line.objects.json);
      line.objects.at = *at;
    }
    return run_objects(line.objects);
  }
  if (chosen("remap")) return run_remap(line.remap);
  if (chosen("demo")) return run_demo(line.demo);
  if (chosen("run")) return run_run(line);
  if (chosen("env")) return run_env(line.env);
  if (chosen("report")) return run_report(line.report);
  if (chosen("hints")) return run_hints(line.hints);
  if (chosen("tune")) return run_tune(line.tune);
  if (chosen("locks")) return run_locks_command(line);
  if (const auto code = run_object_command(line.app, line.object_files)) return *code;
  if (const auto code = run_mesh_command(line.app, line.mesh)) return *code;
  if (chosen("bench")) return run_bench_command(line.bench, benches, argv);
  return run_version(line.version);
}

// What was printed may still wait in memory, and may not reach its place: a full disk is no
// success.
ExitCode after_output(ExitCode code) {
  std::cout.flush();
  if (std::fflush(stdout) == 0 && std::cout && std::ferror(stdout) == 0) return code;
  if (code != ExitCode::kOk) return code;
  return report({base::Code::kFailed, errno, "the output could not be written"}, false);
}

}  // namespace

int run_command_line(int argc, const char* const* argv, const BenchRunner& benches) {
  CommandLine line;
  line.app.require_subcommand(1);
  line.app.footer(kFooter);
  line.app.set_version_flag("--version", version_line());
  add_demo(line);
  add_objects(line);
  add_remap(line);
  add_run(line);
  add_env(line);
  add_report(line);
  add_hints(line);
  add_tune(line);
  add_locks(line);
  add_object_commands(line.app, line.object_files);
  add_mesh_commands(line.app, line.mesh);
  add_bench(line);
  add_version(line);
  line.app.add_subcommand("help", "Show what a command does, as COMMAND --help");
  const int own = own_arguments(argc, argv);
  if (own < argc) line.run.program.assign(argv + own + 1, argv + argc);
  const bool json = wants_json(own, argv);
  ExitCode code = ExitCode::kOk;
  const auto words = command_words(line.app, own, argv);
  if (!words) return static_cast<int>(usage(line.app, words.error().message(), json));
  try {
    line.app.parse(Words(words->rbegin(), words->rend()));
    code = run(line, benches, argv);
  } catch (const CLI::CallForHelp& error) {
    static_cast<void>(line.app.exit(error));
  } catch (const CLI::CallForVersion& error) {
    static_cast<void>(line.app.exit(error));
  } catch (const CLI::ParseError& error) {
    auto wrong = unknown_option(line.app);
    if (!wrong) wrong = unknown_nested_command(line.app, *words);
    code = usage(line.app, wrong.value_or(error.what()), json);
  } catch (const std::exception& error) {
    code = report({base::Code::kFailed, 0, fmt::format("gave up: {}", error.what())}, json);
  }
  return static_cast<int>(after_output(code));
}

}  // namespace tessera::cli
