#include "bench/lock_bench.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <memory>

#include "bench/scratch_folder.hpp"
#include "tessera/daemon/lock_daemon.hpp"
#include "tessera/lock/lock_agent.hpp"
#include "tessera/lock/lock_connection.hpp"
#include "tessera/lock/lock_table.hpp"
#include "tessera/pattern/encode.hpp"
#include "tessera/port/posix_clock.hpp"
#include "tessera/port/posix_transport.hpp"
#include "tessera/port/system_random.hpp"

namespace tessera::bench {

namespace {

using lock::Claim;
using lock::IndexKind;
using lock::LockConnection;
using lock::LockTable;
using pattern::ByteSet;
using pattern::Pattern;

constexpr int64_t kSecondNs = 1'000'000'000;
// The client's core and the server's; where there is only one, both.
constexpr int kClientCore = 0;
constexpr int kServerCore = 1;
// Turns of each of several clients, at least.
constexpr int64_t kShareMin = 2000;

Claim strided(int64_t at, int64_t length, int64_t stride, int64_t count) {
  const auto run = Pattern::run({{at}}, length).value();
  return {ByteSet::of_ascending(pattern::repeat(run, count, {{stride}}).value()),
          lock::Mode::kExclusive};
}

// --- the table

const char* name_of(IndexKind kind) {
  switch (kind) {
    case IndexKind::kPatterns:
      return "patterns";
    case IndexKind::kRuns:
      return "runs in a tree";
    case IndexKind::kBlocks:
      return "bits for blocks";
  }
  return "unknown";
}

// A table that holds some locks, and the claim that is granted and released beside them.
struct Table {
  LockTable table;
  Claim claim;
  lock::Ticket next = 1;

  Table(IndexKind kind, const std::vector<Claim>& held, Claim last)
      : table(lock::make_index(kind)), claim(std::move(last)) {
    for (const Claim& one : held) static_cast<void>(table.request(next++, one));
  }
  void grant_and_release() {
    const lock::Ticket ticket = next++;
    keep(table.request(ticket, claim));
    keep(table.remove(ticket));
  }
};

Contestant granting(std::string name, IndexKind kind, const std::vector<Claim>& held,
                    const Claim& last) {
  const auto table = std::make_shared<Table>(kind, held, last);
  return timed_cpu(std::move(name), [table] { table->grant_and_release(); });
}

// Process `of` of `all` in files of records of 4 KiB: blocks of the bit vectors are as long.
Claim record_of(int64_t of, int64_t all, int64_t runs) {
  return strided(of * 4096, 4096, all * 4096, runs);
}

base::Result<Case> make_index_case(int64_t runs) {
  constexpr int64_t kProcesses = 16;
  std::vector<Claim> held;
  for (int64_t i = 1; i < kProcesses; ++i) held.push_back(record_of(i, kProcesses, runs));
  const Claim last = record_of(0, kProcesses, runs);
  Case measured;
  measured.unit = "us";
  measured.unit_ns = 1e3;
  measured.x = static_cast<double>(runs);
  measured.x_label = "runs of a request";
  measured.ours = granting(name_of(IndexKind::kPatterns), IndexKind::kPatterns, held, last);
  for (const IndexKind kind : {IndexKind::kRuns, IndexKind::kBlocks}) {
    measured.peers.push_back(granting(name_of(kind), kind, held, last));
  }
  measured.note = "grant and release beside 15 held locks of the same stride";
  return measured;
}

// Many held locks against none.
base::Result<Case> make_crowd_case(int64_t held_count, bool equal_strides) {
  constexpr int64_t kRuns = 1000;
  const int64_t stride = (held_count + 1) * 8;
  std::vector<Claim> held;
  for (int64_t i = 1; i <= held_count; ++i) {
    // Strides that differ, each in a part of the period that no other touches.
    const int64_t own = equal_strides ? stride : stride * (i + 1);
    held.push_back(strided(i * 8, 8, own, kRuns));
  }
  const Claim last = strided(0, 8, stride, kRuns);
  Case measured;
  measured.unit = "us";
  measured.unit_ns = 1e3;
  measured.x = static_cast<double>(held_count);
  measured.x_label = "locks held";
  measured.ours = granting("beside held locks", IndexKind::kPatterns, held, last);
  measured.peers = {granting("empty table", IndexKind::kPatterns, {}, last)};
  if (equal_strides) measured.bars = {{Bar::Kind::kRatioAtLeast, 1.0 / 5}};
  return measured;
}

// --- processes

void bind_to(int core) {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  CPU_SET(static_cast<size_t>(core % std::max(1L, ::sysconf(_SC_NPROCESSORS_ONLN))), &cores);
  static_cast<void>(::sched_setaffinity(0, sizeof(cores), &cores));
}

// Binds this process to a core as long as it lives.
class Bound {
 public:
  explicit Bound(int core) {
    CPU_ZERO(&before_);
    static_cast<void>(::sched_getaffinity(0, sizeof(before_), &before_));
    bind_to(core);
  }
  ~Bound() { static_cast<void>(::sched_setaffinity(0, sizeof(before_), &before_)); }
  Bound(const Bound&) = delete;
  Bound& operator=(const Bound&) = delete;

 private:
  cpu_set_t before_{};
};

// A process that ends with this object, or with the one that made it.
class Child {
 public:
  explicit Child(const std::function<void()>& main) {
    std::fflush(nullptr);
    pid_ = ::fork();
    if (pid_ != 0) return;
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    main();
    ::_exit(0);
  }
  ~Child() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    wait();
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  void wait() {
    if (pid_ > 0) ::waitpid(std::exchange(pid_, -1), nullptr, 0);
  }

 private:
  pid_t pid_ = -1;
};

// --- the service

void serve(const std::string& address, int core) {
  if (core >= 0) bind_to(core);
  const auto transport = port::PosixTransport::create();
  if (!transport || !(*transport)->listen(address)) ::_exit(1);
  const port::PosixClock clock;
  port::SystemRandom random;
  daemon::LockDaemon served({}, {**transport, clock, random}, [](const std::string&) {});
  for (;;) served.serve(3600 * kSecondNs);
}

// A client of this process.
struct Client {
  port::PosixClock clock;
  std::unique_ptr<port::PosixTransport> transport;
  std::unique_ptr<LockConnection> connection;

  static base::Result<std::shared_ptr<Client>> make(const std::string& address) {
    auto client = std::make_shared<Client>();
    TESSERA_TRY(client->transport, port::PosixTransport::create());
    client->transport->look_before_sleep(lock::LockAgent::kAwakeNs);  // as an agent does
    client->connection = std::make_unique<LockConnection>(
        address, "bench", LockConnection::World{*client->transport, client->clock});
    return client;
  }
  base::Result<void> take_and_release(const Claim& claim) const {
    const lock::Sequence sequence = connection->ask({.file = "plain:64769:131", .claim = claim});
    const auto event = connection->wait(sequence, 10 * kSecondNs);
    if (!event || event->kind != lock::LockClient::Event::Kind::kGranted) {
      return base::fail(base::Code::kFailed, "a lock was not granted within ten seconds");
    }
    connection->release(sequence);
    return {};
  }
};

// One server and one client, on their cores.
struct Service {
  explicit Service(ScratchFolder made)
      : folder(std::move(made)), address("unix:" + folder.path() + "/locks") {}

  ScratchFolder folder;
  const std::string address;
  std::unique_ptr<Child> server;
  std::shared_ptr<Client> client;

  static base::Result<std::shared_ptr<Service>> start(int server_core) {
    TESSERA_TRY(ScratchFolder folder, ScratchFolder::make());
    auto service = std::make_shared<Service>(std::move(folder));
    const std::string& address = service->address;
    service->server = std::make_unique<Child>([=] { serve(address, server_core); });
    TESSERA_TRY(service->client, Client::make(address));
    return service;
  }
};

Contestant locking(const std::shared_ptr<Service>& service, const Claim& claim) {
  return {"acquire and release", [service, claim](int64_t repetitions) -> base::Result<double> {
            const Bound bound(kClientCore);
            // Also finds the server, the first time.
            TESSERA_TRY_VOID(service->client->take_and_release(claim));
            const double start = now_ns();
            for (int64_t i = 0; i < repetitions; ++i) {
              TESSERA_TRY_VOID(service->client->take_and_release(claim));
            }
            return now_ns() - start;
          }};
}

// 64 bytes to another process and back, by the plainest calls there are.
struct Echo {
  std::array<int, 2> ends = {-1, -1};
  std::unique_ptr<Child> other;

  static base::Result<std::shared_ptr<Echo>> start() {
    auto echo = std::make_shared<Echo>();
    if (::socketpair(AF_UNIX, SOCK_STREAM, 0, echo->ends.data()) != 0) {
      return base::fail_errno(errno, "make a pair of sockets");
    }
    const int end = echo->ends[1];
    echo->other = std::make_unique<Child>([end] {
      bind_to(kServerCore);
      std::array<char, 64> bytes{};
      while (::read(end, bytes.data(), bytes.size()) == std::ssize(bytes)) {
        if (::write(end, bytes.data(), bytes.size()) != std::ssize(bytes)) break;
      }
    });
    return echo;
  }
  ~Echo() {
    other.reset();
    for (const int end : ends) ::close(end);
  }
  [[nodiscard]] base::Result<void> once() const {
    std::array<char, 64> bytes{};
    const bool done = ::write(ends[0], bytes.data(), bytes.size()) == std::ssize(bytes) &&
                      ::read(ends[0], bytes.data(), bytes.size()) == std::ssize(bytes);
    return done ? base::Result<void>() : base::fail_errno(errno, "a bare round trip");
  }
};

Contestant echoing(const std::shared_ptr<Echo>& echo) {
  return {"bare round trip of 64 B", [echo](int64_t repetitions) -> base::Result<double> {
            const Bound bound(kClientCore);
            const double start = now_ns();
            for (int64_t i = 0; i < repetitions; ++i) TESSERA_TRY_VOID(echo->once());
            return now_ns() - start;
          }};
}

base::Result<Case> make_service_case(int64_t runs, double times_max) {
  TESSERA_TRY(const auto service, Service::start(kServerCore));
  TESSERA_TRY(const auto echo, Echo::start());
  Case measured;
  measured.unit = "us";
  measured.unit_ns = 1e3;
  measured.x = static_cast<double>(runs);
  measured.x_label = "runs of a request";
  measured.ours = locking(service, strided(100, 8, 64, runs));
  measured.peers = {echoing(echo)};
  measured.bars = {{Bar::Kind::kRatioAtLeast, 1 / times_max}};
  measured.note = "over a Unix socket, client and server on different cores";
  return measured;
}

base::Result<Case> make_request_size_case(int64_t runs) {
  lock::Acquire asked = {.sequence = 1'000'000, .oldest = 1'000'000};
  asked.stamp_ns = int64_t{1} << 60;
  asked.file = "plain:64769:123456789012";
  asked.bytes = pattern::encode(strided(int64_t{1} << 40, 8, 64, runs).bytes.ascending());
  Case measured;
  measured.unit = "B";
  measured.kind = Kind::kSize;
  measured.ours = sized("request", static_cast<double>(lock::encode(asked).size()));
  measured.bars = {{Bar::Kind::kAtMost, 200}};
  return measured;
}

// Takes and releases its own bytes among as many clients, so often; the main of a process.
void take_turns(const std::string& address, const Claim& claim, int64_t times) {
  const auto client = Client::make(address);
  for (int64_t turn = 0; client && turn < times; ++turn) {
    if (!(*client)->take_and_release(claim)) ::_exit(1);
  }
}

// Several clients at once, each a process. Those need a while to start, so each takes its share of
// many turns.
double time_clients(const std::string& address, int clients, int64_t share) {
  const double start = now_ns();
  std::vector<std::unique_ptr<Child>> all;
  for (int i = 0; i < clients; ++i) {
    const Claim claim = record_of(i, clients, 1000);
    all.push_back(std::make_unique<Child>([&] { take_turns(address, claim, share); }));
  }
  for (const auto& one : all) one->wait();
  return now_ns() - start;
}

base::Result<Case> make_rate_case(int clients) {
  TESSERA_TRY(const auto service, Service::start(-1));
  Case measured;
  measured.unit = "us a pair";
  measured.unit_ns = 1e3;
  measured.ours = {
      "acquire and release", [service, clients](int64_t repetitions) -> base::Result<double> {
        const int64_t share = std::max(kShareMin, repetitions / clients);
        const double ns = time_clients(service->address, clients, share);
        return ns / static_cast<double>(share * clients) * static_cast<double>(repetitions);
      }};
  measured.bars = {{Bar::Kind::kAtMost, 1e6 / 30'000}};
  measured.note = fmt::format("{} clients and the server on all cores, 1,000 runs each", clients);
  return measured;
}

CaseMaker maker(const std::string& name, const std::string& group,
                std::function<base::Result<Case>()> make) {
  return {name, group, std::move(make)};
}

}  // namespace

std::vector<CaseMaker> lock_cases() {
  std::vector<CaseMaker> cases;
  for (const int64_t runs : {1, 1000, 100'000}) {
    cases.push_back(maker(fmt::format("table: 16 writers, requests of {} runs", runs),
                          "table: indexes", [runs] { return make_index_case(runs); }));
  }
  for (const bool equal : {true, false}) {
    const char* group = equal ? "table: held locks of one stride" : "table: of unequal strides";
    for (const int64_t held : {100, 1000, 10'000}) {
      cases.push_back(maker(fmt::format("{}, {} held", group, held), group,
                            [held, equal] { return make_crowd_case(held, equal); }));
    }
  }
  for (const auto& [runs, times_max] : {std::pair{int64_t{1000}, 1.5}, {1'000'000, 1.7}}) {
    cases.push_back(maker(fmt::format("service: request of {} runs, its size", runs),
                          "service: size", [runs = runs] { return make_request_size_case(runs); }));
    cases.push_back(
        maker(fmt::format("service: acquire and release {} runs", runs), "service: one client",
              [runs = runs, times_max = times_max] { return make_service_case(runs, times_max); }));
  }
  cases.push_back(
      maker("service: 8 clients", "service: 8 clients", [] { return make_rate_case(8); }));
  return cases;
}

}  // namespace tessera::bench
