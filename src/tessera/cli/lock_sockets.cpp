#include "tessera/cli/lock_sockets.hpp"

#include <cstdlib>
#include <optional>
#include <utility>

#include "tessera/port/key_file.hpp"

namespace tessera::cli {

base::Result<std::unique_ptr<port::AuthenticatedSockets>> make_lock_sockets(
    const std::string& address) {
  std::optional<port::SecretKey> key;
  if (!address.starts_with("unix:")) {
    const char* file = std::getenv("TESSERA_KEY_FILE");
    if (file == nullptr || file[0] == '\0') {
      return base::fail(base::Code::kDenied,
                        address + ": name the file with the server's key in TESSERA_KEY_FILE");
    }
    TESSERA_TRY(key, port::read_key_file(file));
  }
  return port::AuthenticatedSockets::create(std::move(key));
}

}  // namespace tessera::cli
