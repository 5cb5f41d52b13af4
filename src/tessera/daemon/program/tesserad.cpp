// The program `tesserad`: the services of Tessera, in the roles that its command line names.
#include <sched.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tessera/daemon/lock_daemon.hpp"
#include "tessera/daemon/page_server.hpp"
#include "tessera/daemon/proxy_daemon.hpp"
#include "tessera/daemon/translate_daemon.hpp"
#include "tessera/lock/plain_names.hpp"
#include "tessera/port/address_text.hpp"
#include "tessera/port/authenticated_sockets.hpp"
#include "tessera/port/key_file.hpp"
#include "tessera/port/posix_clock.hpp"
#include "tessera/port/system_random.hpp"
#include "tessera/port/this_process.hpp"

namespace {

using namespace tessera;

// As of the command tessera: what was asked for makes no sense.
constexpr int kUsage = 2;

struct Arguments {
  bool lock = false;
  bool proxy = false;
  std::string upstream;
  std::vector<std::string> listen;
  std::string key_file;
  std::string make_key;
  double lease_s = 5;
  bool fresh = false;
  std::string metrics;
  std::string on_demand;
  std::string on_demand_proxy;
  std::vector<std::string> translate;  // the object file to follow, and the one to make
  std::string views;
  std::string like;
  bool once = false;
  bool force = false;
  int threads = 1;
  double linger_s = 1;
  int nice = 19;
};

// What a signal stops; set before signals are handled, and never again.
daemon::FrameDaemon* g_daemon = nullptr;
port::AuthenticatedSockets* g_sockets = nullptr;

void on_signal(int /*number*/) {
  g_daemon->stop();
  g_sockets->wake();
}

void handle_signals(daemon::FrameDaemon& served, port::AuthenticatedSockets& sockets) {
  g_daemon = &served;
  g_sockets = &sockets;
  struct sigaction action {};
  action.sa_handler = on_signal;
  ::sigaction(SIGTERM, &action, nullptr);
  ::sigaction(SIGINT, &action, nullptr);
}

// A server that does not interrupt those who ask it finds the questions of many when its turn
// comes. With an idle core it runs at once as before; with 64 clients on two cores it serves two to
// three times as many.
void take_turns_with_clients() {
  const sched_param none{};
  static_cast<void>(::sched_setscheduler(0, SCHED_BATCH, &none));
}

void log(const std::string& line) { std::fprintf(stderr, "tesserad: %s\n", line.c_str()); }

int fail(const base::Error& error) {
  log(error.message());
  return 1;
}

// Descriptors that are not for clients: files, listeners, the log.
constexpr size_t kReservedDescriptors = 32;
// Of the connections, those that are left to administrators when all sessions are taken.
constexpr size_t kReservedConnections = 16;
// Of the connections, those that need not have proven anything yet.
constexpr size_t kHalfOpenPart = 4;
// Of the sessions, those that are left to proxies, which serve whoever finds no room.
constexpr size_t kProxyPart = 8;

// Raises the limit of descriptors to what this process may have; how many clients may connect then.
size_t connections_max() {
  constexpr rlim_t kEnough = rlim_t{1} << 20;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return port::TransportLimits{}.connections_max;
  const rlim_t wanted = std::min(limit.rlim_max, kEnough);
  if (limit.rlim_cur < wanted) {
    const rlimit raised = {wanted, limit.rlim_max};
    if (::setrlimit(RLIMIT_NOFILE, &raised) == 0) limit.rlim_cur = wanted;
  }
  const size_t all = std::min(limit.rlim_cur, kEnough);
  return std::max(all, 2 * kReservedDescriptors) - kReservedDescriptors;
}

port::AuthenticationSettings socket_settings() {
  port::AuthenticationSettings settings;
  settings.limits.connections_max = connections_max();
  // All ranks of a job come at the same time.
  settings.half_open_max =
      std::max(settings.half_open_max, settings.limits.connections_max / kHalfOpenPart);
  return settings;
}

lock::LockServerSettings settings_of(const Arguments& arguments) {
  lock::LockServerSettings settings;
  settings.lease_ns = static_cast<int64_t>(arguments.lease_s * 1e9);
  settings.grace_ns = settings.lease_ns;
  settings.restarted = !arguments.fresh;
  settings.sessions_max = connections_max() - kReservedConnections;
  settings.sessions_for_proxies = settings.sessions_max / kProxyPart;
  return settings;
}

// The page of metrics where the arguments want one, else nothing. Requires that signals may come.
base::Result<std::unique_ptr<daemon::PageServer>> show_metrics(const Arguments& arguments,
                                                               daemon::LockDaemon& served) {
  if (arguments.metrics.empty()) return std::unique_ptr<daemon::PageServer>();
  constexpr int64_t kPatienceNs = 2'000'000'000;
  const bool is_port = arguments.metrics.find(':') == std::string::npos;
  return daemon::PageServer::start(
      is_port ? "tcp:127.0.0.1:" + arguments.metrics : arguments.metrics, "/metrics",
      [&served] { return served.metrics([] { g_sockets->wake(); }, kPatienceNs); });
}

// The text of an address with its prefix; what is wrong with it was told before.
std::string full_address(const std::string& address) {
  const auto parsed = port::parse_address_text(address);
  return parsed ? parsed->text() : address;
}

// Empty if the address will do.
std::string check_address(const std::string& address) {
  const auto parsed = port::parse_address_text(address);
  return parsed ? std::string() : parsed.error().context;
}

bool needs_key(const Arguments& arguments) {
  const auto is_tcp = [](const std::string& address) {
    return full_address(address).starts_with("tcp:");
  };
  return is_tcp(arguments.upstream) ||
         std::any_of(arguments.listen.begin(), arguments.listen.end(), is_tcp);
}

base::Result<std::unique_ptr<port::AuthenticatedSockets>> open_sockets(const Arguments& arguments) {
  std::optional<port::SecretKey> key;
  if (needs_key(arguments)) {
    TESSERA_TRY(key, port::read_key_file(arguments.key_file));
  }
  return port::AuthenticatedSockets::create(std::move(key), socket_settings());
}

// The addresses at which it listens, with commas between them.
base::Result<std::string> listen_at_all(port::Transport& transport, const Arguments& arguments) {
  std::string bound;
  for (const std::string& address : arguments.listen) {
    TESSERA_TRY(const std::string answered, transport.listen(full_address(address)));
    bound += (bound.empty() ? "" : ", ") + answered;
  }
  return bound;
}

// Serves until a signal comes.
void serve(daemon::FrameDaemon& served) {
  while (!served.stopped()) served.serve(int64_t{3600} * 1'000'000'000);
}

int serve_locks(const Arguments& arguments) {
  auto sockets = open_sockets(arguments);
  if (!sockets) return fail(sockets.error());
  port::Transport& transport = (*sockets)->transport();
  const auto addresses = listen_at_all(transport, arguments);
  if (!addresses) return fail(addresses.error());
  const port::PosixClock clock;
  port::SystemRandom random;
  daemon::LockDaemon served(settings_of(arguments), {transport, clock, random}, log);
  handle_signals(served, **sockets);
  const auto metrics = show_metrics(arguments, served);
  if (!metrics) return fail(metrics.error());
  log("locks at " + *addresses + ", lease " + CLI::detail::to_string(arguments.lease_s) + " s");
  if (*metrics != nullptr) log("metrics at " + (*metrics)->url());
  serve(served);
  log("stopped with " + std::to_string(served.server().requests()) + " requests open");
  return 0;
}

// --- a server of one file, for as long as somebody needs it

// How long it stays when nobody is there.
constexpr int64_t kLingerNs = 1'000'000'000;
// How often it looks whether somebody is.
constexpr int64_t kLookNs = 50'000'000;
// The socket has this mode while nobody has a session: a server that finds it so was not left in
// the middle of something.
constexpr mode_t kIdleMode = 0700;
constexpr mode_t kBusyMode = 0600;

base::Result<std::unique_ptr<port::PlainFile>> open_guarded(const std::string& path) {
  auto opened = port::PlainFile::open(path, {.read = true, .write = true});
  if (opened || opened.error().code != base::Code::kDenied) return opened;
  return port::PlainFile::open(path, {.read = true});
}

// Servers of other files may be setting up their sockets in the same folder.
base::Result<std::string> listen_in_turn(port::Transport& transport, const std::string& address) {
  constexpr int kTries = 1000;
  constexpr useconds_t kPauseUs = 1000;
  auto listening = transport.listen(address);
  for (int tries = 0; tries < kTries && !listening; ++tries) {
    if (listening.error().code != base::Code::kRetry) break;
    ::usleep(kPauseUs);
    listening = transport.listen(address);
  }
  return listening;
}

// Whether a server that was here before may have granted locks that are still held.
bool was_busy(const std::string& socket_path) {
  struct stat left {};
  return ::stat(socket_path.c_str(), &left) == 0 && (left.st_mode & 0777) != kIdleMode;
}

enum class Need { kUsed, kIdle, kNone };

// Until nobody has needed it for a while, or nobody can any more.
void serve_while_needed(daemon::FrameDaemon& served, const port::Clock& clock,
                        const std::function<Need()>& need) {
  int64_t used_ns = clock.now_ns();
  while (!served.stopped() && clock.now_ns() - used_ns < kLingerNs) {
    served.serve(kLookNs);
    const Need now = need();
    if (now == Need::kUsed) used_ns = clock.now_ns();
    if (now == Need::kNone) break;
  }
}

// Goes on in the background: whoever started this may connect once this process, the first, has
// ended.
void go_to_background() {
  const pid_t child = ::fork();
  if (child != 0) ::_exit(child > 0 ? 0 : 1);
  ::setsid();
}

// Listens for TCP at the first host that is asked for; all who come later use that.
class Gate {
 public:
  Gate(port::Transport& transport, const port::SecretKey& key) : transport_(transport), key_(key) {}

  base::Result<lock::OpenedToNodes> open(const std::string& host) {
    if (address_.empty()) {
      TESSERA_TRY(address_, transport_.listen("tcp:" + host + ":0"));
    }
    lock::OpenedToNodes opened = {.address = address_};
    key_.reveal([&](std::string_view text) { opened.key = text; });
    return opened;
  }

 private:
  port::Transport& transport_;
  const port::SecretKey key_;
  std::string address_;
};

int serve_on_demand(Arguments arguments) {
  auto file = open_guarded(arguments.on_demand);
  if (!file) return fail(file.error());
  const auto identity = (*file)->identity();
  if (!identity) return fail(identity.error());
  const auto address = lock::on_demand_address(*identity);
  if (!address) return fail(address.error());
  port::SystemRandom random;
  const port::SecretKey key = port::SecretKey::draw(random);
  auto sockets = port::AuthenticatedSockets::create(key, socket_settings());
  if (!sockets) return fail(sockets.error());
  const std::string socket_path = address->substr(std::string("unix:").size());
  arguments.fresh = !was_busy(socket_path);
  const auto listening = listen_in_turn((*sockets)->transport(), *address);
  if (!listening) return listening.error().errno_value == EADDRINUSE ? 0 : fail(listening.error());
  ::chmod(socket_path.c_str(), kIdleMode);
  go_to_background();
  const port::PosixClock clock;
  auto made_guard = std::make_unique<daemon::FileGuard>(*std::move(file));
  const daemon::FileGuard& guard = *made_guard;
  daemon::LockDaemon served(settings_of(arguments), {(*sockets)->transport(), clock, random}, log,
                            std::move(made_guard));
  handle_signals(served, **sockets);
  served.watch_clients(
      [&](bool has_clients) { ::chmod(socket_path.c_str(), has_clients ? kBusyMode : kIdleMode); });
  Gate gate((*sockets)->transport(), key);
  served.set_open_to_nodes([&](const std::string& host) { return gate.open(host); });
  // A file that is deleted keeps its space as long as it is open here.
  serve_while_needed(served, clock, [&] {
    if (served.clients() > 0 || served.server().in_grace()) return Need::kUsed;
    return guard.is_deleted() ? Need::kNone : Need::kIdle;
  });
  return 0;
}

std::string proxy_name() { return "proxy of " + port::host_name(); }

// The key of a server over TCP, as it stands on standard input.
base::Result<port::SecretKey> read_key() {
  std::array<char, 2 * port::SecretKey::kBytes> text{};
  const size_t bytes = std::fread(text.data(), 1, text.size(), stdin);
  auto key = port::SecretKey::parse({text.data(), bytes});
  port::wipe(std::as_writable_bytes(std::span(text)));
  return key;
}

int serve_proxy_on_demand(const std::string& upstream) {
  std::optional<port::SecretKey> key;
  if (upstream.starts_with("tcp:")) {
    auto read = read_key();
    if (!read) return fail(read.error());
    key = *std::move(read);
  }
  const auto address = lock::on_demand_proxy_address(upstream);
  if (!address) return fail(address.error());
  auto sockets = port::AuthenticatedSockets::create(std::move(key), socket_settings());
  if (!sockets) return fail(sockets.error());
  const auto listening = listen_in_turn((*sockets)->transport(), *address);
  if (!listening) return listening.error().errno_value == EADDRINUSE ? 0 : fail(listening.error());
  go_to_background();
  const port::PosixClock clock;
  port::SystemRandom random;
  daemon::ProxyDaemon served(upstream, proxy_name(), {(*sockets)->transport(), clock, random}, log);
  handle_signals(served, **sockets);
  serve_while_needed(served, clock,
                     [&] { return served.clients() > 0 ? Need::kUsed : Need::kIdle; });
  return 0;
}

int serve_proxy(const Arguments& arguments) {
  auto sockets = open_sockets(arguments);
  if (!sockets) return fail(sockets.error());
  port::Transport& transport = (*sockets)->transport();
  const auto addresses = listen_at_all(transport, arguments);
  if (!addresses) return fail(addresses.error());
  const port::PosixClock clock;
  port::SystemRandom random;
  const std::string upstream = full_address(arguments.upstream);
  daemon::ProxyDaemon served(upstream, proxy_name(), {transport, clock, random}, log);
  handle_signals(served, **sockets);
  log("proxy of " + upstream + " at " + *addresses);
  serve(served);
  log("stopped");
  return 0;
}

// Becomes the MPI half; returns only if that fails.
int become_half(const std::string& mpi, const Arguments& arguments) {
  std::vector<std::string> words = {port::own_program("tessera-translate-" + mpi),
                                    arguments.translate[0],
                                    arguments.translate[1],
                                    arguments.views,
                                    arguments.like,
                                    arguments.once ? "none" : "shared",
                                    std::to_string(arguments.linger_s),
                                    arguments.force ? "replace" : "keep"};
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  ::execv(pointers.front(), pointers.data());
  return fail(base::fail_errno(errno, "cannot run " + words.front()).error);
}

// What a signal stops in the role of a translator.
daemon::TranslateDaemon* g_translator = nullptr;

// Threads and programs that it starts from now on step back as well. Where that is not allowed it
// is only less kind.
void step_back(int nice) {
  if (::getpriority(PRIO_PROCESS, 0) < nice) ::setpriority(PRIO_PROCESS, 0, nice);
}

int translate(const Arguments& arguments) {
  step_back(arguments.nice);
  if (const std::string mpi = port::launching_mpi(); !mpi.empty())
    return become_half(mpi, arguments);
  daemon::TranslateSettings settings;
  settings.request.in = arguments.translate[0];
  settings.request.out = arguments.translate[1];
  settings.request.views = arguments.views;
  settings.request.like = arguments.like;
  if (arguments.once) settings.request.options.plan.sharing = remap::Sharing::kOnce;
  settings.threads = arguments.threads;
  settings.linger_ns = static_cast<int64_t>(arguments.linger_s * 1e9);
  if (!arguments.force) settings.request.options.existing = port::Existing::kKeep;
  daemon::TranslateDaemon served(settings, log);
  g_translator = &served;
  struct sigaction action {};
  action.sa_handler = [](int) { g_translator->stop(); };
  ::sigaction(SIGTERM, &action, nullptr);
  ::sigaction(SIGINT, &action, nullptr);
  const auto done = served.run();
  if (!done) return fail(done.error());
  log("translated " + std::to_string(done->steps) + " commits, " +
      std::to_string(done->stored_bytes) + " bytes");
  return 0;
}

int make_key(const std::string& path) {
  port::SystemRandom random;
  const auto made = port::make_key_file(path, random);
  return made ? 0 : fail(made.error());
}

void add_translate_options(CLI::App& app, Arguments& arguments) {
  constexpr int kThreadsMax = 1024;
  constexpr int kNiceMax = 19;
  app.add_option("--translate", arguments.translate,
                 "Follow the object file IN while a job writes it, and keep OUT in the layout of "
                 "its readers")
      ->type_name("IN OUT")
      ->expected(2);
  app.add_option("--views", arguments.views, "The readers of --translate: a views file")
      ->type_name("FILE");
  app.add_option("--like", arguments.like,
                 "Or the views that an object file records; also a views file")
      ->type_name("FILE");
  app.add_flag("--force", arguments.force, "Replace OUT if it is there");
  app.add_flag("--once", arguments.once, "Store shared bytes once, not for each reader");
  app.add_option("--threads", arguments.threads, "Threads of --translate")
      ->check(CLI::Range(1, kThreadsMax))
      ->capture_default_str();
  app.add_option("--linger", arguments.linger_s,
                 "Seconds that --translate waits for another writer when the last has gone")
      ->check(CLI::Range(0.0, 1e6))
      ->capture_default_str();
  app.add_option("--nice", arguments.nice,
                 "How far --translate steps back behind programs that compute: 0 not at all")
      ->check(CLI::Range(0, kNiceMax))
      ->capture_default_str();
}

void add_options(CLI::App& app, Arguments& arguments) {
  app.add_flag("--lock", arguments.lock, "Serve list locks");
  app.add_flag("--proxy", arguments.proxy,
               "Serve list locks of the server at --upstream to the processes of this node");
  app.add_option("--upstream", arguments.upstream,
                 "The server of a proxy: unix:PATH, or HOST:PORT for TCP")
      ->check(CLI::Validator(check_address, "ADDRESS"));
  app.add_option(
         "--listen", arguments.listen,
         "Where: unix:PATH, or HOST:PORT for TCP, as often as needed; port 0 is any free one")
      ->allow_extra_args(false)
      ->check(CLI::Validator(check_address, "ADDRESS"));
  app.add_option("--key-file", arguments.key_file,
                 "The key that clients over TCP must know; a file of mode 0600")
      ->envname("TESSERA_KEY_FILE");
  app.add_option("--make-key", arguments.make_key, "Make a new key file, and do nothing else");
  app.add_option("--lease", arguments.lease_s, "Seconds until a silent client loses its locks")
      ->check(CLI::Range(0.01, 3600.0))
      ->envname("TESSERA_LEASE")
      ->capture_default_str();
  app.add_flag("--fresh", arguments.fresh,
               "No server has granted locks here within a lease: begin without a grace period");
  app.add_option("--metrics", arguments.metrics,
                 "Show metrics for Prometheus: a port of this machine, or tcp:HOST:PORT")
      ->type_name("ADDRESS");
  app.add_option("--on-demand", arguments.on_demand,
                 "Serve the locks of one file in the background, at an address that follows from "
                 "the file, until nobody needs it; programs start this by themselves")
      ->type_name("FILE");
  app.add_option(
         "--on-demand-proxy", arguments.on_demand_proxy,
         "Be a proxy of that server in the background, with the key on standard input, until "
         "nobody needs it; programs start this by themselves where a server has no room")
      ->type_name("ADDRESS")
      ->check(CLI::Validator(check_address, "ADDRESS"));
  add_translate_options(app, arguments);
}

// What the options together lack; empty if nothing.
std::string missing(const Arguments& arguments) {
  if (!arguments.make_key.empty() || !arguments.on_demand.empty()) return {};
  if (!arguments.on_demand_proxy.empty()) return {};
  if (!arguments.translate.empty()) {
    const bool one = arguments.views.empty() != arguments.like.empty();
    return one ? "" : "--translate needs to know the readers: --views FILE, or else --like FILE";
  }
  if (arguments.lock == arguments.proxy)
    return "one role is needed: --lock, --proxy or --translate";
  if (arguments.proxy == arguments.upstream.empty()) {
    return "--proxy needs the address of a server, and nobody else does: --upstream";
  }
  if (arguments.proxy && !arguments.metrics.empty()) return "a proxy has no --metrics";
  if (arguments.listen.empty()) return "an address is needed: --listen unix:PATH or HOST:PORT";
  if (needs_key(arguments) && arguments.key_file.empty()) {
    return "clients over TCP have to prove that they know a key: --key-file PATH (or "
           "TESSERA_KEY_FILE); tesserad --make-key PATH makes one";
  }
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("tesserad: the services of Tessera");
  Arguments arguments;
  add_options(app, arguments);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kUsage;
  }
  if (const std::string lack = missing(arguments); !lack.empty()) {
    log(lack);
    return kUsage;
  }
  if (!arguments.make_key.empty()) return make_key(arguments.make_key);
  if (!arguments.translate.empty()) return translate(arguments);
  take_turns_with_clients();
  if (!arguments.on_demand.empty()) return serve_on_demand(arguments);
  if (!arguments.on_demand_proxy.empty()) {
    return serve_proxy_on_demand(full_address(arguments.on_demand_proxy));
  }
  return arguments.proxy ? serve_proxy(arguments) : serve_locks(arguments);
}
