#include "tessera/container/reader_lock.hpp"

#include "tessera/pattern/point.hpp"

namespace tessera::container {

namespace {

// Behind the byte that writers hold.
constexpr pattern::Interval kReaderByte = {pattern::kMaxPosition + 1, pattern::kMaxPosition + 2};

}  // namespace

void hold_for_reading(port::PlainFile& file) {
  static_cast<void>(file.lock_range(kReaderByte.begin, kReaderByte.end, port::RangeLock::kShared));
}

base::Result<void> try_hold_for_reading(port::PlainFile& file) {
  const auto taken =
      file.try_lock_range(kReaderByte.begin, kReaderByte.end, port::RangeLock::kShared);
  if (!taken || *taken) return {};
  return base::fail(base::Code::kRetry,
                    file.path() +
                        " is locked by another program (an exclusive fcntl lock on the "
                        "whole file); wait until that has ended");
}

bool has_readers(const port::PlainFile& file) {
  return file.is_locked_elsewhere(kReaderByte.begin, kReaderByte.end, port::RangeLock::kExclusive);
}

}  // namespace tessera::container
