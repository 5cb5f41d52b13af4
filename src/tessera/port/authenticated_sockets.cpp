#include "tessera/port/authenticated_sockets.hpp"

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

}  // namespace tessera::port
