// Window memory: how the ranks of a node divide the common memory of their team.
//
//   rows       what each rank tells the others about its bytes (window_schedule.hpp)
//   outcomes   how far the transfer of each round got
//   halves     two windows: one is copied to or from while the other is read or written
//   maps       a coverage map for each half
//
// Every rank computes the same division. Who may write what, between two meetings of the team:
//   (P1) A rank writes its own row, before the ranks meet for a schedule, and nothing reads it
//   then. (P2) The outcome of a round is written by the rank that transfers it, once. (P3) A half
//   and its map belong either to all ranks, each for its own bytes, or to the rank that
//        transfers them.
// Thread safety: as (P1) to (P3) allow.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tessera/move/coverage_map.hpp"
#include "tessera/move/window_schedule.hpp"

namespace tessera::move {

class WindowMemory {
 public:
  // How many ranks may transfer parts of one round at the same time.
  static constexpr int64_t kLanesMax = 4;

  // What decides how large the cells are.
  struct Sizes {
    int64_t buffer_bytes = 0;  // two cells with their maps fit into it
    int64_t file_bytes = 0;    // of the whole move: a small one gets small cells, but several
  };

  WindowMemory(int ranks, const Sizes& sizes);

  [[nodiscard]] int64_t cell() const { return cell_; }
  [[nodiscard]] int64_t bytes_needed() const;
  // Requires at least bytes_needed(), aligned to 8 bytes.
  void attach(std::span<std::byte> memory);

  void write_row(int rank, const CellList& list, bool overlaps_nobody);
  [[nodiscard]] std::vector<CellList> read_rows() const;
  // Whether every rank has said that it overlaps nobody.
  [[nodiscard]] bool nobody_overlaps() const;

  // Fresh pages of the halves are costly to come by one after the other, for every rank anew. Each
  // rank lets the system provide its share of them before the ranks meet, and takes over all of
  // them afterwards, many at a time. Costs a few loads once they are there.
  void provide_pages(int rank) const;
  void take_over_pages() const;

  [[nodiscard]] int64_t& outcome(int64_t round, int64_t lane) const;
  // Where byte `position` of the file lies in the window of a round.
  [[nodiscard]] std::byte* place(int64_t round, int64_t position) const;
  [[nodiscard]] CoverageMap map(int64_t round) const;

 private:
  struct Row;

  [[nodiscard]] Row& row(int rank) const;
  [[nodiscard]] int64_t outcomes_at() const;
  [[nodiscard]] int64_t halves_at() const;
  [[nodiscard]] int64_t half_stride() const;
  [[nodiscard]] int64_t maps_at() const;

  int ranks_;
  int64_t cell_;
  std::byte* memory_ = nullptr;
};

}  // namespace tessera::move
