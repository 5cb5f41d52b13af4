#include "tessera/port/socket_address.hpp"

#include <netdb.h>
#include <netinet/in.h>
#include <sys/un.h>

#include <array>
#include <cstddef>
#include <cstring>
#include <memory>
#include <string_view>

#include "tessera/base/assert.hpp"
#include "tessera/port/address_text.hpp"

namespace tessera::port {

namespace {

constexpr std::string_view kUnix = "unix:";
constexpr std::string_view kTcp = "tcp:";

base::Failure malformed(const std::string& text, const std::string& why) {
  return base::fail(base::Code::kInvalid, "address \"" + text + "\": " + why);
}

base::Result<SocketAddress> unix_address(const std::string& text, const std::string& path) {
  sockaddr_un raw{};
  if (path.size() >= sizeof(raw.sun_path)) {
    return malformed(
        text, "the path may have " + std::to_string(sizeof(raw.sun_path) - 1) + " bytes at most");
  }
  raw.sun_family = AF_UNIX;
  std::memcpy(raw.sun_path, path.c_str(), path.size() + 1);
  SocketAddress address;
  std::memcpy(&address.storage, &raw, sizeof(raw));
  address.size = sizeof(raw);
  return address;
}

base::Result<SocketAddress> tcp_address(const std::string& text, const AddressText& parsed) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int status = ::getaddrinfo(parsed.host.c_str(), parsed.port.c_str(), &hints, &found);
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owned(found, &::freeaddrinfo);
  if (status != 0) {
    return base::fail(base::Code::kNotFound, "address \"" + text + "\": " + ::gai_strerror(status));
  }
  SocketAddress address;
  std::memcpy(&address.storage, found->ai_addr, found->ai_addrlen);
  address.size = found->ai_addrlen;
  return address;
}

}  // namespace

base::Result<SocketAddress> parse_socket_address(const std::string& text) {
  if (!text.starts_with(kUnix) && !text.starts_with(kTcp)) {
    return malformed(text, "write unix:path or tcp:host:port");
  }
  TESSERA_TRY(const AddressText parsed, parse_address_text(text));
  return parsed.path.empty() ? tcp_address(text, parsed) : unix_address(text, parsed.path);
}

std::string socket_address_text(const SocketAddress& address) {
  if (address.family() == AF_UNIX) {
    sockaddr_un raw{};
    std::memcpy(&raw, &address.storage, sizeof(raw));
    return std::string(kUnix) + raw.sun_path;
  }
  std::array<char, NI_MAXHOST> host{};
  std::array<char, NI_MAXSERV> port{};
  const int status = ::getnameinfo(address.raw(), address.size, host.data(), host.size(),
                                   port.data(), port.size(), NI_NUMERICHOST | NI_NUMERICSERV);
  TESSERA_ASSERT(status == 0);
  const std::string name = address.family() == AF_INET6 ? "[" + std::string(host.data()) + "]"
                                                        : std::string(host.data());
  return std::string(kTcp) + name + ":" + port.data();
}

}  // namespace tessera::port
