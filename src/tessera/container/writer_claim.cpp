#include "tessera/container/writer_claim.hpp"

#include <memory>

#include "tessera/pattern/point.hpp"

namespace tessera::container {
namespace {

using base::Result;
using port::RangeLock;

constexpr pattern::Interval kWriterByte = {pattern::kMaxPosition, pattern::kMaxPosition + 1};

// Whether the name leads to another file by now. One that was only removed is still the caller's.
Result<bool> was_replaced(const port::PlainFile& file) {
  const auto named = port::PlainFile::open(file.path(), {});
  if (!named) return false;
  TESSERA_TRY(const auto there, (*named)->identity());
  TESSERA_TRY(const auto here, file.identity());
  return there != here;
}

}  // namespace

Result<void> claim_for_writing(port::PlainFile& file) {
  const auto free = file.try_lock_range(kWriterByte.begin, kWriterByte.end, RangeLock::kExclusive);
  if (free && !*free) {
    return base::fail(base::Code::kRetry,
                      file.path() +
                          " is open for writing elsewhere; an object file has one group of "
                          "writers at a time");
  }
  TESSERA_TRY(const bool replaced, was_replaced(file));
  if (!replaced) return {};
  return base::fail(base::Code::kRetry,
                    file.path() + " was replaced while it was opened; open it again");
}

void claim_unnamed(port::PlainFile& file) {
  static_cast<void>(file.try_lock_range(kWriterByte.begin, kWriterByte.end, RangeLock::kExclusive));
}

bool has_writer(const port::PlainFile& file) {
  return file.is_locked_elsewhere(kWriterByte.begin, kWriterByte.end, RangeLock::kShared);
}

}  // namespace tessera::container
