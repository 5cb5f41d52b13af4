#include "tessera/cli/launch.hpp"

#include <algorithm>
#include <initializer_list>

#include "tessera/cli/search_path.hpp"

namespace tessera::cli {

namespace {

using Words = std::vector<std::string>;

void append(Words& words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
}

std::string assignment(const Variable& variable) { return variable.first + "=" + variable.second; }

// Everything that a rank must have, the library first.
std::vector<Variable> rank_variables(const LaunchRequest& request) {
  std::vector<Variable> variables = {{"LD_PRELOAD", request.preload}};
  variables.insert(variables.end(), request.variables.begin(), request.variables.end());
  return variables;
}

LaunchCommand open_mpi(const LaunchRequest& request) {
  LaunchCommand command;
  if (request.as_root) {
    command.environment = {{"OMPI_ALLOW_RUN_AS_ROOT", "1"},
                           {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"}};
  }
  command.words = {request.launcher, "-n", std::to_string(request.ranks)};
  if (request.crowded) {
    append(command.words, {"--oversubscribe", "--mca", "mpi_yield_when_idle", "1"});
  }
  for (const Variable& variable : rank_variables(request)) {
    append(command.words, {"-x", assignment(variable)});
  }
  for (const std::string& name : request.forwarded) append(command.words, {"-x", name});
  return command;
}

// Hydra hands the environment on by itself.
LaunchCommand mpich(const LaunchRequest& request) {
  LaunchCommand command;
  command.words = {request.launcher, "-n", std::to_string(request.ranks)};
  for (const Variable& variable : rank_variables(request)) {
    append(command.words, {"-genv", variable.first, variable.second});
  }
  return command;
}

// srun splits --export at commas, so values that hold some go through env(1).
LaunchCommand srun(const LaunchRequest& request) {
  LaunchCommand command;
  const auto variables = rank_variables(request);
  const bool plain = std::none_of(variables.begin(), variables.end(), [](const Variable& variable) {
    return variable.second.find(',') != std::string::npos;
  });
  std::string exported = "--export=ALL";
  for (const Variable& variable : variables) {
    if (plain) exported += "," + assignment(variable);
  }
  command.words = {request.launcher, "-n", std::to_string(request.ranks), exported};
  append(command.words, request.launcher_args);
  if (!plain) command.words.emplace_back("env");
  for (const Variable& variable : variables) {
    if (!plain) command.words.push_back(assignment(variable));
  }
  return command;
}

}  // namespace

LaunchCommand launch_command(const LaunchRequest& request) {
  LaunchCommand command;
  if (request.kind == LauncherKind::kSrun) {
    command = srun(request);
  } else {
    command = request.mpi == Mpi::kOpenMpi ? open_mpi(request) : mpich(request);
    append(command.words, request.launcher_args);
  }
  append(command.words, request.program);
  return command;
}

std::string preload_list(const std::string& library, const std::string& present) {
  // The dynamic linker takes blanks for colons.
  std::string rest = present;
  std::replace(rest.begin(), rest.end(), ' ', ':');
  std::string list = library;
  for (const std::string& other : folders_of(rest)) {
    if (other != library) list += ":" + other;
  }
  return list;
}

std::string shell_quoted(const std::string& word) {
  const bool plain = !word.empty() && std::all_of(word.begin(), word.end(), [](char c) {
    constexpr std::string_view kPlain = "_-+./:=,@%";
    const auto byte = static_cast<unsigned char>(c);
    return (byte < 0x80 && std::isalnum(byte) != 0) || kPlain.find(c) != kPlain.npos;
  });
  if (plain) return word;
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

std::string command_text(const LaunchCommand& command) {
  std::string text;
  for (const auto& [name, value] : command.environment) {
    text += name + "=" + shell_quoted(value) + " ";
  }
  for (const std::string& word : command.words) text += shell_quoted(word) + " ";
  text.pop_back();
  return text;
}

}  // namespace tessera::cli
