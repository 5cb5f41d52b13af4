// The folder of this user's running programs, where their sockets are found.
//
// It is $XDG_RUNTIME_DIR/tessera where XDG_RUNTIME_DIR names a folder of the user, else
// /tmp/tessera-UID. Whoever can enter it can reach the sockets in it, so it belongs to the user
// alone.
// Thread safety: from any thread, while none changes the environment.
#pragma once

#include <string>

#include "tessera/base/result.hpp"

namespace tessera::port {

// Makes the folder if there is none. Fails with kDenied if somebody else owns it or may enter it.
[[nodiscard]] base::Result<std::string> runtime_folder();

}  // namespace tessera::port
