// LockClient: a process's side of the lock service, as a state machine.
//
// It is told of frames, of connections and of the time, and answers with frames and events; sockets
// and threads are elsewhere. A request outlives connections and servers: it is asked again until it
// is answered, and a lock that is held is reclaimed from a server that was restarted.
//   (C1) A lock counts as held only while the lease lasts, counted from when a message was sent
//        that the server has answered. When it is over, or the server says so, the lock is lost,
//        and an event tells it.
//   (C2) Each request ends in one event kGranted or kRefused, unless it is released before; each
//        granted one may end in one kLost. Before that, one that is recallable may have one
//        kRecalled, however often the server says so: somebody waits for it, and it is to be
//        released as soon as it can be.
//   (C3) A session in which the lease was over while something was held is never resumed.
//   (C4) What is written under a lock carries the session in which a server has last said that it
//        is granted: if that session ends, with or without this client knowing, a store that
//        refuses it refuses the write.
//
//   acquire() --> asked --Granted--> held --release()--> over
//                   |                 |
//                Refused       Lost, lease over
//
// Time is what the caller says; it never decreases. Thread safety: none; one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tessera/lock/lock_index.hpp"
#include "tessera/lock/messages.hpp"

namespace tessera::lock {

class LockClient {
 public:
  using Send = std::function<void(base::Bytes frame)>;

  // Whether its session lives on while nothing is asked for; else the server forgets it.
  enum class Idle { kForgotten, kRenewed };
  void keep_session() { keeps_session_ = true; }

  // `name` is what those who look at the server see.
  LockClient(std::string name, Send send, Idle idle = Idle::kForgotten)
      : name_(std::move(name)), send_(std::move(send)), idle_(idle) {}

  struct Asked {
    std::string file;
    Claim claim;
    int64_t wait_ns = -1;     // 0: now or never; negative: for ever
    int64_t hold_ns = 0;      // taken away after so long; 0: never
    bool recallable = false;  // it is released soon after kRecalled
  };

  // Asks for a lock, as soon as there is a connection. Requires bytes.
  [[nodiscard]] Sequence acquire(const Asked& asked, int64_t now_ns);
  // Gives it back, or gives the request up; nothing happens if it is over.
  void release(Sequence sequence, int64_t now_ns);

  // Whether it is held, and will be for so long yet.
  [[nodiscard]] bool holds(Sequence sequence, int64_t now_ns, int64_t for_ns = 0) const;
  [[nodiscard]] bool idle() const { return requests_.empty(); }
  // Whether there is something that the server must hear of within the lease.
  [[nodiscard]] bool needs_session() const {
    return idle_ == Idle::kRenewed || keeps_session_ || !requests_.empty();
  }
  // What a store knows a lock by: the session in which it was granted and, where there is a proxy,
  // that of the proxy. A write carries both, and a store refuses it if it refuses one of them. A
  // lock that is being reclaimed stands where it stood before (C4).
  struct Standing {
    Identity own;
    Identity via;
  };
  // Requires that it was granted and is not over.
  [[nodiscard]] const Standing& standing(Sequence sequence) const;
  // The session; nobody's before the first connection.
  [[nodiscard]] Identity identity() const { return {epoch_, session_}; }
  // Whether the server has answered on the present connection.
  [[nodiscard]] bool greeted() const { return greeted_; }
  // Of the last server; 0 before the first connection.
  [[nodiscard]] int64_t lease_ns() const { return lease_ns_; }
  // Until when what is held counts as held, as far as is known now (C1).
  [[nodiscard]] int64_t valid_until_ns() const { return valid_until_ns_; }

  // A connection is there, and frames may be sent on it; or it is gone.
  void connected(int64_t now_ns);
  void disconnected();
  // Gives back all that is held and all that is asked for, and ends the session.
  void leave();
  // Fails, and the connection is to be ended, if no server sends such a frame.
  [[nodiscard]] base::Result<void> receive(base::ByteView frame, int64_t now_ns);

  // Does what has become due: says that it is alive while it asks or holds, and gives up what was
  // held when the lease is over.
  void advance(int64_t now_ns);
  [[nodiscard]] std::optional<int64_t> next_due_ns() const;
  // Whether another connection is needed: the server has been silent for long, or has ended the
  // session of this one.
  [[nodiscard]] bool is_stalled(int64_t now_ns) const;

  struct Event {
    enum class Kind { kGranted, kRefused, kRecalled, kLost };
    Kind kind;
    Sequence sequence;
    base::Error error =
        {};  // kRefused and kLost: kRetry if it would have to wait, kInvalid, kFailed
  };
  // What has happened since this was last called, in its order.
  [[nodiscard]] std::vector<Event> take_events() { return std::exchange(events_, {}); }

 private:
  enum class State { kAsked, kHeld, kReclaimed };

  struct Request {
    Acquire message;
    State state = State::kAsked;
    bool wanted = false;  // the server has said so
    Standing standing = {};
  };

  [[nodiscard]] Sequence oldest() const;
  [[nodiscard]] std::vector<Sequence> active() const;
  [[nodiscard]] bool any(State state) const;
  void greet(int64_t now_ns);
  void ask(Request& request, int64_t now_ns);
  void say(const Message& message);
  [[nodiscard]] base::Result<void> on(const Welcome& welcome, int64_t now_ns);
  void on(const Granted& granted);
  void on(const Refused& refused);
  void on(const Lost& lost);
  void on(const Recall& recall);
  void renew_lease(int64_t stamp_ns);
  // Whether the lease was over while something was held.
  bool expire(int64_t now_ns);
  void lose(Sequence sequence, const std::string& why);
  // A server has no room for this client.
  void refuse_asked(const std::string& why);
  // All that are held, and those that are being reclaimed.
  void lose_held(const std::string& why);

  const std::string name_;
  const Send send_;
  const Idle idle_;
  bool keeps_session_ = false;
  bool connected_ = false;
  bool greeted_ = false;    // the server has answered on this connection
  bool dismissed_ = false;  // the server has ended the session of this connection
  uint64_t epoch_ = 0;
  SessionId session_ = 0;
  uint64_t secret_ = 0;
  Identity via_;
  int64_t lease_ns_ = 0;
  int64_t valid_until_ns_ = 0;
  int64_t named_ns_ = 0;  // when the server was last told of all requests
  int64_t heard_ns_ = 0;  // when something was last received, or the connection came
  Sequence last_ = 0;
  std::map<Sequence, Request> requests_;
  std::vector<Event> events_;
};

}  // namespace tessera::lock
