// This process, as people who look at a service of another one see it.
//
// Thread safety: pure.
#pragma once

#include <string>

namespace tessera::port {

// Of this machine.
[[nodiscard]] std::string host_name();
// "program, host:1234".
[[nodiscard]] std::string process_name();

}  // namespace tessera::port
