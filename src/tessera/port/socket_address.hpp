// Socket addresses: "unix:/run/x.sock", "tcp:127.0.0.1:7000", "tcp:[::1]:7000", "tcp:node7:7000".
//
// Thread safety: pure functions; resolving a host name may ask the network and wait for it.
#pragma once

#include <sys/socket.h>

#include <string>

#include "tessera/base/result.hpp"

namespace tessera::port {

struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t size = 0;

  [[nodiscard]] const sockaddr* raw() const { return reinterpret_cast<const sockaddr*>(&storage); }
  [[nodiscard]] sockaddr* raw() { return reinterpret_cast<sockaddr*>(&storage); }
  [[nodiscard]] int family() const { return storage.ss_family; }
};

// Fails with kInvalid on a malformed address, with kNotFound on an unknown host.
[[nodiscard]] base::Result<SocketAddress> parse_socket_address(const std::string& text);

// The text that parses to the address again. Requires a family that parsing can give.
[[nodiscard]] std::string socket_address_text(const SocketAddress& address);

}  // namespace tessera::port
