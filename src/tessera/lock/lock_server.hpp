// LockServer: the lock service as a state machine, for any number of files and sessions.
//
// It is told of frames and of the time, and answers with frames; sockets, threads and clocks are
// elsewhere (daemon/, or the simulated world of port/), and so is the question who may connect.
//   (S1) A session that was heard of less than a lease ago keeps its locks, whatever its connection
//        does. One that was not loses all of them, and is told so if it can be reached.
//   (S2) Bytes of a session that ended are free for others only after every store that can fence
//        has acknowledged that the session is dead ((L4) of STYLE; Fences).
//   (S3) A request that is repeated is the same request: it is answered again, never made twice.
//   (S4) A server that takes the place of one that may have granted locks (restarted) grants
//        nothing but what its clients reclaim, for as long as a lease of the old one may last and
//        until every store refuses the sessions of the old one. Two clients cannot reclaim the same
//        bytes.
//   (S5) Whoever waits for a recallable lock has its holder told so: when it begins to wait, or
//        when the lock is granted later; again when the holder comes back on another connection,
//        and with every sign of life of it. So a frame that is lost delays, and blocks nobody.
//        Requests that may not wait recall nobody.
//   (S6) What a peer sends costs bounded memory, and nothing it sends harms other sessions.
//
//   session:  Hello --> live --lease over--> fencing --fenced()--> gone
//                        |
//                     Goodbye --> gone
//
// Leases are counted from when a message was received; clients count from when they sent it, which
// is earlier. Time is what the caller says; it never decreases.
// Thread safety: none; one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tessera/lock/lock_id.hpp"
#include "tessera/lock/lock_table.hpp"
#include "tessera/lock/messages.hpp"
#include "tessera/lock/wait_histogram.hpp"
#include "tessera/port/random.hpp"

namespace tessera::lock {

struct LockServerSettings {
  int64_t lease_ns = 5'000'000'000;
  bool restarted = false;            // another server may have granted locks before (S4)
  int64_t grace_ns = 5'000'000'000;  // the longest lease that it may have given
  IndexKind index = IndexKind::kPatterns;
  size_t sessions_max = 65'536;
  size_t sessions_for_proxies = 0;  // of those; behind each are many clients
  size_t requests_max = 1'000'000;  // of all sessions
  size_t session_requests_max = kActiveMax;
  size_t pattern_bytes_max = size_t{256} << 20;  // encoded, of all requests
};

// The stores that refuse writes of dead sessions. A write carries the epoch and the session of its
// lock. Once all of them have acknowledged, LockServer is to be told by fenced() or epoch_fenced().
class Fences {
 public:
  virtual ~Fences() = default;
  // Asks them to refuse a session.
  virtual void begin(uint64_t epoch, SessionId session) = 0;
  // Asks them to refuse all sessions of other epochs.
  virtual void begin_epoch(uint64_t epoch) = 0;
};

// Who must agree before a lock is granted, where a server decides for another one (lock_proxy.hpp).
// None of these enters the server.
class Backing {
 public:
  enum class Answer { kYes, kLater, kNo };
  struct Turn {
    Ticket ticket = 0;
    const std::string& file;
    const Claim& claim;
    bool may_wait = true;
    bool recallable = false;
  };
  virtual ~Backing() = default;
  // A request has its turn: nobody at this server is before it. After kLater the server is to be
  // told by backed() or unbacked(). kNo only to one that may not wait.
  virtual Answer begin(const Turn& turn, int64_t now_ns) = 0;
  // One that had its turn is over.
  virtual void end(Ticket ticket, int64_t now_ns) = 0;
};

class LockServer {
 public:
  using Peer = uint64_t;  // a connection, as the caller numbers them
  // Sends a frame; the caller does so in order, or ends the connection.
  using Send = std::function<void(Peer peer, base::Bytes frame)>;

  // `fences` may be null: stores that cannot fence. So may `backing`: it decides alone. Requires
  // that all outlive it.
  LockServer(const LockServerSettings& settings, port::Random& random, Fences* fences, Send send,
             Backing* backing = nullptr);

  // Begins its work; the grace period of (S4) counts from here.
  void start(int64_t now_ns);

  // A frame of a peer. Fails, and the connection is to be ended, if no client sends such a one.
  [[nodiscard]] base::Result<void> receive(Peer peer, base::ByteView frame, int64_t now_ns);
  // The connection is over; its session may come back on another.
  void disconnect(Peer peer);
  // Every store refuses the session from now on.
  void fenced(SessionId id);
  // Every store refuses all sessions of servers before this one.
  void epoch_fenced();
  // The answer to a turn: it is granted, or refused. Nothing happens if it is over.
  void backed(Ticket ticket, int64_t now_ns);
  void unbacked(Ticket ticket, Refusal why, const std::string& text, int64_t now_ns);
  // What a granted lock stood on is gone: its holder loses it.
  void withdraw(Ticket ticket, int64_t now_ns);
  // Somebody wants a recallable lock who is not at this server.
  void recall(Ticket ticket);
  // Clients are told of this identity when they say Hello.
  void set_via(const Identity& via) { via_ = via; }
  // No client is promised a lease that ends later: what it says meanwhile keeps its session, but
  // is not answered with its stamp.
  void set_backed_until(int64_t until_ns) { backed_until_ns_ = until_ns; }
  [[nodiscard]] std::vector<Peer> peers() const;

  // Takes a lock, or the place of a waiting request, from its session; false if there is none.
  bool break_lock(SessionId id, Sequence sequence);

  // Does what has become due. To be called at next_due_ns() or later, but only when all frames that
  // have arrived before were received: a server that was stopped finds them waiting.
  void advance(int64_t now_ns);
  // Nothing if nothing will become due by itself.
  [[nodiscard]] std::optional<int64_t> next_due_ns() const;

  // A request as somebody who looks at the server sees it.
  struct View {
    SessionId session = 0;
    Sequence sequence = 0;
    std::string client;
    std::string file;
    const Claim* claim = nullptr;
    LockState state = LockState::kWaiting;
    bool wanted = false;   // it was recalled, or will be when it is granted
    int64_t since_ns = 0;  // asked for, or granted
    int64_t lease_ns_left = 0;
    std::optional<Ticket> waits_for;
    Ticket ticket = 0;

    [[nodiscard]] LockId id() const { return {session, sequence}; }
  };
  // Calls visit for every request, files in order of their names.
  void for_each(int64_t now_ns, const std::function<void(const View&)>& visit) const;
  // Calls visit for the requests after this one, in the order of their names, as long as it answers
  // true. Cost: O(log n) for each, however many there are.
  void visit_after(LockId after, int64_t now_ns,
                   const std::function<bool(const View&)>& visit) const;
  // Who a ticket was given to. Requires that the request is there.
  [[nodiscard]] LockId id_of(Ticket ticket) const;

  struct Counts {
    uint64_t granted = 0;
    uint64_t waited = 0;  // of those that were granted
    uint64_t refused = 0;
    uint64_t released = 0;
    uint64_t expired_sessions = 0;
    uint64_t lost = 0;
    uint64_t reclaimed = 0;
    uint64_t recalled = 0;
    friend bool operator==(const Counts&, const Counts&) = default;
  };
  [[nodiscard]] const Counts& counts() const { return counts_; }
  [[nodiscard]] uint64_t epoch() const { return epoch_; }
  [[nodiscard]] int64_t lease_ns() const { return settings_.lease_ns; }
  [[nodiscard]] size_t sessions() const { return sessions_.size(); }
  // Whether a session lives on this connection.
  [[nodiscard]] bool has_session(Peer peer) const { return peers_.contains(peer); }
  [[nodiscard]] size_t requests() const { return requests_.size(); }
  [[nodiscard]] size_t held() const { return held_; }  // of the requests
  // Requests that came in the grace period and are looked at when it is over.
  [[nodiscard]] size_t early() const { return early_; }
  [[nodiscard]] size_t files() const { return files_.size(); }
  [[nodiscard]] size_t pattern_bytes() const { return pattern_bytes_; }
  // From request to grant, of all that were granted.
  [[nodiscard]] const WaitHistogram& waits() const { return waits_; }
  // Whether it waits for those who reclaim, or for the stores to refuse those who did not.
  [[nodiscard]] bool in_grace() const { return grace_ != Grace::kOver; }

  // Asserts the invariants of every table, and that sessions and tables name the same requests.
  void check_invariants() const;

 private:
  // A request that came in the grace period, and its place among all of them.
  struct Early {
    uint64_t place = 0;
    Acquire asked;
  };

  // The outcome of a request that is over, kept until the client says that it knows.
  struct Over {
    std::optional<Message> answer;  // none if it was released
  };

  static constexpr int64_t kNeverNs = std::numeric_limits<int64_t>::min() / 2;

  struct Session {
    SessionId id = 0;
    uint64_t secret = 0;
    std::string client;
    std::optional<Peer> peer;
    int64_t heard_ns = 0;
    int64_t stamp_ns = kNeverNs;  // from when the client counts its lease
    bool fencing = false;
    Sequence oldest = 1;
    std::map<Sequence, Ticket> active;
    std::map<Sequence, Over> over;
    std::map<Sequence, Early> early;

    [[nodiscard]] size_t requests() const { return active.size() + early.size(); }
  };

  struct Request {
    SessionId session = 0;
    Sequence sequence = 0;
    std::string file;
    int64_t since_ns = 0;
    int64_t wait_end_ns = 0;  // 0: never
    int64_t hold_ns = 0;      // 0: for ever
    bool may_wait = true;
    bool recallable = false;
    bool had_turn = false;  // the backing knows of it
    bool waited = false;
    bool wanted = false;  // it is recallable, and somebody waits for it, or has waited
    bool held = false;
    size_t pattern_bytes = 0;
  };

  // What becomes due.
  enum class Due { kLease, kWait, kHold };
  struct Deadline {
    int64_t at_ns;
    Due what;
    uint64_t id;  // a session, or a ticket
    friend auto operator<=>(const Deadline&, const Deadline&) = default;
  };

  [[nodiscard]] Session* session_of(Peer peer);
  [[nodiscard]] Session* find_session(SessionId id);
  void hear(Session& session, int64_t stamp_ns, int64_t now_ns);

  [[nodiscard]] base::Result<void> on(Peer peer, const Hello& hello, int64_t now_ns);
  void welcome(Peer peer, Session& session, bool resumed);
  [[nodiscard]] Session& make_session(const Hello& hello);
  // Releases the requests up to `last` that are not among the active ones.
  void release_others(Session& session, Sequence last, const std::vector<Sequence>& active,
                      int64_t now_ns);
  void on(Session& session, const Acquire& asked, int64_t now_ns);
  void on(Session& session, const Release& released, int64_t now_ns);
  void on(Session& session, const Renew& renew, int64_t now_ns);

  // Whether the request was there before, and was answered again if there is an answer (S3).
  bool answer_again(Session& session, const Acquire& asked);
  void remember(Session& session, Sequence sequence, Over over);
  void forget_before(Session& session, Sequence oldest);
  void ask(Session& session, const Acquire& asked, int64_t now_ns);
  void reclaim(Session& session, const Acquire& asked, Claim claim, int64_t now_ns);
  // A request has its turn: it is granted, unless somebody else must agree.
  void take_turn(Ticket ticket, int64_t now_ns);
  void grant(Ticket ticket, int64_t now_ns);
  // Refuses a request that is in its table.
  void turn_away(Ticket ticket, Refusal why, const std::string& text, int64_t now_ns);
  // (S5)
  void recall_for(Ticket waiting);
  void recall_again(const Session& session);
  void recall_if_wanted(Ticket ticket);
  void refuse(Session& session, Sequence sequence, Refusal why, const std::string& text);
  // Whether there is room for one more request of the session.
  [[nodiscard]] bool has_room(const Session& session, const Acquire& asked) const;
  void forget_early(Session& session, Sequence sequence);
  // The table of a file, made if there is none.
  [[nodiscard]] LockTable& table_of(const std::string& file);
  Request& add_request(Ticket ticket, Session& session, const Acquire& asked, int64_t now_ns);
  // Takes the request out of its table, and grants those that waited for it.
  void remove(Ticket ticket, int64_t now_ns);
  void lose(Ticket ticket, Loss why, int64_t now_ns);
  void check_grace(int64_t now_ns);
  void end_grace(int64_t now_ns);
  void expire(Session& session, int64_t now_ns);
  void end_session(SessionId id, int64_t now_ns);
  void run(const Deadline& deadline, int64_t now_ns);
  void tell(const Session& session, const Message& message) const;
  [[nodiscard]] View view_of(Ticket ticket, int64_t now_ns) const;

  const LockServerSettings settings_;
  port::Random& random_;
  Fences* const fences_;
  const Send send_;
  Backing* const backing_;
  const uint64_t epoch_;
  Identity via_;
  int64_t backed_until_ns_ = std::numeric_limits<int64_t>::max();

  int64_t now_ns_ = 0;
  int64_t grace_end_ns_ = 0;
  enum class Grace { kReclaiming, kFencing, kOver };
  Grace grace_ = Grace::kOver;
  Ticket last_ticket_ = 0;
  SessionId last_session_ = 0;
  std::map<SessionId, Session> sessions_;
  std::unordered_map<Peer, SessionId> peers_;
  std::map<std::string, LockTable> files_;
  std::unordered_map<Ticket, Request> requests_;
  std::set<Deadline> deadlines_;
  uint64_t early_places_ = 0;  // given so far
  size_t early_ = 0;           // requests
  size_t pattern_bytes_ = 0;   // of all requests
  size_t held_ = 0;
  Counts counts_;
  WaitHistogram waits_;
};

}  // namespace tessera::lock
