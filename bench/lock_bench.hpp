// Cases of list locks: the table's indexes against each other, and the service over a Unix socket.
//
// The server runs in a process of its own, on another core than the client; the peer is a bare
// round trip of 64 bytes between the same two cores. Thread safety: one thread at a time.
#pragma once

#include <vector>

#include "bench/bench.hpp"

namespace tessera::bench {

[[nodiscard]] std::vector<CaseMaker> lock_cases();

}  // namespace tessera::bench
