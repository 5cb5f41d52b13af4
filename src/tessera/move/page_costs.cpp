#include "tessera/move/page_costs.hpp"

#include <sys/resource.h>
#include <time.h>

#include <algorithm>

#include "tessera/move/large_pages.hpp"
#include "tessera/port/file_mapping.hpp"

namespace tessera::move {

namespace {

constexpr int64_t kPageBytes = 4096;
// A fault of a reader brings so much of the file.
constexpr int64_t kFaultBytes = int64_t{64} << 10;
// Enough to tell large pages from small ones.
constexpr int64_t kStoredBytes = int64_t{512} << 10;

// Times are taken so often, unless one is as short as this times what is expected.
constexpr int kTrialsMax = 3;
constexpr double kPlausible = 1.5;

// A large page of the file, mapped, and the part of it that is tried.
struct Trial {
  port::FileMapping mapping;
  std::byte* first;
  int64_t bytes;
};

base::Result<Trial> begin_trial(const port::PlainFile& file, Interval part, port::Access access) {
  const int64_t begin = large_pages_around(part).begin;
  const int64_t first = part.begin - part.begin % kPageBytes;
  const int64_t end = std::min(begin + kLargePageBytes, part.end);
  TESSERA_TRY(auto mapping, port::FileMapping::map(file, begin, begin + kLargePageBytes, access));
  std::byte* place = mapping.data() + (first - begin);
  return Trial{std::move(mapping), place, end - first};
}

// The time that this thread had a core, in the program or in the system: others may have it too.
int64_t thread_time_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

int64_t thread_faults() {
  rusage use{};
  ::getrusage(RUSAGE_THREAD, &use);
  return use.ru_minflt;
}

// Loads tell by their time, with that of the mapping: there is one for each fault.
std::optional<double> loaded_page_ns(const port::PlainFile& file, Interval part,
                                     const Costs& costs) {
  const int64_t begin_ns = thread_time_ns();
  int64_t bytes = 0;
  {
    const auto trial = begin_trial(file, part, port::Access::kRead);
    if (!trial) return std::nullopt;
    bytes = trial->bytes;
    const bool touched = trial->mapping.touch([&trial] {
      for (int64_t at = 0; at < trial->bytes; at += kFaultBytes) {
        const auto* byte = reinterpret_cast<const unsigned char*>(trial->first + at);
        static_cast<void>(__atomic_load_n(byte, __ATOMIC_RELAXED));
      }
    });
    if (!touched) return std::nullopt;
  }
  const auto pages = static_cast<double>(std::max(bytes, kFaultBytes)) / kPageBytes;
  return std::max(costs.mapped_read_ns, static_cast<double>(thread_time_ns() - begin_ns) / pages);
}

// Stores tell by the number of their faults. Each is of the value that is there, whoever may be
// changing it.
std::optional<double> stored_page_ns(const port::PlainFile& file, Interval part,
                                     const Costs& costs) {
  const auto trial = begin_trial(file, part, port::Access::kReadWrite);
  if (!trial) return std::nullopt;
  const int64_t bytes = std::min(trial->bytes, kStoredBytes);
  const int64_t before = thread_faults();
  const bool touched = trial->mapping.touch([&trial, bytes] {
    for (int64_t at = 0; at < bytes; at += kPageBytes) {
      auto* byte = reinterpret_cast<unsigned char*>(trial->first + at);
      __atomic_fetch_or(byte, 0, __ATOMIC_RELAXED);
    }
  });
  if (!touched) return std::nullopt;
  const auto faults = static_cast<double>(thread_faults() - before);
  const auto pages = static_cast<double>(std::max(bytes, kPageBytes)) / kPageBytes;
  return costs.mapped_write_ns + costs.mapped_fault_ns * std::min(1.0, faults / pages);
}

}  // namespace

std::optional<double> probe_pages(const port::PlainFile& file, Interval part, Direction direction,
                                  const Costs& costs) {
  if (direction == Direction::kWrite) return stored_page_ns(file, part, costs);
  // Whatever else the machine did meanwhile only adds to a time.
  std::optional<double> least;
  for (int trial = 0; trial < kTrialsMax; ++trial) {
    const auto seen = loaded_page_ns(file, part, costs);
    if (!seen) return std::nullopt;
    least = std::min(least.value_or(*seen), *seen);
    if (*least < kPlausible * costs.mapped_read_ns) break;
  }
  return least;
}

}  // namespace tessera::move
