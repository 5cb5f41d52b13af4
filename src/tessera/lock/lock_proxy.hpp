// LockProxy: the lock service of one node, on behalf of a server elsewhere; a state machine.
//
// Processes of the node talk to it as to any lock server; it talks to the real one as one client.
// While nobody else uses a file it holds a recallable lock of the whole file there, a delegation,
// and decides alone. When the delegation is recalled, it passes every request on with exactly its
// bytes, so that disjoint accesses of two nodes do not wait for each other.
//   (Y1) A process has a lock only while the proxy has one upstream that covers it: the delegation
//        of the file, or one of the same bytes and mode.
//   (Y2) No process counts on a lock for longer than the proxy counts on its own: the local lease
//   is
//        a third of the one upstream, and an answer prolongs it only if it ends within that.
//   (Y3) A delegation that is recalled is given back as soon as what was granted under it is over,
//        recallable locks are recalled for that, and meanwhile nothing is granted in the file.
//   (Y4) Under a delegation the server hears nothing but signs of life.
//   (Y5) No process has a lock under a session of the proxy upstream without knowing that session:
//        when there is another one, all connections are ended, and processes come back to it. So a
//        store that refuses the session refuses all writes under its locks.
//
//   a file:  first request --> trying --Granted--> delegated --Recall--> returning
//                                |                     |                    |
//                             Refused             Lost, unused      nothing is held under it
//                                |                     |                    |
//                                v                     v                    |
//        quiet, next request <-- passing <-------------+--------------------+
//              (trying)
//
// A proxy that dies takes its session with it, and its locks with that. One that is started again
// is another server to the processes of the node: what they reclaim it refuses, as it has nothing
// upstream that would cover it, and they lose it. By (Y2) those that do not come back have given it
// up before the server grants the bytes to others, and by (Y5) what they have under way is refused.
// Time is what the caller says; it never decreases. Thread safety: none; one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>

#include "tessera/lock/lock_client.hpp"
#include "tessera/lock/lock_server.hpp"

namespace tessera::lock {

struct LockProxySettings {
  LockServerSettings server = {};          // for the node; the lease is made from that upstream
  int64_t quiet_ns = 1'000'000'000;        // since others were last seen in a file, until it tries
  int64_t unused_ns_max = 10'000'000'000;  // a delegation that nobody uses is given back
};

class LockProxy final : private Backing {
 public:
  using Peer = LockServer::Peer;
  struct Links {
    LockServer::Send send;                 // to a process
    std::function<void(Peer peer)> close;  // ends its connection; disconnect() need not follow
    LockClient::Send send_up;              // to the server
  };

  // `fences` as of LockServer, for sessions of the node. Requires that it and `random` outlive it.
  LockProxy(std::string name, const LockProxySettings& settings, port::Random& random,
            Fences* fences, Links links);

  // The connection to the server, as of LockClient.
  void connected_up(int64_t now_ns);
  void disconnected_up() { upstream_.disconnected(); }
  [[nodiscard]] base::Result<void> receive_up(base::ByteView frame, int64_t now_ns);
  [[nodiscard]] bool is_stalled_up(int64_t now_ns) const { return upstream_.is_stalled(now_ns); }

  // The connections of the processes, as of LockServer. Until the server was reached for the first
  // time, all frames are refused with kRetry.
  [[nodiscard]] base::Result<void> receive(Peer peer, base::ByteView frame, int64_t now_ns);
  void disconnect(Peer peer);
  void fenced(SessionId id);

  // As of both: to be called when all frames that have arrived were received.
  void advance(int64_t now_ns);
  [[nodiscard]] std::optional<int64_t> next_due_ns() const;

  // Null until the server was reached for the first time.
  [[nodiscard]] const LockServer* server() const { return server_ ? &*server_ : nullptr; }

  struct Counts {
    uint64_t delegations = 0;  // that were granted
    uint64_t recalled = 0;     // of those
    uint64_t passed = 0;       // requests that went upstream
  };
  [[nodiscard]] const Counts& counts() const { return counts_; }

  // Asserts (Y1), and the invariants of the server. For tests.
  void check_invariants(int64_t now_ns) const;

 private:
  enum class Rule { kTrying, kDelegated, kReturning, kPassing };

  struct File {
    Rule rule = Rule::kPassing;
    Sequence delegation = 0;           // asked for or held; 0 in kPassing
    std::set<Ticket> turns;            // of the node's requests
    size_t granted = 0;                // of those, under the delegation
    std::optional<int64_t> others_ns;  // when somebody else was last seen
    int64_t used_ns = 0;
  };

  // A request of the node that has its turn here.
  struct Turn {
    std::string file;
    Claim claim;
    bool may_wait = true;
    bool recallable = false;
    Sequence upstream = 0;  // where it was passed on
    bool granted = false;   // under the delegation
  };

  // What a lock upstream is for.
  struct Purpose {
    std::string file;
    std::optional<Ticket> turn;  // none: the delegation
  };

  [[nodiscard]] Answer begin(const Backing::Turn& turn, int64_t now_ns) override;
  void end(Ticket ticket, int64_t now_ns) override;

  // Does what has become of frames from upstream, or of time.
  void follow_up(int64_t now_ns);
  // (Y5)
  void notice_session(int64_t now_ns);
  void on(const LockClient::Event& event, int64_t now_ns);
  void on_delegation(const std::string& name, const LockClient::Event& event, int64_t now_ns);
  void on_turn(Ticket ticket, const LockClient::Event& event, int64_t now_ns);

  [[nodiscard]] bool is_quiet(const File& file, int64_t now_ns) const;
  void try_delegation(const std::string& name, File& file, int64_t now_ns);
  // Whether a lock may be granted under the delegation now (Y2).
  [[nodiscard]] bool is_covered(const File& file, int64_t now_ns) const;
  void grant_turns(File& file, int64_t now_ns);
  void begin_return(File& file, int64_t now_ns);
  void give_back(File& file, int64_t now_ns);
  void lose_delegation(File& file, int64_t now_ns);
  // From now on every request of the file goes upstream.
  void begin_passing(File& file, int64_t now_ns);
  void pass(Ticket ticket, int64_t now_ns);
  void end_upstream(Sequence sequence, int64_t now_ns);
  // Forgets files that nobody uses.
  void sweep(int64_t now_ns);

  const LockProxySettings settings_;
  port::Random& random_;
  Fences* const fences_;
  const Links links_;
  LockClient upstream_;
  Identity session_;  // upstream, that the processes know of
  std::optional<LockServer> server_;
  std::map<std::string, File> files_;
  std::unordered_map<Ticket, Turn> turns_;
  std::map<Sequence, Purpose> purposes_;
  bool uncovered_ = false;  // somebody waits until the lease upstream is renewed
  int64_t sweep_ns_ = 0;
  Counts counts_;
};

}  // namespace tessera::lock
