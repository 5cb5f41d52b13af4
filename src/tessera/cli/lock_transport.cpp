#include "tessera/cli/lock_transport.hpp"

#include <utility>

#include "tessera/port/posix_transport.hpp"

namespace tessera::cli {

base::Result<std::unique_ptr<port::Transport>> make_lock_transport(const std::string& address) {
  if (!address.starts_with("unix:")) {
    return base::fail(base::Code::kInvalid,
                      "address \"" + address +
                          "\": only unix:PATH can be reached; TCP needs a proof of who we are");
  }
  TESSERA_TRY(std::unique_ptr<port::Transport> made, port::PosixTransport::create());
  return made;
}

}  // namespace tessera::cli
