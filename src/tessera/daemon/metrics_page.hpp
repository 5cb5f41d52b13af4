// The metrics of a lock server as the page that Prometheus reads: its text format 0.0.4.
//
// Thread safety: pure functions; the thread of the server.
#pragma once

#include <cstdint>
#include <string>

#include "tessera/lock/lock_server.hpp"

namespace tessera::daemon {

// Every metric with its HELP and TYPE lines. Cost: O(1) in the number of locks.
[[nodiscard]] std::string metrics_page(const lock::LockServer& server, int64_t uptime_ns);

}  // namespace tessera::daemon
