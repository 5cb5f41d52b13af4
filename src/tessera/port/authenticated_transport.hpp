// AuthenticatedTransport: a transport that lets only those peers in that know a common key.
//
// It lies over another transport (PosixTransport, SimEndpoint) and keeps (T1) to (T4). Connections
// at unix: addresses pass through as they are, because the socket belongs to one user; all others
// begin with a handshake and carry sealed frames from then on (handshake.hpp). So one transport
// listens at both, and without a key it does so at unix: addresses only.
//   (A1) kConnected comes only after the peer has proven that it knows the key, and every frame
//        after it is one that the peer has sealed. One that is not ends the connection
//        (kIntegrity).
//   (A2) A peer that fails to prove it is cut off: kClosed with kDenied, alone, and a sentence that
//        names the peer and what is wrong. One that just leaves meanwhile gives kClosed alone too.
//   (A3) A peer that has not proven it costs a few hundred bytes, for a few seconds; of those that
//        connect to us, beyond a number, the oldest is cut off for the newest.
//   (A4) No secret is in any event, message or log.
// Frames that are sent while connecting wait here until the handshake is over.
//
//   connect() --> reaching --+                                 +--kConnected--> open --kClosed-->
//                            +--inner kConnected--> proving --+
//   a peer calls connect() --+                                 +--kClosed, kDenied-->
//
// Thread safety: as the transport below.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tessera/port/clock.hpp"
#include "tessera/port/handshake.hpp"
#include "tessera/port/random.hpp"
#include "tessera/port/transport.hpp"

namespace tessera::port {

struct AuthenticationSettings {
  TransportLimits limits = {};  // as its users see them
  int64_t handshake_ns_max = 5'000'000'000;
  size_t half_open_max = 64;  // incoming connections that have not proven anything yet
};

class AuthenticatedTransport final : public Transport {
 public:
  struct World {
    const Clock& clock;
    Random& random;  // unpredictable, but for tests
  };

  // What the transport below must be made with, so that sealed frames fit.
  static TransportLimits limits_below(TransportLimits limits);

  // Requires that the world outlives it, and that inner has limits_below(settings.limits).
  AuthenticatedTransport(std::unique_ptr<Transport> inner, std::optional<SecretKey> key,
                         const World& world, const AuthenticationSettings& settings = {});

  // Besides what transport.hpp says, both fail with kDenied where a key is needed and there is
  // none.
  [[nodiscard]] base::Result<std::string> listen(const std::string& address) override;
  [[nodiscard]] base::Result<ConnectionId> connect(const std::string& address) override;
  [[nodiscard]] base::Result<void> send(ConnectionId connection, base::ByteView frame) override;
  void limit_frames(ConnectionId connection, size_t frame_bytes_max) override;
  void close(ConnectionId connection) override;
  [[nodiscard]] std::optional<Event> next_event(int64_t wait_ns_max) override;

 private:
  // One that does not pass through. Without handshake and stream it is reaching.
  struct Connection {
    std::string peer = {};
    std::string listener = {};
    bool incoming = false;
    size_t frame_bytes_max = 0;
    int64_t due_ns = 0;
    std::optional<Handshake> handshake = {};  // proving
    std::optional<SealedStream> stream = {};  // open
    std::vector<base::Bytes> held = {};
    size_t held_bytes = 0;
  };
  using Connections = std::map<ConnectionId, Connection>;

  [[nodiscard]] base::Result<void> check_key(const std::string& address) const;
  [[nodiscard]] base::Result<void> hold(Connection& connection, base::ByteView frame);
  void take(Event event);
  void take_connected(Event event);
  void take_frame(Connections::iterator at, Event event);
  void take_closed(Connections::iterator at, Event event);
  void start(Connections::iterator at);
  void make_room();
  void prove(Connections::iterator at, base::ByteView frame);
  void become_open(Connections::iterator at);
  [[nodiscard]] base::Result<void> send_sealed(Connections::iterator at, base::ByteView frame);
  void end(Connections::iterator at, base::Code code, const std::string& why);
  void forget(Connections::iterator at);
  void expire();

  const std::unique_ptr<Transport> inner_;
  const std::optional<SecretKey> key_;
  const Clock& clock_;
  Random& random_;
  const AuthenticationSettings settings_;
  Connections connections_;
  std::set<std::pair<int64_t, ConnectionId>> proving_;  // by when they must be done
  size_t half_open_ = 0;                                // the incoming ones among them
  std::deque<Event> events_;
};

}  // namespace tessera::port
