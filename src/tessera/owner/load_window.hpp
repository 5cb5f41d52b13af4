// Bringing the loads of all processes into a window, by lists of holders.
//
// Which items of a list a process writes does not matter for loads, only how many. A process with
// too many gives some, of lists it shares, to others, who may give of theirs further on, along a
// shortest chain to one that has room; a process with too few gets some in the same way.
//   (B1) What every list has in all stays the same.
//   (B2) If no chain leads on from too much, all that the processes reached have can be written by
//        them alone, so that in no choice the largest load is below their average; the window moves
//        up. If no chain leads to too little, those reached have all that they can have, and the
//        smallest load is nowhere above their average; the window moves down.
// So a window that had to move in both directions, until it was wider than asked for, is the
// narrowest that there is. Thread safety: none.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tessera/owner/sharing.hpp"
#include "tessera/owner/writers.hpp"

namespace tessera::owner {

class LoadWindow {
 public:
  // The loads of a choice. The sharing must outlive it.
  LoadWindow(const Sharing& sharing, const Writers& writers);

  // Moves items until the loads lie in a window [lowest(), highest()] of that width, or the
  // narrowest possible. Cost: a search through the lists for each chain.
  void bring_into(int64_t width);

  [[nodiscard]] int64_t lowest() const { return lowest_; }
  [[nodiscard]] int64_t highest() const { return highest_; }
  [[nodiscard]] std::span<const int64_t> loads() const { return loads_; }

  // Items of each list by each of its holders, list after list, as the choice was or as moved.
  [[nodiscard]] std::span<const int64_t> amounts() const { return amounts_; }
  [[nodiscard]] size_t first_amount(HoldersId list) const {
    return begins_[static_cast<size_t>(list)];
  }

 private:
  // Towards those who have room, or towards those who have something to give.
  enum class Direction { kGive, kTake };
  // How a search came to a process: by items of a list, at the place of the giver's or the taker's.
  struct Link {
    Process from = -1;
    size_t amount_from = 0;
    size_t amount_to = 0;
  };

  void index_lists();
  void place_window(int64_t width);
  void settle(Process process, Direction direction);
  [[nodiscard]] std::optional<Process> search(Process start, Direction direction);
  [[nodiscard]] std::optional<Process> follow(HoldersId list, Process from, Direction direction);
  void move_along(Process start, Process found, Direction direction);
  void move_window(Direction direction);
  [[nodiscard]] bool suits(Process process, Direction direction) const;
  [[nodiscard]] int64_t load(Process process) const { return loads_[static_cast<size_t>(process)]; }

  const Sharing& sharing_;
  std::vector<int64_t> loads_;       // by process
  std::vector<size_t> begins_;       // of each list in amounts_
  std::vector<int64_t> amounts_;     // by list and holder
  std::vector<size_t> lists_begin_;  // of each process in lists_of_; one more at the end
  std::vector<HoldersId> lists_of_;  // the shared lists that a process is in

  int64_t width_ = 0;
  int64_t lowest_ = 0;
  int64_t highest_ = 0;
  std::optional<int64_t> lowest_possible_;  // by (B2)
  std::optional<int64_t> highest_possible_;

  // Of the search under way.
  int64_t searches_ = 0;
  std::vector<int64_t> list_seen_;     // the last search that used a list
  std::vector<int64_t> process_seen_;  // that reached a process
  std::vector<Link> links_;            // by process
  std::vector<Process> reached_;       // in order
};

}  // namespace tessera::owner
