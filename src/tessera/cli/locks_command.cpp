#include "tessera/cli/locks_command.hpp"

#include <fmt/core.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <utility>
#include <vector>

#include "tessera/cli/lock_administrator.hpp"
#include "tessera/cli/locks_text.hpp"
#include "tessera/cli/numbers.hpp"
#include "tessera/cli/table.hpp"

namespace tessera::cli {

namespace {

using base::Code;
using base::Result;

LockServerLook look_at(const std::string& address, const std::optional<std::string>& file) {
  TESSERA_TRY(LockAdministrator administrator, LockAdministrator::connect(address));
  return administrator.list(file);
}

bool left_over(const LockServerLook& look) { return !look && look.error().code == Code::kNotFound; }

// All servers, but not those that were found and are gone. Fails if there is none to show.
Result<std::vector<LockServerLook>> look(const LocksOptions& options) {
  TESSERA_TRY(const LockServerAddresses addresses, lock_server_addresses(options.address));
  std::vector<LockServerLook> servers;
  for (const std::string& address : addresses.all) {
    servers.push_back(look_at(address, options.file));
  }
  const LockServerLook first = servers.front();
  if (addresses.found) std::erase_if(servers, left_over);
  const bool any = std::any_of(servers.begin(), servers.end(),
                               [](const LockServerLook& server) { return server.has_value(); });
  if (!any) return base::failure_of(servers.empty() ? first : servers.front());
  return servers;
}

std::string output_of(const std::vector<LockServerLook>& servers, const LocksOptions& options) {
  if (!options.json) return locks_text(servers);
  using Style = base::JsonWriter::Style;
  // Of those that follow each other, each is one line.
  if (options.watch_s) return locks_json(servers, Style::kCompact) + "\n";
  return locks_json(servers, Style::kPretty);
}

ExitCode look_once(const LocksOptions& options) {
  const auto servers = look(options);
  if (!servers) return report(servers.error(), options.json);
  fmt::print("{}", output_of(*servers, options));
  const auto failed = std::find_if(servers->begin(), servers->end(),
                                   [](const LockServerLook& server) { return !server; });
  return failed == servers->end() ? ExitCode::kOk : exit_code_of(failed->error().code);
}

// As many lines as the terminal has, the last one saying how many more there are.
std::string cut_to_terminal(const std::string& text) {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == -1 || size.ws_row < 3) return text;
  const auto lines = static_cast<int64_t>(std::count(text.begin(), text.end(), '\n'));
  const int64_t shown = size.ws_row - 2;
  if (lines <= shown + 1) return text;
  size_t end = 0;
  for (int64_t i = 0; i < shown; ++i) end = text.find('\n', end) + 1;
  return text.substr(0, end) + fmt::format("  ... {} more\n", counted(lines - shown, "line"));
}

// A server that is gone may come back; whoever watches wants to see both, but not the same error
// again and again.
void show(const Result<std::vector<LockServerLook>>& servers, const LocksOptions& options,
          bool first, std::string& last_error) {
  const std::string error =
      servers ? "" : (options.json ? error_json(servers.error()) : error_line(servers.error()));
  const bool is_said = !error.empty() && error == std::exchange(last_error, error);
  const bool in_place = ::isatty(STDOUT_FILENO) != 0;
  if (servers) last_error.clear();
  if (is_said && !in_place) return;
  const std::string text = servers ? output_of(*servers, options) : error;
  if (in_place) {
    constexpr const char* kHomeAndClear = "\x1b[H\x1b[2J\x1b[3J";
    fmt::print("{}{}", kHomeAndClear, cut_to_terminal(text));
  } else {
    fmt::print("{}{}", first || options.json ? "" : "\n", text);
  }
  std::fflush(stdout);
}

timespec span_of(double seconds) {
  const double whole = std::floor(seconds);
  timespec span{};
  span.tv_sec = static_cast<time_t>(whole);
  span.tv_nsec = static_cast<long>((seconds - whole) * 1e9);
  return span;
}

// Signals wait until they are asked for, so that none comes in the middle of a table. Where there
// is nothing to look at from the beginning there is nothing to watch.
ExitCode watch(const LocksOptions& options) {
  sigset_t ends;
  ::sigemptyset(&ends);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) ::sigaddset(&ends, number);
  ::sigprocmask(SIG_BLOCK, &ends, nullptr);
  const timespec pause = span_of(*options.watch_s);
  std::string last_error;
  for (bool first = true;; first = false) {
    const auto servers = look(options);
    if (first && !servers) return report(servers.error(), options.json);
    show(servers, options, first, last_error);
    if (::sigtimedwait(&ends, nullptr, &pause) > 0) return ExitCode::kOk;
  }
}

// --- breaking

struct Target {
  LockAdministrator administrator;
  LockServerState server;  // with one row
};

base::Failure several(const lock::LockId lock, const std::string& one, const std::string& other) {
  return base::fail(Code::kInvalid,
                    fmt::format("both {} and {} have a lock {}; name one of the servers", one,
                                other, to_string(lock)));
}

Result<Target> find_target(lock::LockId lock, const std::string& named) {
  TESSERA_TRY(const LockServerAddresses addresses, lock_server_addresses(named));
  std::optional<Target> target;
  for (const std::string& address : addresses.all) {
    auto administrator = LockAdministrator::connect(address);
    if (!administrator && addresses.found && administrator.error().code == Code::kNotFound) {
      continue;
    }
    if (!administrator) return base::failure_of(administrator);
    TESSERA_TRY(LockServerState server, administrator->find(lock));
    if (server.rows.empty()) continue;
    if (target) return several(lock, target->server.address, address);
    target.emplace(Target{*std::move(administrator), std::move(server)});
  }
  if (target) return *std::move(target);
  return base::fail(Code::kNotFound,
                    fmt::format("there is no lock {}; tessera locks lists them", to_string(lock)));
}

// Whether the user says yes.
bool confirmed(const lock::LockRow& row) {
  fmt::print("{}\nIts client is told, but what it is writing may still arrive. Break it? [y/N] ",
             lock_line(row));
  std::fflush(stdout);
  std::array<char, 16> answer{};
  if (std::fgets(answer.data(), static_cast<int>(answer.size()), stdin) == nullptr) return false;
  const std::string word(answer.data(), std::string(answer.data()).find_last_not_of(" \t\r\n") + 1);
  return word == "y" || word == "Y" || word == "yes";
}

Result<void> break_target(Target& target) {
  const lock::LockRow& row = target.server.rows.front();
  TESSERA_TRY(const lock::BreakOutcome outcome,
              target.administrator.break_lock(target.server.facts.epoch, row.lock));
  switch (outcome) {
    case lock::BreakOutcome::kBroken:
      return {};
    case lock::BreakOutcome::kNotThere:
      return base::fail(Code::kNotFound, fmt::format("lock {} was given back before it was broken",
                                                     to_string(row.lock)));
    case lock::BreakOutcome::kOtherEpoch:
      break;
  }
  return base::fail(Code::kRetry, fmt::format("{} was restarted meanwhile; look again before "
                                              "breaking anything",
                                              target.server.address));
}

}  // namespace

ExitCode run_locks(const LocksOptions& options) {
  return options.watch_s ? watch(options) : look_once(options);
}

ExitCode run_break(const BreakOptions& options) {
  const auto lock = lock::parse_lock_id(options.lock);
  if (!lock) return report_usage(lock.error().message(), false);
  if (!options.yes && ::isatty(STDIN_FILENO) == 0) {
    return report_usage("there is no terminal to ask at; add --yes to break a lock", false);
  }
  auto target = find_target(*lock, options.address);
  if (!target) return report(target.error(), false);
  const lock::LockRow& row = target->server.rows.front();
  if (!options.yes && !confirmed(row)) {
    return report({Code::kFailed, 0, "nothing was broken"}, false);
  }
  const auto broken = break_target(*target);
  if (!broken) return report(broken.error(), false);
  fmt::print("broken: {}\n", lock_line(row));
  return ExitCode::kOk;
}

}  // namespace tessera::cli
