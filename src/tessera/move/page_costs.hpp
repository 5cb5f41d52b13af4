// PageCosts: what the pages of one file cost where it is reached through a mapping.
//
// A fault costs fifty nanoseconds a page where the system keeps the file in large pages, and twenty
// times that where it does not; nothing but trying tells which. So a few pages are tried once, and
// the answer is kept with the file.
// Thread safety: all functions from any thread.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <optional>

#include "tessera/move/costs.hpp"
#include "tessera/move/move.hpp"
#include "tessera/port/plain_file.hpp"

namespace tessera::move {

class PageCosts {
 public:
  // Nanoseconds a page; nothing before they were learned.
  [[nodiscard]] std::optional<double> seen(Direction direction) const {
    const double ns = ns_[index_of(direction)].load(std::memory_order_relaxed);
    return ns < 0 ? std::nullopt : std::optional(ns);
  }
  void learn(Direction direction, double ns) {
    ns_[index_of(direction)].store(ns, std::memory_order_relaxed);
  }

 private:
  std::array<std::atomic<double>, 2> ns_ = {-1, -1};
};

// Tries some pages of a part of the file and answers what one costs, in nanoseconds, by the number
// of faults. Touched for writing, a page becomes dirty but keeps its bytes, also
// those that others are storing. Nothing if they cannot be touched. Cost: the faults of 512 KB.
// Requires that the part lies inside the file, and PlainFile::is_local().
[[nodiscard]] std::optional<double> probe_pages(const port::PlainFile& file, Interval part,
                                                Direction direction, const Costs& costs);

}  // namespace tessera::move
