#include "tessera/port/large_pages.hpp"

#include <time.h>

#include <algorithm>

#include "tessera/base/assert.hpp"
#include "tessera/base/checked.hpp"
#include "tessera/port/file_mapping.hpp"
#include "tessera/port/page_faults.hpp"

namespace tessera::port {

namespace {

// What a page takes that is at hand is its zeros, a fifth of this.
constexpr int64_t kSlowNs = 1'000'000;
// One that is not is borne among so many, besides the first one.
constexpr int64_t kPagesPerSlow = 16;

// The time of this thread alone: it says nothing of the page if others had the processor meanwhile.
int64_t thread_ns() {
  timespec now = {};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

bool touch(const FileMapping& mapping, int64_t offset) {
  std::byte byte = {};
  return mapping.load(offset, {&byte, 1});
}

enum class Taken { kNot, kQuickly, kSlowly };

// The page at an offset: if it is a large one, its middle is mapped with its beginning.
Taken take(const FileMapping& mapping, int64_t offset) {
  const int64_t begin_ns = thread_ns();
  if (!touch(mapping, offset)) return Taken::kNot;
  const bool quick = thread_ns() - begin_ns < kSlowNs;
  const int64_t faults = thread_faults();
  const bool large = touch(mapping, offset + kLargePageBytes / 2) && thread_faults() == faults;
  if (!large) return Taken::kNot;
  return quick ? Taken::kQuickly : Taken::kSlowly;
}

}  // namespace

int64_t take_large_pages(PlainFile& file, int64_t begin, int64_t end) {
  TESSERA_ASSERT(0 <= begin && begin <= end);
  const auto size = file.size();
  if (!size || !file.is_local()) return 0;
  const int64_t first = base::ceil_div(begin, kLargePageBytes) * kLargePageBytes;
  const int64_t last = std::min(end, *size) / kLargePageBytes * kLargePageBytes;
  if (first >= last) return 0;
  const auto mapping = FileMapping::map(file, first, last, Access::kRead);
  if (!mapping) return 0;
  mapping->prefer_large_pages();
  mapping->read_no_further();  // two would come at a time, and the times be those of two
  int64_t pages = 0;
  int64_t slow = 0;
  while (first + pages * kLargePageBytes < last && slow <= 1 + pages / kPagesPerSlow) {
    const Taken taken = take(*mapping, first + pages * kLargePageBytes);
    if (taken == Taken::kNot) break;
    if (taken == Taken::kSlowly) ++slow;
    ++pages;
  }
  return pages * kLargePageBytes;
}

}  // namespace tessera::port
