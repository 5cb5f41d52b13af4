// Writers: which holder of each item writes it.
//
// Every holder's bytes are valid, so the choice is free. It decides how long the runs are that each
// process writes (an interval: neighbouring items with the same writer) and how even the load is.
//
//   home      the first holder of each item: METIS's own partition of a mesh
//   random    any holder, drawn for each item
//   first     the holder with the smallest number
//   idg       interval data grouping: the writer of the item before, if it holds this one too; else
//             the home of the item behind, if it holds this one; else the item's own home. (Paper
//             2's pseudocode asks for the home of the item before, its Table 2 for the writer.)
//   optimal   the fewest intervals that any choice has (0020 in docs/decisions has the proof)
//   balanced  few intervals with an imbalance of at most a bound
//
// Behind a gap (sharing.hpp) idg, optimal and balanced begin anew: there a change costs nothing.
// Imbalance is (most - fewest) / average of the items that the processes write, as paper 2 has it.
// Thread safety: pure functions on values; const use from many threads is safe.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "tessera/base/result.hpp"
#include "tessera/owner/sharing.hpp"

namespace tessera::owner {

enum class Policy { kHome, kRandom, kFirst, kIdg, kOptimal, kBalanced };

[[nodiscard]] std::string_view policy_name(Policy policy);  // "metis" for kHome
// Fails with kInvalid, naming all policies.
[[nodiscard]] base::Result<Policy> parse_policy(std::string_view name);
[[nodiscard]] std::span<const Policy> all_policies();

// Neighbouring items with one writer.
struct WriterInterval {
  int64_t begin = 0;
  int64_t end = 0;
  Process writer = 0;
  friend bool operator==(const WriterInterval&, const WriterInterval&) = default;
};

// Who writes what.
//   (W1) The intervals follow each other and cover all items; two that touch have different
//   writers.
class Writers {
 public:
  Writers() = default;
  explicit Writers(int processes) : processes_(processes) {}

  // Adds items behind the last. Requires count >= 0 and a writer below processes().
  void append(int64_t count, Process writer);
  // Makes room for so many intervals.
  void reserve(size_t intervals) { intervals_.reserve(intervals); }

  [[nodiscard]] int processes() const { return processes_; }
  [[nodiscard]] int64_t items() const { return intervals_.empty() ? 0 : intervals_.back().end; }
  [[nodiscard]] std::span<const WriterInterval> intervals() const { return intervals_; }
  // The intervals of one writer, in order. Cost: O(intervals).
  [[nodiscard]] std::vector<WriterInterval> share_of(Process writer) const;
  // The writer of an item. Requires 0 <= item < items(). Cost: O(log intervals).
  [[nodiscard]] Process writer_of(int64_t item) const;
  friend bool operator==(const Writers&, const Writers&) = default;

 private:
  int processes_ = 0;
  std::vector<WriterInterval> intervals_;
};

struct PolicyOptions {
  Policy policy = Policy::kOptimal;
  uint64_t seed = 1;            // of kRandom
  double max_imbalance = 0.10;  // of kBalanced
};

// Chooses a writer, one of its holders, for every item.
// Fails with kInvalid if max_imbalance is negative or not a number, and kBalanced with kNotFound,
// naming the smallest imbalance that any choice has, if none keeps the bound.
// Cost: O(stretches + holders), for kRandom O(items), for kBalanced some rounds of that.
[[nodiscard]] base::Result<Writers> choose_writers(const Sharing& sharing,
                                                   const PolicyOptions& options);

// What a choice comes to.
struct WriterMetrics {
  int processes = 0;
  int64_t items = 0;
  int64_t intervals = 0;
  double average_length = 0;          // items of an interval
  double imbalance = 0;               // (max - min) / average of items per process
  std::vector<int64_t> intervals_of;  // by process
  std::vector<int64_t> items_of;      // by process
};
[[nodiscard]] WriterMetrics measure(const Writers& writers);

// How much is replicated: shared items in percent of all.
[[nodiscard]] double replication_percent(const Sharing& sharing);

}  // namespace tessera::owner
