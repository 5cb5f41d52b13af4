// LockConnection: a lock client on a transport, for a program that waits for its locks.
//
// It connects, connects again when the server is gone or silent, goes to a proxy of the node when
// the server has no room, and carries frames; what that means for requests is the client's matter
// (lock_client.hpp). Nothing happens while no function is
// running: whoever holds a lock calls live() within its lease, or loses it.
// Thread safety: none; one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "tessera/lock/lock_client.hpp"
#include "tessera/port/clock.hpp"
#include "tessera/port/transport.hpp"

namespace tessera::lock {

class LockConnection {
 public:
  // What starts servers, where that is possible; each may be empty.
  struct Starters {
    // Called now and then while the server cannot be reached, or does not answer.
    std::function<void()> revive = {};
    // Called when the server has no room for another client: starts a proxy of it on this node, if
    // there is none, and answers its address. From then on the proxy is the server; where it cannot
    // be reached, or its own server cannot, both are started again in the same ways.
    std::function<base::Result<std::string>()> start_proxy = {};
  };
  struct World {
    port::Transport& transport;
    const port::Clock& clock;
    Starters starters = {};
  };

  // Connects to the address when there is something to ask. Requires that the world outlives it,
  // and that nobody else uses the transport.
  LockConnection(std::string address, std::string name, World world);
  ~LockConnection();
  LockConnection(const LockConnection&) = delete;
  LockConnection& operator=(const LockConnection&) = delete;

  // As LockClient.
  [[nodiscard]] Sequence ask(const LockClient::Asked& asked);
  void release(Sequence sequence);
  [[nodiscard]] bool holds(Sequence sequence, int64_t for_ns = 0) const;

  // What happens next to a request, if it happens within the time.
  [[nodiscard]] std::optional<LockClient::Event> wait(Sequence sequence, int64_t for_ns);
  // Keeps in touch with the server for so long.
  void live(int64_t for_ns);
  // Tells the server that nothing is held any more, and ends the connection.
  void leave();
  // Leaves if nothing was asked for or held for a lease: the server has few connections, and has
  // ended the session by then. The next request connects again.
  void leave_if_unused();
  // From now on the session is renewed also while nothing is asked for, so that a server that
  // leaves when it is idle stays.
  void keep_session() { client_.keep_session(); }

  // Why there is no connection, as far as one was tried: to tell those who wait in vain.
  [[nodiscard]] const std::optional<base::Error>& trouble() const { return trouble_; }

  // The parts that these are made of.
  // Waits for one event of the transport, at most until the deadline.
  void step(int64_t deadline_ns);
  // Takes what has arrived, without waiting; false if that was nothing.
  bool catch_up();
  // What has happened to a request and was not told yet.
  [[nodiscard]] std::optional<LockClient::Event> take_event(Sequence sequence);
  // Whether something has to be said, or the server to be found, for what is asked or held.
  [[nodiscard]] bool is_due() const;
  // Until when what is held counts as held.
  [[nodiscard]] int64_t valid_until_ns() const { return client_.valid_until_ns(); }
  // Of the server; 0 before it was reached.
  [[nodiscard]] int64_t lease_ns() const { return client_.lease_ns(); }
  // When the server was last reached, that is, has answered; now, while it is.
  [[nodiscard]] int64_t reached_ns() const {
    return client_.greeted() ? clock_.now_ns() : reached_ns_;
  }

 private:
  void connect();
  void revive();
  [[nodiscard]] bool go_to_proxy();
  void take(const port::Event& event);
  void drop();

  std::string address_;
  port::Transport& transport_;
  const port::Clock& clock_;
  Starters starters_;
  LockClient client_;
  std::optional<port::ConnectionId> connection_;
  int64_t connect_at_ns_;
  int64_t revive_at_ns_;
  int64_t reached_ns_;
  int64_t used_ns_;
  std::optional<base::Error> trouble_;
  // What has happened and nobody has asked for yet; at most three things to a request.
  std::multimap<Sequence, LockClient::Event> events_;
};

}  // namespace tessera::lock
