// The sockets by which the command line reaches lock servers.
//
// Thread safety: pure but for the sockets that it makes.
#pragma once

#include <memory>
#include <string>

#include "tessera/base/result.hpp"
#include "tessera/port/authenticated_sockets.hpp"

namespace tessera::cli {

// Sockets that can connect to the address: to tcp: addresses with the key in the file that
// TESSERA_KEY_FILE names. Fails with kDenied if a key is needed and none is named, or as
// port::read_key_file().
[[nodiscard]] base::Result<std::unique_ptr<port::AuthenticatedSockets>> make_lock_sockets(
    const std::string& address);

}  // namespace tessera::cli
