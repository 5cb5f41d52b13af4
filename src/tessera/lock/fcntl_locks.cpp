#include "tessera/lock/fcntl_locks.hpp"

namespace tessera::lock {

base::Result<Held> FcntlLocks::acquire(const pattern::ByteSet& bytes, Mode mode) {
  if (bytes.empty()) return Held();
  const pattern::Interval span = bytes.span();
  const auto lock = mode == Mode::kShared ? port::RangeLock::kShared : port::RangeLock::kExclusive;
  TESSERA_TRY_VOID(ranges_.acquire(span.begin, span.end, lock));
  return Held([this, span] { ranges_.release(span.begin, span.end); });
}

}  // namespace tessera::lock
