// Address texts: how people write where a service is.
//
// "unix:PATH", "tcp:HOST:PORT", or "HOST:PORT", which is the same; "[::1]:7000" for addresses with
// colons in them. Only the text is looked at; socket_address.hpp asks the system what it means.
// Thread safety: pure functions.
#pragma once

#include <string>

#include "tessera/base/result.hpp"

namespace tessera::port {

struct AddressText {
  std::string path = {};  // of a Unix socket; empty for TCP
  std::string host = {};
  std::string port = {};  // a number up to 65535

  // With its prefix; equal addresses have equal texts.
  [[nodiscard]] std::string text() const;
};

// Fails with kInvalid and says how it is written.
[[nodiscard]] base::Result<AddressText> parse_address_text(const std::string& text);

}  // namespace tessera::port
