// The program `tesserad`: the services of Tessera, in the roles that its command line names.
#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <limits>
#include <memory>
#include <string>

#include "tessera/daemon/lock_daemon.hpp"
#include "tessera/daemon/page_server.hpp"
#include "tessera/port/posix_clock.hpp"
#include "tessera/port/posix_transport.hpp"
#include "tessera/port/system_random.hpp"

namespace {

using namespace tessera;

// As of the command tessera: what was asked for makes no sense.
constexpr int kUsage = 2;

struct Arguments {
  bool lock = false;
  std::string listen;
  double lease_s = 5;
  bool fresh = false;
  std::string metrics;
};

// What a signal stops; set before signals are handled, and never again.
daemon::LockDaemon* g_daemon = nullptr;
port::PosixTransport* g_transport = nullptr;

void on_signal(int /*number*/) {
  g_daemon->stop();
  g_transport->wake();
}

void handle_signals() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  ::sigaction(SIGTERM, &action, nullptr);
  ::sigaction(SIGINT, &action, nullptr);
}

void log(const std::string& line) { std::fprintf(stderr, "tesserad: %s\n", line.c_str()); }

int fail(const base::Error& error) {
  log(error.message());
  return 1;
}

lock::LockServerSettings settings_of(const Arguments& arguments) {
  lock::LockServerSettings settings;
  settings.lease_ns = static_cast<int64_t>(arguments.lease_s * 1e9);
  settings.grace_ns = settings.lease_ns;
  settings.restarted = !arguments.fresh;
  return settings;
}

// The page of metrics where the arguments want one, else nothing. Requires that signals may come.
base::Result<std::unique_ptr<daemon::PageServer>> show_metrics(const Arguments& arguments) {
  if (arguments.metrics.empty()) return std::unique_ptr<daemon::PageServer>();
  constexpr int64_t kPatienceNs = 2'000'000'000;
  const bool is_port = arguments.metrics.find(':') == std::string::npos;
  return daemon::PageServer::start(
      is_port ? "tcp:127.0.0.1:" + arguments.metrics : arguments.metrics, "/metrics",
      [] { return g_daemon->metrics([] { g_transport->wake(); }, kPatienceNs); });
}

int serve_locks(const Arguments& arguments) {
  auto transport = port::PosixTransport::create();
  if (!transport) return fail(transport.error());
  const auto address = (*transport)->listen(arguments.listen);
  if (!address) return fail(address.error());
  const port::PosixClock clock;
  port::SystemRandom random;
  daemon::LockDaemon served(settings_of(arguments), {**transport, clock, random}, log);
  g_daemon = &served;
  g_transport = transport->get();
  handle_signals();
  const auto metrics = show_metrics(arguments);
  if (!metrics) return fail(metrics.error());
  log("locks at " + *address + ", lease " + CLI::detail::to_string(arguments.lease_s) + " s");
  if (*metrics != nullptr) log("metrics at " + (*metrics)->url());
  while (!served.stopped()) served.serve(int64_t{3600} * 1'000'000'000);
  log("stopped with " + std::to_string(served.server().requests()) + " requests open");
  return 0;
}

// Empty if the address will do.
std::string check_address(const std::string& address) {
  if (address.starts_with("unix:")) return {};
  return "only unix:PATH can be listened at: TCP needs clients to prove who they are, which they "
         "cannot yet";
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("tesserad: the services of Tessera");
  Arguments arguments;
  app.add_flag("--lock", arguments.lock, "Serve list locks")->required();
  app.add_option("--listen", arguments.listen, "Where: unix:PATH")
      ->required()
      ->check(CLI::Validator(check_address, "ADDRESS"));
  app.add_option("--lease", arguments.lease_s, "Seconds until a silent client loses its locks")
      ->check(CLI::Range(0.01, 3600.0))
      ->capture_default_str();
  app.add_flag("--fresh", arguments.fresh,
               "No server has granted locks here within a lease: begin without a grace period");
  app.add_option("--metrics", arguments.metrics,
                 "Show metrics for Prometheus: a port of this machine, or tcp:HOST:PORT")
      ->type_name("ADDRESS");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kUsage;
  }
  return serve_locks(arguments);
}
