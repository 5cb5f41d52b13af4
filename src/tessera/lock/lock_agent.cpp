#include "tessera/lock/lock_agent.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "tessera/base/checked.hpp"
#include "tessera/lock/board_file.hpp"
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
              LockConnection::World{world.transport, world.clock, std::move(world.revive),
                                    std::move(world.open_board)}) {}

Result<std::shared_ptr<LockAgent>> LockAgent::on_sockets(const std::string& address,
                                                         const std::string& name,
                                                         std::optional<port::SecretKey> key,
                                                         std::function<void()> revive) {
  struct Whole {
    Whole(std::unique_ptr<port::AuthenticatedSockets> made, const std::string& address,
          const std::string& name, std::function<void()> revive)
        : sockets(std::move(made)),
          agent(address, name,
                {sockets->transport(), [this] { sockets->wake(); }, clock, std::move(revive),
                 boards_at(address)}) {}
    const port::PosixClock clock;
    const std::unique_ptr<port::AuthenticatedSockets> sockets;
    LockAgent agent;
  };
  TESSERA_TRY(auto sockets, port::AuthenticatedSockets::create(std::move(key)));
  sockets->look_before_sleep(kAwakeNs);
  const auto whole = std::make_shared<Whole>(std::move(sockets), address, name, std::move(revive));
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
  inside->step(wanting_ > 0 ? clock_.now_ns() : until_ns);
  leading_ = false;
  tell_kept(inside);
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
    if (inside->take_claimed(sequence)) return sequence;
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
    if (now_ns - silent_since_ns > kUnreachableNs || now_ns - begin_ns > patience_ns) {
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

Result<std::shared_ptr<KeptLock>> LockAgent::keep(LockClient::Asked asked) {
  asked.recallable = true;
  auto inside = enter();
  start_keeper();
  if (!keeper_.running()) return base::fail(Code::kRetry, "no thread to listen for recalls");
  TESSERA_TRY(const Sequence sequence, ask(inside, asked));
  const auto lock =
      std::make_shared<KeptLock>(clock_.now_ns(), [this, sequence] { give_back(sequence); });
  kept_.emplace(sequence, lock);
  tell_kept(inside);
  inside_.notify_all();
  return lock;
}

void LockAgent::tell_kept(Entry& inside) {
  const int64_t margin_ns = inside->lease_ns() / kMarginPart;
  for (auto& [sequence, lock] : kept_) {
    lock->extend(inside->valid_until_ns(), margin_ns);
    while (const auto event = inside->take_event(sequence)) {
      if (event->kind == LockClient::Event::Kind::kRecalled) lock->recall();
      if (event->kind == LockClient::Event::Kind::kLost) lock->lose();
    }
  }
  const auto unused = unused_.with([](auto& sequences) { return std::exchange(sequences, {}); });
  for (const Sequence sequence : unused) {
    inside->release(sequence);
    kept_.erase(sequence);
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
  if (inside->holds_undisturbed(sequence)) return {};
  if (inside->catch_up()) inside_.notify_all();
  if (inside->holds(sequence)) return {};
  const auto event = inside->take_event(sequence);
  const std::string why = event ? event->error.context : "its lease is over";
  return base::fail(Code::kDenied, "a lock was taken away while it was in use: " + why);
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
    // Who claims on a board never waits for the server; somebody has to hear what it says.
    if (!leading_ && inside->catch_up()) tell_kept(inside);
    while (!stopping_ && !leading_ && (inside->is_due() || !kept_.empty())) {
      lead(inside, clock_.now_ns() + kListenNs);
    }
  }
}

}  // namespace tessera::lock
