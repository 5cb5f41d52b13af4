#include "tessera/lock/lock_agent.hpp"

#include <algorithm>
#include <cerrno>
#include <limits>
#include <utility>

#include "tessera/base/checked.hpp"
#include "tessera/pattern/encode.hpp"
#include "tessera/port/authenticated_sockets.hpp"

namespace tessera::lock {

namespace {

using base::Code;
using base::Result;

// How long a server may be out of reach before whoever asks is told.
constexpr int64_t kUnreachableNs = 30'000'000'000;
// How much longer than it may wait a request is not answered before whoever asks is told.
constexpr int64_t kAnswerNs = 5'000'000'000;
constexpr int64_t kForEverNs = std::numeric_limits<int64_t>::max();
// Patterns of fewer items are encoded in fewer bytes than a message holds.
constexpr int64_t kSmallWeight = int64_t{1} << 16;
// How long the thread that leads steps aside for others, and others wait for it, at a time.
constexpr int64_t kAsideNs = 100'000;
constexpr int64_t kFollowNs = 10'000'000;
constexpr int64_t kListenNs = 1'000'000'000;
// The keeper looks several times before anything is due.
constexpr int64_t kLooksPerLease = 8;
constexpr int64_t kLookNs = 100'000'000;  // before a lease is known
// Of a lease, what has to be left when a lock is put to use.
constexpr int64_t kMarginPart = 4;

// Waiting gives no process more of them.
bool is_out_of_descriptors(const std::optional<base::Error>& trouble) {
  return trouble && (trouble->errno_value == EMFILE || trouble->errno_value == ENFILE);
}

Result<void> check_size(const pattern::ByteSet& bytes) {
  const pattern::Pattern& runs = bytes.ascending();
  if (runs.shape().weight() <= kSmallWeight) return {};
  if (pattern::encode(runs).size() <= kPatternBytesMax) return {};
  return base::fail(Code::kTooComplex, "a lock on " + std::to_string(bytes.runs()) +
                                           " irregular runs is more than a message holds");
}

}  // namespace

LockAgent::LockAgent(const std::string& address, const std::string& name, World world)
    : wake_(std::move(world.wake)),
      clock_(world.clock),
      address_(address),
      inside_(address, name,
              LockConnection::World{world.transport, world.clock, std::move(world.starters)}) {}

Result<std::shared_ptr<LockAgent>> LockAgent::on_sockets(const std::string& address,
                                                         const std::string& name,
                                                         std::optional<port::SecretKey> key,
                                                         LockConnection::Starters starters) {
  struct Whole {
    Whole(std::unique_ptr<port::AuthenticatedSockets> made, const std::string& address,
          const std::string& name, LockConnection::Starters starters)
        : sockets(std::move(made)),
          agent(address, name,
                {sockets->transport(), [this] { sockets->wake(); }, clock, std::move(starters)}) {}
    const port::PosixClock clock;
    const std::unique_ptr<port::AuthenticatedSockets> sockets;
    LockAgent agent;
  };
  TESSERA_TRY(auto sockets, port::AuthenticatedSockets::create(std::move(key)));
  sockets->look_before_sleep(kAwakeNs);
  const auto whole =
      std::make_shared<Whole>(std::move(sockets), address, name, std::move(starters));
  return std::shared_ptr<LockAgent>(whole, &whole->agent);
}

LockAgent::~LockAgent() {
  stopping_ = true;
  {
    // The keeper is either asleep, and hears this, or has not looked at the flag yet.
    auto inside = enter();
    inside_.notify_all();
  }
  keeper_.join();
  enter()->leave();
}

// (A1): whoever leads looks for others after it has said that it leads, and others look whether
// somebody leads after they have said that they come; so one of them sees the other.
LockAgent::Entry LockAgent::enter() {
  ++wanting_;
  if (leading_) wake_();
  Entry inside = inside_.enter();
  --wanting_;
  return inside;
}

void LockAgent::lead(Entry& inside, int64_t until_ns) {
  leading_ = true;
  // What is given back from here on wakes the step; the wake of what was before may be taken.
  update_cached(inside);
  inside->step(wanting_ > 0 ? clock_.now_ns() : until_ns);
  leading_ = false;
  update_cached(inside);
  if (following_ + wanting_ == 0) return;
  inside_.notify_all();
  step_aside(inside, kAsideNs);
}

// Whoever is outside, or on its way back, is counted: the one that leads then lets it in.
void LockAgent::step_aside(Entry& inside, int64_t for_ns) {
  ++following_;
  inside.wait_for(for_ns);
  --following_;
}

void LockAgent::follow(Entry& inside) {
  if (!leading_) {
    lead(inside, clock_.now_ns() + kFollowNs);
    return;
  }
  step_aside(inside, kFollowNs);
}

Result<Sequence> LockAgent::acquire(const LockClient::Asked& asked) {
  auto inside = enter();
  start_keeper();
  return ask(inside, asked);
}

// A lock that is gone again before it could be put to use was none: it is asked for once more.
Result<Sequence> LockAgent::ask(Entry& inside, const LockClient::Asked& asked) {
  TESSERA_TRY_VOID(check_size(asked.claim.bytes));
  for (;;) {
    const Sequence sequence = inside->ask(asked);
    TESSERA_TRY_VOID(wait(inside, sequence, asked.wait_ns));
    if (settle(inside, sequence)) return sequence;
  }
}

Result<void> LockAgent::wait(Entry& inside, Sequence sequence, int64_t wait_ns) {
  const int64_t begin_ns = clock_.now_ns();
  const int64_t patience_ns =
      wait_ns < 0 ? kForEverNs : base::checked_add(wait_ns, kAnswerNs).value_or(kForEverNs);
  for (;;) {
    if (const auto event = inside->take_event(sequence)) {
      if (event->kind == LockClient::Event::Kind::kGranted) return {};
      return base::Failure{event->error};
    }
    const int64_t now_ns = clock_.now_ns();
    const int64_t silent_since_ns = std::max(begin_ns, inside->reached_ns());
    if (now_ns - silent_since_ns > kUnreachableNs || now_ns - begin_ns > patience_ns ||
        is_out_of_descriptors(inside->trouble())) {
      return give_up(inside, sequence);
    }
    follow(inside);
  }
}

base::Failure LockAgent::give_up(Entry& inside, Sequence sequence) {
  inside->release(sequence);
  const auto& trouble = inside->trouble();
  return base::fail(Code::kRetry,
                    "the lock server at " + address_ +
                        (trouble ? " cannot be reached: " + trouble->message() : " is silent"));
}

bool LockAgent::settle(Entry& inside, Sequence sequence) {
  while (!inside->holds(sequence, inside->lease_ns() / kMarginPart)) {
    if (inside->take_event(sequence)) {
      inside->release(sequence);
      return false;
    }
    follow(inside);
  }
  return true;
}

Result<std::shared_ptr<CachedLock>> LockAgent::acquire_cached(LockClient::Asked asked) {
  asked.recallable = true;
  auto inside = enter();
  start_keeper();
  if (!keeper_.running()) return base::fail(Code::kRetry, "no thread to listen for recalls");
  TESSERA_TRY(const Sequence sequence, ask(inside, asked));
  const auto lock = std::make_shared<CachedLock>([this, sequence] { give_back(sequence); });
  cached_.emplace(sequence, lock);
  update_cached(inside);
  inside_.notify_all();
  return lock;
}

void LockAgent::update_cached(Entry& inside) {
  const int64_t margin_ns = inside->lease_ns() / kMarginPart;
  for (auto& [sequence, lock] : cached_) {
    lock->extend(inside->valid_until_ns(), margin_ns);
    while (const auto event = inside->take_event(sequence)) {
      if (event->kind == LockClient::Event::Kind::kRecalled) lock->recall();
      if (event->kind == LockClient::Event::Kind::kLost) lock->lose();
    }
  }
  const auto unused = unused_.with([](auto& sequences) { return std::exchange(sequences, {}); });
  for (const Sequence sequence : unused) {
    inside->release(sequence);
    cached_.erase(sequence);
  }
}

// From anywhere, also from within: so it is only noted here.
void LockAgent::give_back(Sequence sequence) {
  unused_.with([&](auto& sequences) { sequences.push_back(sequence); });
  wake_();
}

void LockAgent::release(Sequence sequence) { enter()->release(sequence); }

Result<void> LockAgent::confirm(Sequence sequence) {
  auto inside = enter();
  if (inside->catch_up()) inside_.notify_all();
  if (inside->holds(sequence)) return {};
  const auto event = inside->take_event(sequence);
  const std::string why = event ? event->error.context : "its lease is over";
  return base::fail(Code::kDenied, "a lock was taken away while it was in use: " + why);
}

void LockAgent::keep_session() {
  auto inside = enter();
  start_keeper();
  inside->keep_session();
  inside_.notify_all();
}

// Without a thread a lock lasts for a lease, which is long for a transfer.
void LockAgent::start_keeper() {
  if (!keeper_.running()) keeper_ = port::QuietThread([this] { watch(); });
}

void LockAgent::watch() {
  auto inside = enter();
  while (!stopping_) {
    const int64_t lease_ns = inside->lease_ns();
    inside.wait_for(lease_ns > 0 ? lease_ns / kLooksPerLease : kLookNs);
    while (!stopping_ && !leading_ && (inside->is_due() || !cached_.empty())) {
      lead(inside, clock_.now_ns() + kListenNs);
    }
    inside->leave_if_unused();
  }
}

}  // namespace tessera::lock
