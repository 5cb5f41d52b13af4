// LockId: what a lock, or a request that waits for one, is called within an epoch of its server.
//
// Its session and its number in that session, written "SESSION.SEQUENCE": "12.7".
// Thread safety: a value.
#pragma once

#include <compare>
#include <string>
#include <string_view>

#include "tessera/base/result.hpp"
#include "tessera/lock/messages.hpp"

namespace tessera::lock {

struct LockId {
  SessionId session = 0;  // 0: no lock, before all others
  Sequence sequence = 0;
  friend auto operator<=>(const LockId&, const LockId&) = default;
};

[[nodiscard]] std::string to_string(LockId id);
// Fails with kInvalid on text that names no lock.
[[nodiscard]] base::Result<LockId> parse_lock_id(std::string_view text);

}  // namespace tessera::lock
