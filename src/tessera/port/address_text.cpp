#include "tessera/port/address_text.hpp"

#include <charconv>
#include <cstdint>
#include <string_view>

namespace tessera::port {

namespace {

constexpr std::string_view kUnix = "unix:";
constexpr std::string_view kTcp = "tcp:";

base::Failure malformed(const std::string& text, const std::string& why) {
  return base::fail(base::Code::kInvalid, "address \"" + text + "\": " + why);
}

// The number without zeros in front, or nothing.
std::string port_number(const std::string& text) {
  uint16_t port = 0;
  const char* end = text.data() + text.size();
  const auto [stop, status] = std::from_chars(text.data(), end, port);
  return status == std::errc() && stop == end ? std::to_string(port) : std::string();
}

bool is_bracketed(const std::string& host) {
  return host.size() > 2 && host.front() == '[' && host.back() == ']';
}

}  // namespace

std::string AddressText::text() const {
  if (!path.empty()) return std::string(kUnix) + path;
  const bool has_colons = host.find(':') != host.npos;
  return std::string(kTcp) + (has_colons ? "[" + host + "]" : host) + ":" + port;
}

base::Result<AddressText> parse_address_text(const std::string& text) {
  AddressText address;
  if (text.starts_with(kUnix)) {
    address.path = text.substr(kUnix.size());
    if (address.path.empty()) return malformed(text, "the path is missing");
    return address;
  }
  const size_t begin = text.starts_with(kTcp) ? kTcp.size() : 0;
  const size_t colon = text.rfind(':');
  if (colon == text.npos || colon < begin + 1) {
    return malformed(text, "write unix:path or tcp:host:port");
  }
  address.host = text.substr(begin, colon - begin);
  address.port = port_number(text.substr(colon + 1));
  if (address.port.empty()) return malformed(text, "the port must be a number from 0 to 65535");
  if (is_bracketed(address.host)) {
    address.host = address.host.substr(1, address.host.size() - 2);
  } else if (address.host.find(':') != address.host.npos) {
    return malformed(text, "a host with colons stands in brackets: [host]:port");
  }
  return address;
}

}  // namespace tessera::port
