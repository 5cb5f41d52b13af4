// Handing items over from writer to writer, where that costs the fewest intervals.
//
// How many items of each list each holder gives or gets is given; which ones is chosen here. A
// border between two writers moves at no cost, a whole interval changes hands at no cost, and what
// is left is cut out of the longest pieces at the ends of intervals first. Thread safety: none.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tessera/owner/pieces.hpp"
#include "tessera/owner/sharing.hpp"
#include "tessera/owner/writers.hpp"

namespace tessera::owner {

// How far loads may go.
struct LoadBounds {
  int64_t lowest = 0;
  int64_t highest = 0;
};

class Handover {
 public:
  // Of a choice. The sharing must outlive it.
  Handover(const Sharing& sharing, const Writers& writers);

  // Makes every holder write as many items of every list as `amounts` says, which has, list after
  // list, one for each holder. Requires that each list has as many items as before.
  // Cost: O(stretches + holders of all stretches), and a sort of what has to be cut.
  void reach(std::span<const int64_t> amounts);

  // Gives pieces to the writer before or behind them where that saves intervals and keeps the
  // loads in bounds. Cost: O(stretches + holders of all stretches).
  void absorb(LoadBounds bounds);

  [[nodiscard]] Writers writers() const;

 private:
  // A part of a piece that another one gets.
  struct Cut {
    size_t piece = 0;
    int64_t count = 0;
    Process writer = 0;
    bool at_end = false;  // of the piece, else at its begin
  };

  [[nodiscard]] size_t slot(HoldersId list, Process process) const;
  void move_borders();
  void turn_around();
  void cut_rest();
  [[nodiscard]] std::vector<size_t> pieces_to_cut() const;
  [[nodiscard]] bool follows(size_t piece, Process writer) const;
  [[nodiscard]] bool precedes(size_t piece, Process writer) const;
  [[nodiscard]] int neighbours_with(size_t piece, Process writer) const;
  void hand_out(size_t index, std::vector<Cut>& cuts);
  void apply(std::vector<Cut> cuts);

  const Sharing& sharing_;
  std::vector<size_t> begins_;    // of each list in to_give_
  std::vector<int64_t> to_give_;  // by list and holder; negative is to get
  std::vector<Piece> pieces_;
};

}  // namespace tessera::owner
