#include "tessera/cli/lock_sockets.hpp"

#include <utility>

#include "tessera/port/key_file.hpp"

namespace tessera::cli {

base::Result<std::unique_ptr<port::AuthenticatedSockets>> make_lock_sockets(
    const std::string& address) {
  TESSERA_TRY(auto key, port::key_for(address));
  return port::AuthenticatedSockets::create(std::move(key));
}

}  // namespace tessera::cli
