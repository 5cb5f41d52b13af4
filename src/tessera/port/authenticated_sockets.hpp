// AuthenticatedSockets: what services and their clients talk through on a real machine: sockets,
// under an AuthenticatedTransport with the machine's clock and random numbers.
//
// Thread safety: one thread at a time, except wake().
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "tessera/port/authenticated_transport.hpp"
#include "tessera/port/posix_clock.hpp"
#include "tessera/port/posix_transport.hpp"
#include "tessera/port/system_random.hpp"

namespace tessera::port {

class AuthenticatedSockets {
 public:
  // Without a key only Unix sockets can be used. Fails when the process has no descriptor left.
  static base::Result<std::unique_ptr<AuthenticatedSockets>> create(
      std::optional<SecretKey> key, const AuthenticationSettings& settings = {});

  [[nodiscard]] AuthenticatedTransport& transport() { return transport_; }
  // The next event of a kind, for whoever has one connection and asks one thing at a time. Fails
  // with the reason if the connection closes first, and with kRetry when the time is over.
  [[nodiscard]] base::Result<Event> wait_for(Event::Kind kind, int64_t patience_ns);
  // As PosixTransport::wake(); also from signal handlers.
  void wake() { sockets_.wake(); }
  // As of PosixTransport.
  void look_before_sleep(int64_t nanoseconds) { sockets_.look_before_sleep(nanoseconds); }

 private:
  AuthenticatedSockets(std::unique_ptr<PosixTransport> sockets, std::optional<SecretKey> key,
                       const AuthenticationSettings& settings);

  const PosixClock clock_;
  SystemRandom random_;
  PosixTransport& sockets_;
  AuthenticatedTransport transport_;
};

}  // namespace tessera::port
