// The MPI half of `tesserad --translate`: the processes of a job translate an object file together.
//
// Started by tesserad itself, once for each process, with IN OUT VIEWS LIKE shared|none LINGER. The
// first rank follows the file, prints, and is stopped by signals; the others help it. All end with
// the same code.
#include <mpi.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "tessera/daemon/translate_daemon.hpp"
#include "tessera/mpiio/mpi_exchange.hpp"

namespace {

using namespace tessera;

constexpr int kWords = 7;
constexpr int kUsage = 2;

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
  return settings;
}

// Whether this rank is the one of its node that syncs.
bool leads_node() {
  MPI_Comm node = MPI_COMM_NULL;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  int rank = 0;
  MPI_Comm_rank(node, &rank);
  MPI_Comm_free(&node);
  return rank == 0;
}

void handle_signals(void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  ::sigaction(SIGTERM, &action, nullptr);
  ::sigaction(SIGINT, &action, nullptr);
}

int follow(daemon::TranslateSettings settings, port::Exchange& exchange, bool syncs) {
  remap::Helpers helpers(exchange, syncs);
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

int run(MPI_Comm communicator, char** words) {
  mpiio::MpiExchange exchange(communicator);
  const daemon::TranslateSettings settings = settings_of(words);
  const bool syncs = leads_node();
  if (exchange.rank() == 0) return follow(settings, exchange, syncs);
  // Launchers send signals to all; the first rank says what they mean.
  handle_signals([](int) {});
  const auto pause = [&] { daemon::pause_for(settings.poll_ns); };
  return remap::help(exchange, settings.request, syncs, pause) ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != kWords) {
    log("this program is started by `tesserad --translate`; call that");
    return kUsage;
  }
  MPI_Init(&argc, &argv);
  MPI_Comm communicator = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &communicator);
  MPI_Comm_set_errhandler(communicator, MPI_ERRORS_RETURN);
  const int code = run(communicator, argv);
  MPI_Comm_free(&communicator);
  MPI_Finalize();
  return code;
}
