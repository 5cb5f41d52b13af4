#include "tessera/lock/fcntl_locks.hpp"

namespace tessera::lock {

base::Result<Held> FcntlLocks::acquire(const pattern::ByteSet& bytes, Mode mode) {
  return bytes.empty() ? Held() : acquire_run(bytes.span(), mode);
}

base::Result<Held> FcntlLocks::acquire_run(pattern::Interval bytes, Mode mode) {
  const auto lock = mode == Mode::kShared ? port::RangeLock::kShared : port::RangeLock::kExclusive;
  TESSERA_TRY_VOID(ranges_.acquire(bytes.begin, bytes.end, lock));
  return Held([this, bytes] { ranges_.release(bytes.begin, bytes.end); });
}

}  // namespace tessera::lock
