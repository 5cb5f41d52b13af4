// KeptMapping: the last mapping of a file, kept for the next move.
//
// Setting a mapping up costs a fault for each page again. Programs that move to and from the same
// part of an open file again and again find its pages where they left them.
//   (K1) A mapping is used by one move at a time: it is taken out, and put back afterwards.
//   (K2) One is kept for each open file, of one window's size; it goes when the file is closed.
// Stores that fault no more do not change the time of the file's last change; whoever stores to a
// kept mapping also reserves space or writes a byte by a system call, which does.
// Thread safety: all functions from any thread.
#pragma once

#include <memory>
#include <utility>

#include "tessera/move/move.hpp"
#include "tessera/port/file_mapping.hpp"
#include "tessera/port/guarded.hpp"

namespace tessera::move {

class KeptMapping {
 public:
  using Mapping = std::unique_ptr<port::FileMapping>;

  // The mapping, if it holds the part and allows the access; else null.
  [[nodiscard]] Mapping take(Interval part, port::Access access) {
    return kept_.with([&](Mapping& kept) {
      return fits(kept, part, access) ? std::exchange(kept, nullptr) : nullptr;
    });
  }

  // Whether take() would give one.
  [[nodiscard]] bool holds(Interval part, port::Access access) {
    return kept_.with([&](const Mapping& kept) { return fits(kept, part, access); });
  }

  // Puts it back, or in place of another.
  void keep(Mapping mapping) {
    kept_.with([&](Mapping& kept) { std::swap(kept, mapping); });
  }

 private:
  static bool fits(const Mapping& kept, Interval part, port::Access access) {
    return kept && kept->begin() <= part.begin && part.end <= kept->end() &&
           (access == port::Access::kRead || kept->access() == access);
  }

  port::Guarded<Mapping> kept_;
};

}  // namespace tessera::move
