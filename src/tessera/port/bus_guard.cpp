#include "tessera/port/bus_guard.hpp"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <mutex>

#include "tessera/base/assert.hpp"

namespace tessera::port {

namespace {

using Action = struct sigaction;

// What the program wants to be done, kept for ever once seen: handlers read it at any time, and
// programs have few.
struct Disposition {
  Action action;
  const Disposition* below;  // what ours stood for when this came in its place (BUS-5)
  const Disposition* next;   // of all that are known
};

constexpr Disposition kStandard = {};  // SIG_DFL

std::mutex g_mutex;
std::atomic<int> g_guards = 0;         // changed under the mutex
const Disposition* g_known = nullptr;  // under the mutex
// What ours stands for, or what was put in its place last.
std::atomic<const Disposition*> g_program = &kStandard;
// What ours was installed over last: who saves ours and restores it later restores this (BUS-6).
std::atomic<const Disposition*> g_replaced = &kStandard;

// Counts what change() does, before and after.
std::atomic<uint64_t> g_changes = 0;

// In memory that a thread has from its beginning, for a handler cannot wait for an allocation.
[[gnu::tls_model("initial-exec")]] thread_local std::atomic<BusGuard*> t_guard = nullptr;
// What g_changes was when this thread last left a fault to occur again without a change.
[[gnu::tls_model("initial-exec")]] thread_local std::atomic<uint64_t> t_returned = ~uint64_t{0};

// The kernel fills in only as much of a mask as it has signals.
constexpr size_t kMaskBytes = (NSIG - 1) / 8;

bool is_same(const Action& one, const Action& other) {
  return one.sa_handler == other.sa_handler && one.sa_flags == other.sa_flags &&
         std::memcmp(&one.sa_mask, &other.sa_mask, kMaskBytes) == 0;
}

// Under the mutex.
void remember(const Action& action, const Disposition* below) {
  const Disposition* known = g_known;
  while (known != nullptr && !(known->below == below && is_same(known->action, action))) {
    known = known->next;
  }
  if (known == nullptr) g_known = known = new Disposition{action, below, g_known};
  g_program.store(known);
}

// Whether it was sent by somebody, and does not come again when the thread goes on.
bool is_sent(const siginfo_t& info) { return info.si_code <= 0 || info.si_code == BUS_MCEERR_AO; }

// Changes who handles the signal, and answers who did.
Action change(const Action& action) {
  Action before{};
  ++g_changes;
  ::sigaction(SIGBUS, &action, &before);
  ++g_changes;
  return before;
}

void send_again(siginfo_t& info) {
  ::syscall(SYS_rt_tgsigqueueinfo, ::getpid(), ::syscall(SYS_gettid), SIGBUS, &info);
}

}  // namespace

// The handler, and what it needs of the class.
struct BusGuard::Handler {
  static void on_signal(int number, siginfo_t* info, void* context);

  static const Action& ours() {
    static const Action action = [] {
      Action made{};
      made.sa_sigaction = on_signal;
      made.sa_flags = SA_SIGINFO | SA_ONSTACK;
      sigemptyset(&made.sa_mask);
      return made;
    }();
    return action;
  }
  static bool is_ours(const Action& action) {
    return (action.sa_flags & SA_SIGINFO) != 0 && action.sa_sigaction == on_signal;
  }

  static void begin();
  static void end();
  static bool put_back();
};

void BusGuard::Handler::begin() {
  const std::lock_guard lock(g_mutex);
  ++g_guards;
  Action current{};
  ::sigaction(SIGBUS, nullptr, &current);
  if (is_ours(current)) {
    if (g_guards == 1) g_program.store(g_replaced.load());
    return;
  }
  const Disposition* program = g_program.load();
  const Disposition* below = g_guards > 1 ? program : nullptr;
  if (!is_same(program->action, current)) remember(current, below);
  // Another thread may have installed one since it was looked at.
  const Action replaced = change(ours());
  if (!is_ours(replaced) && !is_same(replaced, current)) remember(replaced, below);
  g_replaced.store(g_program.load());
}

void BusGuard::Handler::end() {
  const std::lock_guard lock(g_mutex);
  if (--g_guards > 0) return;
  const Disposition* program = g_program.load();
  const Action current = change(program->action);
  if (is_ours(current) || is_same(program->action, current)) return;
  // Ours was gone already.
  change(current);
  remember(current, program);
}

// Makes the fault, which occurs again, the program's. Whether ours stood there.
bool BusGuard::Handler::put_back() {
  const uint64_t changes = g_changes.load();
  Action current{};
  ::sigaction(SIGBUS, nullptr, &current);
  const bool stood = is_ours(current);
  const Disposition* program = stood && g_guards == 0 ? g_replaced.load() : g_program.load();
  if (!stood) {
    // Either the program's handler goes on to ours, or the last guard has gone since the fault and
    // nothing is to be done. If the fault comes back here for the latter reason, ours was
    // installed and removed again in between. A handler that nobody has seen yet, while guards
    // live, came in the place of ours.
    const bool came_during_guard = !is_same(program->action, current) && g_guards > 0;
    if (!came_during_guard) {
      program = is_same(program->action, current) ? program->below : nullptr;
    }
    if (program == nullptr) {
      const uint64_t returned = t_returned.exchange(changes);
      if (returned != g_changes.load()) return false;
      program = &kStandard;
    }
    g_program.store(program);
  }
  change(program->action);
  return stood;
}

void BusGuard::Handler::on_signal(int /*number*/, siginfo_t* info, void* context) {
  const int errno_before = errno;
  BusGuard* guard = t_guard.load(std::memory_order_relaxed);
  if (guard == nullptr) {
    if (put_back() && is_sent(*info)) send_again(*info);
  } else if (is_sent(*info)) {
    guard->sent_ = *info;
  } else if (!guard->replace(info->si_addr)) {
    put_back();
    // A fault that a thread has blocked ends the program.
    if (sigismember(&guard->mask_, SIGBUS) == 1) {
      sigaddset(&static_cast<ucontext_t*>(context)->uc_sigmask, SIGBUS);
    }
  }
  errno = errno_before;
}

// Puts zeros in the place of the mapping if the fault lies there; whether it could.
bool BusGuard::replace(const void* fault) {
  const auto* at = static_cast<const std::byte*>(fault);
  const std::span<std::byte> mapping = guarded_.mapping;
  if (at < mapping.data() || at >= mapping.data() + mapping.size()) return false;
  guarded_.lost.store(true);
  constexpr int kZeros = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE;
  // Not mmap(), which tools that watch memory take over, and they may wait.
  return ::syscall(SYS_mmap, mapping.data(), mapping.size(), guarded_.protection, kZeros, -1, 0) !=
         -1;
}

BusGuard::BusGuard(const Guarded& guarded) : guarded_(guarded) {
  TESSERA_ASSERT(t_guard.load(std::memory_order_relaxed) == nullptr);
  // Known before the signal can come.
  sigset_t bus;
  sigemptyset(&bus);
  sigaddset(&bus, SIGBUS);
  sigemptyset(&mask_);
  ::pthread_sigmask(SIG_SETMASK, nullptr, &mask_);
  t_guard.store(this, std::memory_order_relaxed);
  Handler::begin();
  if (sigismember(&mask_, SIGBUS) == 1) ::pthread_sigmask(SIG_UNBLOCK, &bus, nullptr);
  std::atomic_signal_fence(std::memory_order_seq_cst);
}

BusGuard::~BusGuard() {
  std::atomic_signal_fence(std::memory_order_seq_cst);
  // Before the program's handler can see what it has blocked.
  if (sigismember(&mask_, SIGBUS) == 1) ::pthread_sigmask(SIG_SETMASK, &mask_, nullptr);
  Handler::end();
  t_guard.store(nullptr, std::memory_order_relaxed);
  if (sent_.si_signo != 0) send_again(sent_);
}

}  // namespace tessera::port
