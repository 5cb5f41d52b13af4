#include "tessera/owner/levelling.hpp"

#include <algorithm>
#include <cstdlib>
#include <span>
#include <vector>

#include "tessera/owner/pieces.hpp"

namespace tessera::owner {

namespace {

constexpr int kSweeps = 16;

// Items with one writer and no gap between them.
struct Run {
  int64_t begin = 0;
  int64_t end = 0;
  Process writer = 0;
  bool behind_gap = false;
};

class Levelling {
 public:
  Levelling(const Sharing& sharing, const Writers& writers)
      : sharing_(sharing),
        loads_(static_cast<size_t>(sharing.processes())),
        seen_(static_cast<size_t>(sharing.processes())) {
    int64_t begin = 0;
    for (const Piece& piece : pieces_of(sharing, writers)) {
      const int64_t end = begin + piece.count;
      if (runs_.empty() || piece.behind_gap || runs_.back().writer != piece.writer) {
        runs_.push_back({begin, end, piece.writer, piece.behind_gap});
      }
      runs_.back().end = end;
      load(piece.writer) += piece.count;
      begin = end;
    }
  }

  void sweep_until(int64_t width) {
    for (int sweep = 0; sweep < kSweeps; ++sweep) {
      const auto [least, most] = std::minmax_element(loads_.begin(), loads_.end());
      if (*most - *least <= width || !move_all()) return;
    }
  }

  [[nodiscard]] Writers writers() const {
    Writers result(sharing_.processes());
    result.reserve(runs_.size());
    for (const Run& run : runs_) result.append(run.end - run.begin, run.writer);
    return result;
  }

 private:
  using StretchIterator = std::span<const Stretch>::iterator;

  // Whether anything was moved.
  bool move_all() {
    bool moved = false;
    for (size_t i = 0; i < runs_.size(); ++i) {
      if (follows_one(i)) moved |= shift_border(runs_[i - 1], runs_[i]);
      moved |= hand_over(i);
    }
    return moved;
  }

  // Each run keeps an item at least.
  bool shift_border(Run& before, Run& behind) {
    const int64_t more = load(before.writer) - load(behind.writer);
    const Run& giver = more > 0 ? before : behind;
    const int64_t most = std::min(std::abs(more) / 2, giver.end - giver.begin - 1);
    const int64_t shift = more > 0 ? -held_before(before.end, behind.writer, most)
                                   : held_from(behind.begin, before.writer, most);
    before.end += shift;
    behind.begin += shift;
    load(before.writer) += shift;
    load(behind.writer) -= shift;
    return shift != 0;
  }

  // To the least loaded of those who can.
  bool hand_over(size_t index) {
    Run& run = runs_[index];
    const int64_t count = run.end - run.begin;
    find_able(run);
    Process taker = run.writer;
    for (const Process process : able_) {
      const bool less = load(process) + count < load(run.writer) && load(process) < load(taker);
      if (less && !writes_beside(index, process)) taker = process;
    }
    if (taker == run.writer) return false;
    load(run.writer) -= count;
    load(taker) += count;
    run.writer = taker;
    return true;
  }

  // Those who hold all items of a run.
  void find_able(const Run& run) {
    auto stretch = stretch_of(run.begin);
    const auto first = sharing_.holders(stretch->holders);
    able_.assign(first.begin(), first.end());
    while (stretch->end < run.end && able_.size() > 1) {
      ++stretch;
      ++stamp_;
      for (const Process p : sharing_.holders(stretch->holders)) {
        seen_[static_cast<size_t>(p)] = stamp_;
      }
      std::erase_if(able_, [this](Process p) { return seen_[static_cast<size_t>(p)] != stamp_; });
    }
  }

  // How many of at most so many items from here on, or before here, a process holds in a row.
  [[nodiscard]] int64_t held_from(int64_t item, Process process, int64_t most) const {
    int64_t end = item;
    for (auto stretch = stretch_of(item); end - item < most; ++stretch) {
      if (!sharing_.holds(stretch->holders, process)) break;
      end = stretch->end;
    }
    return std::min(end - item, most);
  }
  [[nodiscard]] int64_t held_before(int64_t item, Process process, int64_t most) const {
    const auto first = sharing_.stretches().begin();
    int64_t begin = item;
    for (auto stretch = stretch_of(item - 1); item - begin < most; --stretch) {
      if (!sharing_.holds(stretch->holders, process)) break;
      begin = stretch == first ? 0 : (stretch - 1)->end;
    }
    return std::min(item - begin, most);
  }

  [[nodiscard]] StretchIterator stretch_of(int64_t item) const {
    const auto all = sharing_.stretches();
    return std::partition_point(all.begin(), all.end(),
                                [item](const Stretch& stretch) { return stretch.end <= item; });
  }

  // Whether a run touches the one before it.
  [[nodiscard]] bool follows_one(size_t index) const {
    return index > 0 && !runs_[index].behind_gap;
  }
  [[nodiscard]] bool writes_beside(size_t index, Process process) const {
    const size_t next = index + 1;
    return (follows_one(index) && runs_[index - 1].writer == process) ||
           (next < runs_.size() && follows_one(next) && runs_[next].writer == process);
  }

  int64_t& load(Process process) { return loads_[static_cast<size_t>(process)]; }

  const Sharing& sharing_;
  std::vector<Run> runs_;
  std::vector<int64_t> loads_;  // by process
  std::vector<Process> able_;   // to write the run that is looked at
  int64_t stamp_ = 0;
  std::vector<int64_t> seen_;  // the last stamp of a stretch that a process holds, by process
};

}  // namespace

Writers levelled(const Sharing& sharing, const Writers& writers, int64_t width) {
  Levelling levelling(sharing, writers);
  levelling.sweep_until(width);
  return levelling.writers();
}

}  // namespace tessera::owner
