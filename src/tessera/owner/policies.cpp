#include "tessera/owner/policies.hpp"

#include <algorithm>

#include "tessera/base/assert.hpp"
#include "tessera/port/seeded_random.hpp"

namespace tessera::owner {

namespace {

// Items that can all be written by any of some processes.
class Run {
 public:
  explicit Run(const Sharing& sharing)
      : slack_(sharing.items() / sharing.processes() / kSlackPart),
        seen_(static_cast<size_t>(sharing.processes())),
        load_(static_cast<size_t>(sharing.processes())),
        turn_(static_cast<size_t>(sharing.processes())) {}

  // Whether some process could write what the run has and these items too; they are added then.
  bool extend(std::span<const Process> holders, int64_t count) {
    ++stretch_;
    for (const Process process : holders) seen_[static_cast<size_t>(process)] = stretch_;
    if (std::none_of(able_.begin(), able_.end(), [this](Process p) { return seen_now(p); })) {
      return false;
    }
    std::erase_if(able_, [this](Process p) { return !seen_now(p); });
    count_ += count;
    return true;
  }

  // Gives the run to one of those who could write it, and begins the next one with these items.
  void restart(std::span<const Process> holders, int64_t count, Writers& to) {
    close(to);
    able_.assign(holders.begin(), holders.end());
    count_ = count;
  }

  void close(Writers& to) {
    if (count_ == 0) return;
    const Process writer = choose();
    load(writer) += count_;
    turn_[static_cast<size_t>(writer)] = ++turns_;
    to.append(count_, writer);
    count_ = 0;
  }

 private:
  // A share that changes hands by the average's part of this is still even.
  static constexpr int64_t kSlackPart = 32;

  // The one who wrote last, so that regular views have regular shares; unless it has more to write
  // than the least loaded by the slack: then that one, the first of equals.
  [[nodiscard]] Process choose() const {
    const auto less = [this](Process a, Process b) { return load(a) < load(b); };
    const auto before = [this](Process a, Process b) { return turn(a) < turn(b); };
    const Process least = *std::min_element(able_.begin(), able_.end(), less);
    const Process last = *std::max_element(able_.begin(), able_.end(), before);
    return turn(last) > 0 && load(last) <= load(least) + slack_ ? last : least;
  }

  [[nodiscard]] bool seen_now(Process process) const {
    return seen_[static_cast<size_t>(process)] == stretch_;
  }
  int64_t& load(Process process) { return load_[static_cast<size_t>(process)]; }
  [[nodiscard]] int64_t load(Process process) const { return load_[static_cast<size_t>(process)]; }
  [[nodiscard]] int64_t turn(Process process) const { return turn_[static_cast<size_t>(process)]; }

  const int64_t slack_;
  std::vector<Process> able_;
  int64_t count_ = 0;
  int64_t stretch_ = 0;
  std::vector<int64_t> seen_;  // the last stretch that a process holds, by process
  std::vector<int64_t> load_;  // by process
  int64_t turns_ = 0;
  std::vector<int64_t> turn_;  // in which a process wrote last; 0 if it did not yet
};

// The writer of the first item of a stretch that the writer before it cannot continue.
Process idg_beginner(const Sharing& sharing, size_t stretch, int64_t count) {
  const auto all = sharing.stretches();
  const auto holders = sharing.holders(all[stretch].holders);
  const bool last = stretch + 1 == all.size() || all[stretch + 1].behind_gap;
  // Behind an item of a longer stretch is one with the same home.
  if (count > 1 || last) return holders.front();
  const Process next = sharing.holders(all[stretch + 1].holders).front();
  return sharing.holds(all[stretch].holders, next) ? next : holders.front();
}

}  // namespace

Writers home_writers(const Sharing& sharing) {
  Writers writers(sharing.processes());
  int64_t begin = 0;
  for (const Stretch& stretch : sharing.stretches()) {
    writers.append(stretch.end - begin, sharing.holders(stretch.holders).front());
    begin = stretch.end;
  }
  return writers;
}

Writers random_writers(const Sharing& sharing, uint64_t seed) {
  Writers writers(sharing.processes());
  port::SeededRandom random(seed);
  int64_t begin = 0;
  for (const Stretch& stretch : sharing.stretches()) {
    const auto holders = sharing.holders(stretch.holders);
    if (holders.size() == 1) {
      writers.append(stretch.end - begin, holders.front());
    } else {
      for (int64_t i = begin; i < stretch.end; ++i) {
        writers.append(1, holders[random.uniform(holders.size())]);
      }
    }
    begin = stretch.end;
  }
  return writers;
}

Writers first_writers(const Sharing& sharing) {
  Writers writers(sharing.processes());
  int64_t begin = 0;
  for (const Stretch& stretch : sharing.stretches()) {
    const auto holders = sharing.holders(stretch.holders);
    writers.append(stretch.end - begin, *std::min_element(holders.begin(), holders.end()));
    begin = stretch.end;
  }
  return writers;
}

Writers idg_writers(const Sharing& sharing) {
  constexpr Process kNoProcess = -1;
  Writers writers(sharing.processes());
  const auto all = sharing.stretches();
  Process before = kNoProcess;
  int64_t begin = 0;
  for (size_t i = 0; i < all.size(); ++i) {
    const int64_t count = all[i].end - begin;
    const bool goes_on = !all[i].behind_gap && sharing.holds(all[i].holders, before);
    if (!goes_on) before = idg_beginner(sharing, i, count);
    writers.append(count, before);
    begin = all[i].end;
  }
  return writers;
}

Writers optimal_writers(const Sharing& sharing) {
  Writers writers(sharing.processes());
  Run run(sharing);
  int64_t begin = 0;
  for (const Stretch& stretch : sharing.stretches()) {
    const auto holders = sharing.holders(stretch.holders);
    const int64_t count = stretch.end - begin;
    if (stretch.behind_gap || !run.extend(holders, count)) run.restart(holders, count, writers);
    begin = stretch.end;
  }
  run.close(writers);
  return writers;
}

}  // namespace tessera::owner
