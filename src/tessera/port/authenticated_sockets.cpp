#include "tessera/port/authenticated_sockets.hpp"

#include <string>
#include <utility>

namespace tessera::port {

base::Result<std::unique_ptr<AuthenticatedSockets>> AuthenticatedSockets::create(
    std::optional<SecretKey> key, const AuthenticationSettings& settings) {
  TESSERA_TRY(auto sockets,
              PosixTransport::create(AuthenticatedTransport::limits_below(settings.limits)));
  return std::unique_ptr<AuthenticatedSockets>(
      new AuthenticatedSockets(std::move(sockets), std::move(key), settings));
}

AuthenticatedSockets::AuthenticatedSockets(std::unique_ptr<PosixTransport> sockets,
                                           std::optional<SecretKey> key,
                                           const AuthenticationSettings& settings)
    : sockets_(*sockets),
      transport_(std::move(sockets), std::move(key), {clock_, random_}, settings) {}

base::Result<Event> AuthenticatedSockets::wait_for(Event::Kind kind, int64_t patience_ns) {
  const int64_t end_ns = clock_.now_ns() + patience_ns;
  for (int64_t now_ns = clock_.now_ns(); now_ns < end_ns; now_ns = clock_.now_ns()) {
    auto event = transport_.next_event(end_ns - now_ns);
    if (!event) continue;
    if (event->kind == kind) return *std::move(event);
    if (event->kind == Event::Kind::kClosed) return base::Failure{event->reason};
  }
  return base::fail(base::Code::kRetry,
                    "no answer for " + std::to_string(patience_ns / 1'000'000'000) + " s");
}

}  // namespace tessera::port
