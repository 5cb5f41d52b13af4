#include "tessera/move/page_costs.hpp"

#include <algorithm>

#include "tessera/base/page.hpp"
#include "tessera/move/large_pages.hpp"
#include "tessera/port/file_mapping.hpp"
#include "tessera/port/page_faults.hpp"

namespace tessera::move {

namespace {

using base::kPageBytes;
// A fault of a reader brings so much of the file.
constexpr int64_t kFaultBytes = int64_t{64} << 10;
// Enough to tell large pages from small ones.
constexpr int64_t kTriedBytes = int64_t{512} << 10;

// A large page of the file, mapped, and the part of it that is tried.
struct Trial {
  port::FileMapping mapping;
  std::byte* first;
  int64_t bytes;
};

// In the large page of a byte of the part.
base::Result<Trial> begin_trial(const port::PlainFile& file, Interval part, int64_t byte,
                                port::Access access) {
  const int64_t begin = large_pages_around({byte, byte + 1}).begin;
  const int64_t first = std::max(begin, part.begin - part.begin % kPageBytes);
  const int64_t end = std::min({begin + kLargePageBytes, part.end, first + kTriedBytes});
  TESSERA_TRY(auto mapping, port::FileMapping::map(file, begin, begin + kLargePageBytes, access));
  std::byte* place = mapping.data() + (first - begin);
  return Trial{std::move(mapping), place, end - first};
}

// In the middle: at the ends pages may be smaller. The first fault comes whatever they are.
std::optional<double> loaded_page_ns(const port::PlainFile& file, Interval part,
                                     const Costs& costs) {
  const int64_t middle = part.begin + part.length() / 2;
  const auto trial = begin_trial(file, part, middle, port::Access::kRead);
  if (!trial) return std::nullopt;
  const int64_t before = port::thread_faults();
  const bool touched = trial->mapping.touch([&trial] {
    for (int64_t at = 0; at < trial->bytes; at += kFaultBytes) {
      const auto* byte = reinterpret_cast<const unsigned char*>(trial->first + at);
      static_cast<void>(__atomic_load_n(byte, __ATOMIC_RELAXED));
    }
  });
  if (!touched) return std::nullopt;
  const auto faults = static_cast<double>(std::max<int64_t>(0, port::thread_faults() - before - 1));
  const auto pages = static_cast<double>(std::max(trial->bytes, kFaultBytes)) / kPageBytes;
  return costs.mapped_read_ns + costs.mapped_load_ns * faults / pages;
}

// At the beginning, which is no gap. Each store is of the value that is there, whoever may be
// changing it.
std::optional<double> stored_page_ns(const port::PlainFile& file, Interval part,
                                     const Costs& costs) {
  const auto trial = begin_trial(file, part, part.begin, port::Access::kReadWrite);
  if (!trial) return std::nullopt;
  const int64_t before = port::thread_faults();
  const bool touched = trial->mapping.touch([&trial] {
    for (int64_t at = 0; at < trial->bytes; at += kPageBytes) {
      auto* byte = reinterpret_cast<unsigned char*>(trial->first + at);
      __atomic_fetch_or(byte, 0, __ATOMIC_RELAXED);
    }
  });
  if (!touched) return std::nullopt;
  const auto faults = static_cast<double>(port::thread_faults() - before);
  const auto pages = static_cast<double>(std::max(trial->bytes, kPageBytes)) / kPageBytes;
  return costs.mapped_write_ns + costs.mapped_fault_ns * std::min(1.0, faults / pages);
}

}  // namespace

std::optional<double> probe_pages(const port::PlainFile& file, Interval part, Direction direction,
                                  const Costs& costs) {
  return direction == Direction::kWrite ? stored_page_ns(file, part, costs)
                                        : loaded_page_ns(file, part, costs);
}

}  // namespace tessera::move
