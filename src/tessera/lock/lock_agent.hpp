// LockAgent: the lock service for a program whose threads wait for their locks.
//
// The thread that waits carries the frames of all threads; a keeper of its own says now and then
// that the process is alive, so that a lock outlasts a long transfer. A process that is frozen says
// nothing, and loses its locks. While it caches locks, the keeper listens.
//   (A1) One thread at a time uses the connection; whoever wants it next interrupts the one that
//        waits inside.
//   (A2) A lock that acquire() answers will be held for a good part of a lease yet.
// Thread safety: all functions from any thread, but for the end.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tessera/lock/cached_lock.hpp"
#include "tessera/lock/lock_connection.hpp"
#include "tessera/port/clock.hpp"
#include "tessera/port/guarded.hpp"
#include "tessera/port/monitor.hpp"
#include "tessera/port/quiet_thread.hpp"
#include "tessera/port/secret_key.hpp"
#include "tessera/port/transport.hpp"

namespace tessera::lock {

class LockAgent {
 public:
  // For which a client looks for an answer before it sleeps: an answer of a server that is free
  // takes less.
  static constexpr int64_t kAwakeNs = 30'000;

  struct World {
    port::Transport& transport;
    // Makes a next_event() of the transport that waits, or else the next one, answer early; may be
    // called from any thread.
    std::function<void()> wake;
    const port::Clock& clock;
    LockConnection::Starters starters = {};
  };

  // `name` is what those who look at the server see. Requires that all of the world outlive it.
  LockAgent(const std::string& address, const std::string& name, World world);
  // On sockets of its own. Addresses of TCP need a key.
  [[nodiscard]] static base::Result<std::shared_ptr<LockAgent>> on_sockets(
      const std::string& address, const std::string& name, std::optional<port::SecretKey> key,
      LockConnection::Starters starters = {});
  // Requires that no other function is running.
  ~LockAgent();
  LockAgent(const LockAgent&) = delete;
  LockAgent& operator=(const LockAgent&) = delete;

  // Waits for a lock. Fails with kRetry if the server cannot be reached for long, or as the request
  // says that it may not wait, or if a server says nothing for long after that; with kInvalid if
  // the server takes no such request, with kTooComplex if no message holds its bytes.
  [[nodiscard]] base::Result<Sequence> acquire(const LockClient::Asked& asked);
  // Gives it back; nothing happens if it was lost.
  void release(Sequence sequence);
  // Fails with kDenied, and says why, if the lock was taken away since it was acquired, as far as
  // the server's word of it has arrived.
  [[nodiscard]] base::Result<void> confirm(Sequence sequence);

  // Keeps a session at the server until the end, so that one that leaves when it is idle stays.
  void keep_session();

  // Waits for a lock as acquire() does, to keep it until somebody else waits for it. Requires that
  // the agent outlives it. Fails with kRetry also where there is no thread to listen.
  [[nodiscard]] base::Result<std::shared_ptr<CachedLock>> acquire_cached(LockClient::Asked asked);

 private:
  using Entry = port::Monitor<LockConnection>::Entry;

  [[nodiscard]] Entry enter();
  // Lets something happen to the connection: by this thread, or by the one that is at it.
  void follow(Entry& inside);
  void lead(Entry& inside, int64_t until_ns);
  void step_aside(Entry& inside, int64_t for_ns);
  [[nodiscard]] base::Result<Sequence> ask(Entry& inside, const LockClient::Asked& asked);
  // Until it is granted.
  [[nodiscard]] base::Result<void> wait(Entry& inside, Sequence sequence, int64_t wait_ns);
  // A request that is not answered is given up.
  [[nodiscard]] base::Failure give_up(Entry& inside, Sequence sequence);
  // Waits until enough of the lease is left (A2); false if the lock is lost or recalled before.
  [[nodiscard]] bool settle(Entry& inside, Sequence sequence);
  // What the keeper does, until the end.
  void watch();
  void start_keeper();
  // Tells cached locks what has happened to them, and gives back those that are not used any more.
  void update_cached(Entry& inside);
  void give_back(Sequence sequence);

  const std::function<void()> wake_;
  const port::Clock& clock_;
  const std::string address_;
  std::atomic<bool> leading_ = false;  // a thread waits in the transport
  std::atomic<int> wanting_ = 0;       // threads on their way in
  std::atomic<int> following_ = 0;     // threads that let others in
  std::atomic<bool> stopping_ = false;
  port::Monitor<LockConnection> inside_;
  port::QuietThread keeper_;                                // used only inside
  std::map<Sequence, std::shared_ptr<CachedLock>> cached_;  // used only inside
  // Cached locks that nobody uses any more; whoever is inside next gives them back.
  port::Guarded<std::vector<Sequence>> unused_;
};

}  // namespace tessera::lock
