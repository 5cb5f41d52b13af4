// Object sets: who shares which bytes of a file.
//
// The views of all processes cut the file into elementary intervals, the objects: maximal runs of
// bytes that the same processes share. An object is private (one process) or shared. Regular views
// give families of objects, one compressed set of bytes for each set of sharers, and not millions
// of records: the whole file range is one labelled line (line.hpp), refined by each view in turn.
//   (O1) Objects are disjoint and cover exactly the bytes of all views inside the range.
//   (O2) Two objects that touch have different sharers.
//   (O3) An object's sharers are exactly the processes whose view holds its bytes.
//   (O4) Adding and then dropping a view leaves the set as it was.
// A set is built with a range that bounds infinite views. Thread safety: const use from many
// threads is safe; add() and drop() need exclusive use.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <vector>

#include "tessera/base/result.hpp"
#include "tessera/object/sharers.hpp"
#include "tessera/pattern/byte_set.hpp"
#include "tessera/pattern/line.hpp"

namespace tessera::object {

struct Object {
  pattern::Interval bytes;
  SharersId sharers = kNobody;
  friend bool operator==(const Object&, const Object&) = default;
};

// All objects with the same sharers.
struct Family {
  pattern::ByteSet bytes;
  SharersId sharers = kNobody;
  [[nodiscard]] int64_t object_count() const { return bytes.runs(); }
};

// Two processes that share bytes.
struct Conflict {
  Process first = 0;
  Process second = 0;  // first < second
  int64_t size_bytes = 0;
  int64_t object_count = 0;
  friend bool operator==(const Conflict&, const Conflict&) = default;
};

// What one process sees of the file.
struct ProcessView {
  Process process = 0;
  pattern::ByteSet bytes;
};

class ObjectSet {
 public:
  // The set of a file range that nobody views yet. Requires a range inside [0, kMaxLine).
  explicit ObjectSet(pattern::Interval range);

  // The objects of all views. They are merged in pairs, so the cost is O(parts of all views x log
  // views). Fails as add() does, each merge having the whole budget.
  static base::Result<ObjectSet> of(pattern::Interval range, std::span<const ProcessView> views,
                                    pattern::Budget budget = {});
  // The same for views[0] of process 0, views[1] of process 1, and so on.
  static base::Result<ObjectSet> of(pattern::Interval range,
                                    std::span<const pattern::ByteSet> views,
                                    pattern::Budget budget = {});

  // Refines the set by the view of one more process; bytes outside the range are left out. Fails,
  // changing nothing, with kInvalid if the process has a view already and with kTooComplex as the
  // set operations do or where the sets of sharers outgrow kMaxSharers. Cost: O(parts that the
  // view's span meets), usually microseconds.
  base::Result<void> add(Process process, const pattern::ByteSet& view,
                         pattern::Budget budget = {});
  // Takes a process's view out again. Fails with kNotFound if it has none.
  // Cost: O(parts that the view's span meets).
  base::Result<void> drop(Process process);

  [[nodiscard]] pattern::Interval range() const { return range_; }
  [[nodiscard]] std::vector<Process> processes() const;
  [[nodiscard]] std::span<const Process> sharers(SharersId id) const { return sharers_.get(id); }
  [[nodiscard]] bool is_shared(SharersId id) const { return sharers(id).size() > 1; }

  // The objects that meet [begin, end), in file order, whole. Cost: O(log n + r), where n counts
  // the parts of the line. For many queries of a set that no longer changes, ObjectIndex is faster.
  [[nodiscard]] std::vector<Object> meeting(pattern::Interval bytes) const;
  // As meeting(), without a copy; visit() returns false to stop.
  void for_each_meeting(pattern::Interval bytes,
                        const std::function<bool(const Object&)>& visit) const;
  // The label of every byte of the range is its SharersId.
  [[nodiscard]] const pattern::Line& line() const { return line_; }

  // All families, ordered by their first byte. Cost: O(parts).
  [[nodiscard]] std::vector<Family> families() const;
  // The families that a process has part in.
  [[nodiscard]] std::vector<Family> families_of(Process process) const;
  // Every pair of processes that share bytes, in order. Cost: O(parts + pairs).
  [[nodiscard]] std::vector<Conflict> conflicts() const;
  // Fails with kInvalid, naming two processes and the first byte they share, if any object is
  // shared.
  [[nodiscard]] base::Result<void> require_disjoint() const;

  [[nodiscard]] int64_t object_count() const;
  [[nodiscard]] int64_t shared_object_count() const;
  // Memory of the line and the sharers. Cost: O(nodes).
  [[nodiscard]] int64_t memory_bytes() const;

 private:
  // The lines of some views over the hull of their spans.
  struct Group {
    pattern::Interval hull;
    pattern::Line line;
  };

  // All views share the budget for laying them.
  base::Result<Group> group(std::span<const ProcessView> views, pattern::Budget budget,
                            pattern::Budget& laying);
  base::Result<Group> merge(const Group& a, const Group& b, pattern::Budget budget);
  base::Result<pattern::Line> overlay(const pattern::Line& a, const pattern::Line& b,
                                      pattern::Budget budget);
  void replace(pattern::Interval part, const pattern::Line& refined);

  pattern::Interval range_;
  pattern::Line line_;  // label = SharersId of each byte
  SharersTable sharers_;
  std::map<Process, pattern::Interval> spans_;  // span of each process's view
};

}  // namespace tessera::object
