#include "tessera/cli/run_command.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string_view>

#include "tessera/cli/child_output.hpp"
#include "tessera/cli/hint_variables.hpp"
#include "tessera/cli/launcher_search.hpp"
#include "tessera/cli/program_mpi.hpp"
#include "tessera/cli/search_path.hpp"
#include "tessera/move/variables.hpp"
#include "tessera/port/cores.hpp"

namespace tessera::cli {

using base::Code;
using base::Result;

namespace {

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// The only MPI that has a launcher here, if just one has and it may be assumed for the program.
Result<Mpi> only_mpi(const std::string& path_list, const std::string& why, bool refused) {
  std::vector<Mpi> found;
  for (const Mpi mpi : kMpis) {
    if (find_mpiexec(mpi, path_list)) found.push_back(mpi);
  }
  if (found.size() == 1 && !refused) return found.front();
  if (found.size() == 1) {
    return base::fail(Code::kInvalid, fmt::format("{}; --mpi {} starts it all the same", why,
                                                  mpi_word(found.front())));
  }
  return base::fail(Code::kInvalid,
                    fmt::format("{}, and {} here; say which with --mpi openmpi or --mpi mpich", why,
                                found.empty() ? "no mpiexec is" : "both Open MPI and MPICH are"));
}

// The one that is asked for, unless the program is known to link the other: it would not survive
// the library of an MPI that it does not have. What cannot be read here, as of a script whose
// interpreter is on other nodes only, does not keep who says the MPI from starting it.
Result<Mpi> choose_mpi(const RunOptions& options, const Surroundings& around) {
  TESSERA_TRY(const std::string program, find_program(options.program.front(), around.path_list));
  const std::vector<std::string> arguments(options.program.begin() + 1, options.program.end());
  const auto read = mpi_of_program(program, around, arguments);
  if (!read && !options.mpi) return base::failure_of(read);
  // A program that is linked statically may start another one, so this is a warning.
  if (!read && read.error().code == Code::kInvalid) {
    fmt::print(stderr, "{}", error_line(read.error()));
  }
  const ProgramMpi found = read ? *read : ProgramMpi();
  if (options.mpi && found.mpi && *options.mpi != *found.mpi) {
    return base::fail(Code::kInvalid, fmt::format("{} uses {}; say --mpi {}, or leave --mpi out",
                                                  options.program.front(), mpi_title(*found.mpi),
                                                  mpi_word(*found.mpi)));
  }
  if (options.mpi) return *options.mpi;
  if (found.mpi) return *found.mpi;
  return only_mpi(around.path_list, found.unknown, found.refused);
}

LauncherKind choose_launcher(const RunOptions& options, const std::string& path_list) {
  if (options.launcher) return *options.launcher;
  const bool slurm = !environment("SLURM_JOB_ID").empty();
  return slurm && find_program("srun", path_list) ? LauncherKind::kSrun : LauncherKind::kMpiexec;
}

// A dry run needs no srun: the command may be meant for another machine.
Result<std::string> launcher_of(const RunOptions& options, const LaunchRequest& request,
                                const std::string& path_list) {
  if (request.kind == LauncherKind::kMpiexec) return find_mpiexec(request.mpi, path_list);
  auto srun = find_program("srun", path_list);
  if (!srun && options.dry_run) return std::string("srun");
  return srun;
}

// A resource manager or a list of hosts says how many ranks a machine takes; without, its cores do.
bool hosts_are_given(const std::vector<std::string>& launcher_args) {
  for (const char* name : {"SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "PE_HOSTFILE"}) {
    if (!environment(name).empty()) return true;
  }
  return std::any_of(launcher_args.begin(), launcher_args.end(), [](const std::string& word) {
    return word.find("host") != word.npos || word == "-H" || word.starts_with("-f");
  });
}

std::vector<std::string> split_args(const std::vector<std::string>& lines) {
  std::vector<std::string> words;
  for (const std::string& line : lines) {
    std::istringstream stream(line);
    for (std::string word; stream >> word;) words.push_back(word);
  }
  return words;
}

// Names of our variables that are set here and not set anew.
std::vector<std::string> forwarded_names(const std::vector<Variable>& anew) {
  std::vector<std::string> names;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::string name(text.substr(0, text.find('=')));
    const bool again = std::any_of(
        anew.begin(), anew.end(), [&](const Variable& variable) { return variable.first == name; });
    if (name.starts_with("TESSERA_") && !again) names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

Result<LaunchRequest> request_of(const RunOptions& options) {
  const Surroundings around = surroundings();
  LaunchRequest request;
  TESSERA_TRY(request.variables, hint_variables(options.hints, environment("TESSERA_HINTS")));
  if (!options.record_views.empty()) {
    // The ranks may run elsewhere in the tree.
    std::error_code error;
    const auto folder = std::filesystem::absolute(options.record_views, error);
    if (error) return base::fail_errno(error.value(), "find " + options.record_views);
    request.variables.emplace_back("TESSERA_RECORD_VIEWS", folder.string());
  }
  TESSERA_TRY(request.mpi, choose_mpi(options, around));
  TESSERA_TRY(const std::string library, find_preload(request.mpi));
  request.kind = choose_launcher(options, around.path_list);
  TESSERA_TRY(request.launcher, launcher_of(options, request, around.path_list));
  request.ranks = options.ranks;
  request.preload = preload_list(library, environment("LD_PRELOAD"));
  request.forwarded = forwarded_names(request.variables);
  request.launcher_args = split_args(options.launcher_args);
  request.program = options.program;
  request.as_root = ::geteuid() == 0;
  request.crowded = options.ranks > port::cores() && !hosts_are_given(request.launcher_args);
  return request;
}

// Returns only if it fails.
base::Error become(const LaunchCommand& command) {
  for (const auto& [name, value] : command.environment) ::setenv(name.c_str(), value.c_str(), 1);
  const auto words = exec_words(command.words);
  ::execv(words.front(), words.data());
  return base::fail_errno(errno, fmt::format("cannot run {}", command.words.front())).error;
}

Result<Mpi> choose_mpi(const EnvOptions& options) {
  if (options.mpi) return *options.mpi;
  const std::string path_list = environment("PATH");
  if (const auto mpi = mpi_of_mpiexec(path_list)) return *mpi;
  return only_mpi(path_list, "the plain mpiexec does not say whose it is", false);
}

std::string sh_text(Mpi mpi, const std::string& library, const std::string& preload) {
  LaunchRequest request;
  request.mpi = mpi;
  request.launcher = fmt::format("mpiexec.{}", mpi_word(mpi));
  request.ranks = 4;
  request.preload = library;
  request.program = {"PROGRAM"};
  const std::string mpiexec = command_text(launch_command(request));
  request.kind = LauncherKind::kSrun;
  request.launcher = "srun";
  return fmt::format(
      "# Tessera's MPI-IO for {}. To give it to the ranks only, start them by\n"
      "#   {}\n#   {}\n"
      "# or by `tessera run -n 4 -- PROGRAM`. To give it to all that this shell starts:\n"
      "export LD_PRELOAD={}\n",
      mpi_title(mpi), mpiexec, command_text(launch_command(request)), shell_quoted(preload));
}

}  // namespace

ExitCode run_program(const RunOptions& options) {
  const auto misspelt = move::misspelt_variables(environ);
  if (!misspelt.empty()) return report_usage(misspelt.front(), false);
  const auto request = request_of(options);
  if (!request) return report(request.error(), false);
  const LaunchCommand command = launch_command(*request);
  if (options.dry_run) {
    fmt::print("{}\n", command_text(command));
    return ExitCode::kOk;
  }
  std::fflush(nullptr);
  return report(become(command), false);
}

ExitCode run_env(const EnvOptions& options) {
  const auto mpi = choose_mpi(options);
  if (!mpi) return report(mpi.error(), false);
  const auto library = find_preload(*mpi);
  if (!library) return report(library.error(), false);
  const std::string preload = preload_list(*library, environment("LD_PRELOAD"));
  // csh joins the lines of what it evaluates, so a comment would hide what follows it.
  if (options.shell == Shell::kCsh) {
    fmt::print("setenv LD_PRELOAD {};\n", shell_quoted(preload));
  } else {
    fmt::print("{}", sh_text(*mpi, *library, preload));
  }
  return ExitCode::kOk;
}

}  // namespace tessera::cli
