#include "tessera/lock/local_client.hpp"

#include <limits>
#include <utility>

#include "tessera/base/assert.hpp"

namespace tessera::lock {

namespace {

// Between two attempts to be a client of a server that has no room.
constexpr int64_t kRetryNs = 100'000'000;

base::Bytes take_first(std::deque<base::Bytes>& frames) {
  base::Bytes frame = std::move(frames.front());
  frames.pop_front();
  return frame;
}

}  // namespace

LocalClient::LocalClient(LockServer& server, LockServer::Peer peer, std::string name)
    : server_(server), peer_(peer), client_(std::move(name), [this](base::Bytes frame) {
        to_server_.push_back(std::move(frame));
      }) {}

// What was under way belongs to the connection before.
void LocalClient::connect(int64_t now_ns) {
  server_.disconnect(peer_);
  client_.disconnected();
  to_server_.clear();
  to_client_.clear();
  client_.connected(now_ns);
  connected_ = true;
}

void LocalClient::exchange(int64_t now_ns) {
  TESSERA_ASSERT(!exchanging_);
  exchanging_ = true;
  if (!connected_) connect(now_ns);
  while (connected_ && !(to_server_.empty() && to_client_.empty())) {
    // A server that has no room for the session is asked again, later.
    connected_ = to_client_.empty()
                     ? server_.receive(peer_, take_first(to_server_), now_ns).has_value()
                     : client_.receive(take_first(to_client_), now_ns).has_value();
    if (client_.is_stalled(now_ns)) connect(now_ns);
  }
  retry_ns_ = now_ns + kRetryNs;
  exchanging_ = false;
}

Sequence LocalClient::acquire(const LockClient::Asked& asked, int64_t now_ns) {
  // The session may have ended while nothing was asked for.
  exchange(now_ns);
  const Sequence sequence = client_.acquire(asked, now_ns);
  exchange(now_ns);
  return sequence;
}

void LocalClient::release(Sequence sequence, int64_t now_ns) {
  client_.release(sequence, now_ns);
  exchange(now_ns);
}

std::vector<LockClient::Event> LocalClient::take_events(int64_t now_ns) {
  if (!to_client_.empty()) exchange(now_ns);
  return client_.take_events();
}

void LocalClient::advance(int64_t now_ns) {
  client_.advance(now_ns);
  if (client_.is_stalled(now_ns)) connected_ = false;
  if (!client_.idle() || !to_client_.empty()) exchange(now_ns);
}

std::optional<int64_t> LocalClient::next_due_ns() const {
  if (!to_client_.empty()) return std::numeric_limits<int64_t>::min();
  if (!connected_ && !client_.idle()) return retry_ns_;
  return client_.next_due_ns();
}

}  // namespace tessera::lock
