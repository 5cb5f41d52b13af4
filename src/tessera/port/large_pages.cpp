#include "tessera/port/large_pages.hpp"

#include <sys/resource.h>
#include <time.h>

#include "tessera/base/assert.hpp"
#include "tessera/base/checked.hpp"
#include "tessera/port/file_mapping.hpp"

namespace tessera::port {

namespace {

// What one takes that is at hand is its zeros, a fifth of this.
constexpr int64_t kSlowNs = 1'000'000;

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

// Whether the page at an offset was had, quickly, and as a large one: then its middle is mapped
// too.
bool take(const FileMapping& mapping, int64_t offset) {
  const int64_t begin_ns = thread_ns();
  if (!touch(mapping, offset) || thread_ns() - begin_ns >= kSlowNs) return false;
  const int64_t faults = thread_faults();
  return touch(mapping, offset + kLargePageBytes / 2) && thread_faults() == faults;
}

}  // namespace

int64_t thread_faults() {
  rusage use{};
  ::getrusage(RUSAGE_THREAD, &use);
  return use.ru_minflt;
}

int64_t take_large_pages(const PlainFile& file, int64_t begin, int64_t end) {
  TESSERA_ASSERT(0 <= begin && begin <= end);
  const int64_t first = base::ceil_div(begin, kLargePageBytes) * kLargePageBytes;
  const int64_t last = end / kLargePageBytes * kLargePageBytes;
  if (first >= last || !file.is_local()) return 0;
  const auto mapping = FileMapping::map(file, first, last, Access::kRead);
  if (!mapping) return 0;
  mapping->prefer_large_pages();
  mapping->read_no_further();
  int64_t at = first;
  while (at < last && take(*mapping, at)) at += kLargePageBytes;
  return at - begin;
}

}  // namespace tessera::port
