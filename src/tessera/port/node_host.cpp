#include "tessera/port/node_host.hpp"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>

#include "tessera/port/socket_address.hpp"
#include "tessera/port/this_process.hpp"

namespace tessera::port {

namespace {

in_addr ipv4_of(const sockaddr* address) {
  sockaddr_in raw{};
  std::memcpy(&raw, address, sizeof(raw));
  return raw.sin_addr;
}

bool is_loopback(const SocketAddress& address) {
  if (address.family() == AF_INET) return ntohl(ipv4_of(address.raw()).s_addr) >> 24 == 127;
  sockaddr_in6 raw{};
  std::memcpy(&raw, &address.storage, sizeof(raw));
  return address.family() == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&raw.sin6_addr);
}

bool others_reach(const std::string& host) {
  const auto address = parse_socket_address("tcp:" + host + ":0");
  return address && !is_loopback(*address);
}

// The first IPv4 address of an interface that is not the machine's own.
std::optional<std::string> interface_address() {
  ifaddrs* found = nullptr;
  if (::getifaddrs(&found) != 0) return std::nullopt;
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> owned(found, &::freeifaddrs);
  for (const ifaddrs* one = found; one != nullptr; one = one->ifa_next) {
    const bool usable = (one->ifa_flags & IFF_UP) != 0 && (one->ifa_flags & IFF_LOOPBACK) == 0;
    if (!usable || one->ifa_addr == nullptr || one->ifa_addr->sa_family != AF_INET) continue;
    const in_addr address = ipv4_of(one->ifa_addr);
    std::array<char, INET_ADDRSTRLEN> text{};
    if (::inet_ntop(AF_INET, &address, text.data(), text.size()) != nullptr) return text.data();
  }
  return std::nullopt;
}

}  // namespace

std::string node_host() {
  if (std::getenv("TESSERA_FAKE_NODES") != nullptr) return "127.0.0.1";
  if (const char* given = std::getenv("TESSERA_HOST"); given != nullptr && *given != '\0') {
    return given;
  }
  std::string name = host_name();
  if (others_reach(name)) return name;
  return interface_address().value_or(std::move(name));
}

}  // namespace tessera::port
