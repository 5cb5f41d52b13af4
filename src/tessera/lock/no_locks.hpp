// NoLocks: for moves that run under a lock of their own, or on bytes that nobody else has.
//
// Thread safety: from any thread.
#pragma once

#include "tessera/lock/locks.hpp"

namespace tessera::lock {

class NoLocks final : public Locks {
 public:
  [[nodiscard]] base::Result<Held> acquire(const pattern::ByteSet& /*bytes*/,
                                           Mode /*mode*/) override {
    return Held();
  }
};

}  // namespace tessera::lock
