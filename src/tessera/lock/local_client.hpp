// LocalClient: a lock client in the process of its server, without sockets.
//
// Frames are handed over by function calls, so it keeps to the same rules as every other client:
// leases, sessions and all. Somebody who owns both connects them: what the server sends to the peer
// goes to deliver().
//   (P1) The server is never entered while it runs: deliver() only keeps the frame, and all other
//        functions hand over what is there. So none of those may be called from the server's Send.
//   (P2) When acquire() or release() returns, the server has heard of it, if it has room.
//   (P3) What the server says because of others is seen by take_events() and advance(); while there
//        is something unseen, next_due_ns() is now.
// Time is what the caller says; it never decreases. Thread safety: none; one thread.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "tessera/lock/lock_client.hpp"
#include "tessera/lock/lock_server.hpp"

namespace tessera::lock {

class LocalClient {
 public:
  // Requires that the server outlives it, and that nobody else is this peer.
  LocalClient(LockServer& server, LockServer::Peer peer, std::string name);
  LocalClient(const LocalClient&) = delete;
  LocalClient& operator=(const LocalClient&) = delete;

  [[nodiscard]] LockServer::Peer peer() const { return peer_; }
  // A frame of the server to this peer.
  void deliver(base::Bytes frame) { to_client_.push_back(std::move(frame)); }

  // As LockClient.
  [[nodiscard]] Sequence acquire(const LockClient::Asked& asked, int64_t now_ns);
  void release(Sequence sequence, int64_t now_ns);
  [[nodiscard]] bool holds(Sequence sequence, int64_t now_ns, int64_t for_ns = 0) const {
    return client_.holds(sequence, now_ns, for_ns);
  }
  [[nodiscard]] std::vector<LockClient::Event> take_events(int64_t now_ns);
  void advance(int64_t now_ns);
  [[nodiscard]] std::optional<int64_t> next_due_ns() const;

 private:
  // Begins a connection, instead of any before.
  void connect(int64_t now_ns);
  // Hands over frames in both directions until there are none.
  void exchange(int64_t now_ns);

  LockServer& server_;
  const LockServer::Peer peer_;
  std::deque<base::Bytes> to_server_;
  std::deque<base::Bytes> to_client_;
  LockClient client_;
  bool connected_ = false;
  int64_t retry_ns_ = 0;  // where it is not
  bool exchanging_ = false;
};

}  // namespace tessera::lock
