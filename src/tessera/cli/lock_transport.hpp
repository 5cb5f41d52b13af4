// The transport by which the command line reaches lock servers.
//
// Thread safety: pure but for the sockets that it makes.
#pragma once

#include <memory>
#include <string>

#include "tessera/base/result.hpp"
#include "tessera/port/transport.hpp"

namespace tessera::cli {

// One that can connect to the address. Fails with kInvalid where there is no way to it.
[[nodiscard]] base::Result<std::unique_ptr<port::Transport>> make_lock_transport(
    const std::string& address);

}  // namespace tessera::cli
