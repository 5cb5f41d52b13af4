// The host by which other nodes reach this one.
//
// Thread safety: as std::getenv; asking for a name may ask the network and wait for it.
#pragma once

#include <string>

namespace tessera::port {

// TESSERA_HOST if it is set; else the machine's name, unless that stands for the machine itself
// alone (127.0.1.1, as some systems set it up) and an interface has an address that others reach.
// Nodes that TESSERA_FAKE_NODES pretends are this machine.
[[nodiscard]] std::string node_host();

}  // namespace tessera::port
