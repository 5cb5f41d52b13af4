#include "tessera/owner/load_window.hpp"

#include <algorithm>
#include <numeric>

#include "tessera/base/assert.hpp"
#include "tessera/base/checked.hpp"
#include "tessera/owner/pieces.hpp"

namespace tessera::owner {

LoadWindow::LoadWindow(const Sharing& sharing, const Writers& writers)
    : sharing_(sharing), loads_(static_cast<size_t>(sharing.processes())) {
  index_lists();
  for (const Piece& piece : pieces_of(sharing, writers)) {
    const auto holders = sharing.holders(piece.holders);
    const auto place = std::find(holders.begin(), holders.end(), piece.writer);
    TESSERA_ASSERT(place != holders.end());
    const auto offset = static_cast<size_t>(place - holders.begin());
    amounts_[first_amount(piece.holders) + offset] += piece.count;
    loads_[static_cast<size_t>(piece.writer)] += piece.count;
  }
}

void LoadWindow::index_lists() {
  const HoldersId lists = sharing_.lists();
  lists_begin_.resize(loads_.size() + 1);
  size_t amounts = 0;
  for (HoldersId list = 0; list < lists; ++list) {
    begins_.push_back(amounts);
    amounts += sharing_.holders(list).size();
    if (!sharing_.is_shared(list)) continue;
    for (const Process p : sharing_.holders(list)) ++lists_begin_[static_cast<size_t>(p) + 1];
  }
  amounts_.resize(amounts);
  std::partial_sum(lists_begin_.begin(), lists_begin_.end(), lists_begin_.begin());
  lists_of_.resize(lists_begin_.back());
  std::vector<size_t> next(lists_begin_.begin(), lists_begin_.end() - 1);
  for (HoldersId list = 0; list < lists; ++list) {
    if (!sharing_.is_shared(list)) continue;
    for (const Process p : sharing_.holders(list)) lists_of_[next[static_cast<size_t>(p)]++] = list;
  }
  list_seen_.resize(static_cast<size_t>(lists));
  process_seen_.resize(loads_.size());
  links_.resize(loads_.size());
}

void LoadWindow::place_window(int64_t width) {
  const int64_t average = sharing_.items() / sharing_.processes();
  width_ = width;
  lowest_ = std::max<int64_t>(0, average - width / 2);
  highest_ = lowest_ + std::min(width, sharing_.items());
}

void LoadWindow::bring_into(int64_t width) {
  place_window(width);
  bool moved = true;
  while (moved) {
    moved = false;
    for (Process p = 0; p < sharing_.processes(); ++p) {
      while (load(p) > highest_) settle(p, Direction::kGive), moved = true;
      while (load(p) < lowest_) settle(p, Direction::kTake), moved = true;
    }
  }
}

void LoadWindow::settle(Process process, Direction direction) {
  if (const auto found = search(process, direction)) {
    move_along(process, *found, direction);
  } else {
    move_window(direction);
  }
}

bool LoadWindow::suits(Process process, Direction direction) const {
  return direction == Direction::kGive ? load(process) < highest_ : load(process) > lowest_;
}

std::optional<Process> LoadWindow::search(Process start, Direction direction) {
  ++searches_;
  reached_.assign(1, start);
  process_seen_[static_cast<size_t>(start)] = searches_;
  size_t done = 0;
  while (done < reached_.size()) {
    const Process from = reached_[done++];
    const auto p = static_cast<size_t>(from);
    for (size_t at = lists_begin_[p]; at < lists_begin_[p + 1]; ++at) {
      if (const auto found = follow(lists_of_[at], from, direction)) return found;
    }
  }
  return std::nullopt;
}

std::optional<Process> LoadWindow::follow(HoldersId list, Process from, Direction direction) {
  int64_t& seen = list_seen_[static_cast<size_t>(list)];
  if (seen == searches_) return std::nullopt;
  const auto holders = sharing_.holders(list);
  const size_t first = first_amount(list);
  const auto place = std::find(holders.begin(), holders.end(), from) - holders.begin();
  const size_t own = first + static_cast<size_t>(place);
  if (direction == Direction::kGive && amounts_[own] == 0) return std::nullopt;
  seen = searches_;
  for (size_t i = 0; i < holders.size(); ++i) {
    const auto p = static_cast<size_t>(holders[i]);
    if (process_seen_[p] == searches_) continue;
    if (direction == Direction::kTake && amounts_[first + i] == 0) continue;
    process_seen_[p] = searches_;
    links_[p] = {from, own, first + i};
    reached_.push_back(holders[i]);
    if (suits(holders[i], direction)) return holders[i];
  }
  return std::nullopt;
}

void LoadWindow::move_along(Process start, Process found, Direction direction) {
  const bool gives = direction == Direction::kGive;
  const auto giver = static_cast<size_t>(gives ? start : found);
  const auto taker = static_cast<size_t>(gives ? found : start);
  const int64_t bound = gives ? highest_ : lowest_;
  int64_t count = std::min(loads_[giver] - bound, bound - loads_[taker]);
  const auto given = [gives](const Link& link) {
    return gives ? link.amount_from : link.amount_to;
  };
  for (Process p = found; p != start; p = links_[static_cast<size_t>(p)].from) {
    count = std::min(count, amounts_[given(links_[static_cast<size_t>(p)])]);
  }
  TESSERA_ASSERT(count > 0);
  for (Process p = found; p != start; p = links_[static_cast<size_t>(p)].from) {
    const Link& link = links_[static_cast<size_t>(p)];
    amounts_[link.amount_from] += gives ? -count : count;
    amounts_[link.amount_to] += gives ? count : -count;
  }
  loads_[giver] -= count;
  loads_[taker] += count;
}

void LoadWindow::move_window(Direction direction) {
  int64_t sum = 0;
  for (const Process p : reached_) sum += load(p);
  const auto average = [&](auto divide) { return divide(sum, std::ssize(reached_)); };
  if (direction == Direction::kGive) {
    highest_ = average(base::ceil_div);
    highest_possible_ = highest_;
    lowest_ = std::max<int64_t>(0, highest_ - width_);
    if (lowest_possible_) lowest_ = std::min(lowest_, *lowest_possible_);
  } else {
    lowest_ = average(base::floor_div);
    lowest_possible_ = lowest_;
    highest_ = lowest_ + std::min(width_, sharing_.items());
    if (highest_possible_) highest_ = std::max(highest_, *highest_possible_);
  }
}

}  // namespace tessera::owner
