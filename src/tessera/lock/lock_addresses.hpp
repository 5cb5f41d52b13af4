// The addresses of lock servers, as people write them in TESSERA_LOCKS.
//
//   node7:7000,node8:7000     tcp:node7:7000     unix:/run/user/1000/tessera/x.locks
//
// Thread safety: pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tessera/base/result.hpp"

namespace tessera::lock {

// The addresses with their kind, unix: or tcp:, in the order written. Fails with kInvalid if there
// is none, or an empty one among them.
[[nodiscard]] base::Result<std::vector<std::string>> parse_lock_addresses(std::string_view text);

}  // namespace tessera::lock
