// The MPI half of `tesserad --translate`: the processes of a job translate an object file together.
//
// Started by tesserad itself, once for each process, with IN OUT VIEWS LIKE shared|none LINGER
// replace|keep. The first rank follows the file, prints, and is stopped by signals; the others help
// it. All end with the same code.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "tessera/daemon/translate_daemon.hpp"
#include "tessera/mpiio/program/mpi_program.hpp"

namespace {

using namespace tessera;

daemon::TranslateDaemon* g_translator = nullptr;

void log(const std::string& line) { std::fprintf(stderr, "tesserad: %s\n", line.c_str()); }

daemon::TranslateSettings settings_of(char** words) {
  daemon::TranslateSettings settings;
  settings.request.in = words[1];
  settings.request.out = words[2];
  settings.request.views = words[3];
  settings.request.like = words[4];
  const bool shared = std::string(words[5]) == "shared";
  settings.request.options.plan.sharing =
      shared ? remap::Sharing::kReplicated : remap::Sharing::kOnce;
  settings.linger_ns = static_cast<int64_t>(std::atof(words[6]) * 1e9);
  const bool keeps = std::string(words[7]) == "keep";
  settings.request.options.existing = keeps ? port::Existing::kKeep : port::Existing::kReplace;
  return settings;
}

void handle_signals(void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  ::sigaction(SIGTERM, &action, nullptr);
  ::sigaction(SIGINT, &action, nullptr);
}

int follow(daemon::TranslateSettings settings, const mpiio::MpiProcess& process) {
  remap::Helpers helpers(process.exchange, process.leads_node);
  settings.helpers = &helpers;
  daemon::TranslateDaemon served(settings, log);
  g_translator = &served;
  handle_signals([](int) { g_translator->stop(); });
  const auto done = served.run();
  if (!done) {
    log(done.error().message());
    return 1;
  }
  log("translated " + std::to_string(done->steps) + " commits, " +
      std::to_string(done->stored_bytes) + " bytes");
  return 0;
}

int run(const mpiio::MpiProcess& process, char** words) {
  const daemon::TranslateSettings settings = settings_of(words);
  if (process.exchange.rank() == 0) return follow(settings, process);
  // Launchers send signals to all; the first rank says what they mean.
  handle_signals([](int) {});
  const auto pause = [&] { daemon::pause_for(settings.poll_ns); };
  return remap::help(process.exchange, settings.request, process.leads_node, pause) ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  return mpiio::run_mpi_program({.command = "tesserad --translate", .words = 8, .run = run}, argc,
                                argv);
}
