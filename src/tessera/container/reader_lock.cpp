#include "tessera/container/reader_lock.hpp"

#include "tessera/pattern/point.hpp"

namespace tessera::container {

namespace {

// Behind the byte that writers hold.
constexpr pattern::Interval kReaderByte = {pattern::kMaxPosition + 1, pattern::kMaxPosition + 2};

}  // namespace

// Waits, if at all, for a writer that is just asking has_readers().
void hold_for_reading(port::PlainFile& file) {
  static_cast<void>(file.lock_range(kReaderByte.begin, kReaderByte.end, port::RangeLock::kShared));
}

bool has_readers(port::PlainFile& file) {
  const auto free =
      file.try_lock_range(kReaderByte.begin, kReaderByte.end, port::RangeLock::kExclusive);
  if (!free) return false;
  if (!*free) return true;
  static_cast<void>(file.lock_range(kReaderByte.begin, kReaderByte.end, port::RangeLock::kUnlock));
  return false;
}

}  // namespace tessera::container
