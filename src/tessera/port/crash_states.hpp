// Crash states: what a disk may hold after a power loss.
//
// The power may fail after any number of the logged operations (the crash point). Then:
//   (C1) What a sync covered before the point is there (D3, D4 of disk.hpp).
//   (C2) Every other operation is there, missing, or partly there; no order holds among them.
//   (C3) A write is torn only between sectors of 512 bytes, counted from the file's start; its
//        growth of the file may be there without its bytes, which then read as zeros.
//   (C4) A create, remove, rename or truncate is there as a whole or not at all.
//   (C5) A sync that failed covers nothing, and no later one covers what it should have.
// Real file systems promise more, each something else; a store that is sound under these rules is
// sound on all of them. A rename between directories needs the sync of both.
// Thread safety: const functions, from any thread.
#pragma once

#include <cstdint>
#include <functional>

#include "tessera/base/result.hpp"
#include "tessera/port/random.hpp"
#include "tessera/port/sim_tree.hpp"

namespace tessera::port {

inline constexpr int64_t kSectorBytes = 512;

struct CrashState {
  size_t point;  // operations [0, point) of the log were issued before the power failed
  DiskImage image;
};

class CrashStates {
 public:
  explicit CrashStates(DiskLog log) : log_(std::move(log)) {}

  // Crash points are [0, points()).
  [[nodiscard]] size_t points() const { return log_.operations.size() + 1; }

  // A random state, at a random point or the given one. Extremes (all lost, all there, whole
  // operations, single sectors) are drawn often. O(bytes in the log).
  [[nodiscard]] CrashState sample(Random& random) const;
  [[nodiscard]] CrashState sample_at(size_t point, Random& random) const;

  // Visits every state of every point at least once, the same each time in the same order. Fails
  // with kTooComplex after states_max visits if there are more.
  [[nodiscard]] base::Result<uint64_t> for_each(
      uint64_t states_max, const std::function<void(const CrashState&)>& visit) const;

 private:
  // Asked for each uncovered part of operation i in turn: is it there?
  using Choose = std::function<bool(size_t operation)>;

  [[nodiscard]] std::vector<bool> covered(size_t point) const;
  [[nodiscard]] CrashState build(size_t point, const Choose& choose) const;

  DiskLog log_;
};

}  // namespace tessera::port
