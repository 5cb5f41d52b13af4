#include "tessera/port/socket_address.hpp"

#include <netdb.h>
#include <netinet/in.h>
#include <sys/un.h>

#include <array>
#include <charconv>
#include <cstddef>
#include <cstring>
#include <memory>
#include <string_view>

#include "tessera/base/assert.hpp"

namespace tessera::port {

namespace {

constexpr std::string_view kUnix = "unix:";
constexpr std::string_view kTcp = "tcp:";

base::Failure malformed(const std::string& text, const std::string& why) {
  return base::fail(base::Code::kInvalid, "address \"" + text + "\": " + why);
}

base::Result<SocketAddress> parse_unix(const std::string& text) {
  const std::string path = text.substr(kUnix.size());
  sockaddr_un raw{};
  if (path.empty() || path.size() >= sizeof(raw.sun_path)) {
    return malformed(
        text, "the path must have 1 to " + std::to_string(sizeof(raw.sun_path) - 1) + " bytes");
  }
  raw.sun_family = AF_UNIX;
  std::memcpy(raw.sun_path, path.c_str(), path.size() + 1);
  SocketAddress address;
  std::memcpy(&address.storage, &raw, sizeof(raw));
  address.size = sizeof(raw);
  return address;
}

bool is_port(const std::string& text) {
  uint16_t port = 0;
  const char* end = text.data() + text.size();
  const auto [stop, status] = std::from_chars(text.data(), end, port);
  return status == std::errc() && stop == end;
}

base::Result<SocketAddress> parse_tcp(const std::string& text) {
  const size_t colon = text.rfind(':');
  if (colon < kTcp.size()) return malformed(text, "write tcp:host:port");
  std::string host = text.substr(kTcp.size(), colon - kTcp.size());
  const std::string port = text.substr(colon + 1);
  if (!is_port(port)) return malformed(text, "the port must be a number from 0 to 65535");
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
  }
  if (host.empty()) return malformed(text, "write tcp:host:port");

  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int status = ::getaddrinfo(host.c_str(), port.c_str(), &hints, &found);
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
  if (text.starts_with(kUnix)) return parse_unix(text);
  if (text.starts_with(kTcp)) return parse_tcp(text);
  return malformed(text, "write unix:path or tcp:host:port");
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
