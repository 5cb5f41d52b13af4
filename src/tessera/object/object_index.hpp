// ObjectIndex: the objects that meet [a,b), for many queries of a set that does not change.
//
// The parts of the object set's line lie in a FlatIndex: single objects directly, families of a
// regular stretch as one entry, which a query that meets it walks into. So a query costs
// O(log parts + r) whatever the views: a million irregular objects are a million entries searched
// without a pointer, and a million regular ones a handful. The index is a snapshot: it knows
// nothing of views added later. Thread safety: const functions from any thread.
#pragma once

#include <cstdint>
#include <vector>

#include "tessera/object/flat_index.hpp"
#include "tessera/object/object_set.hpp"

namespace tessera::object {

class ObjectIndex {
 public:
  // Cost: O(parts of the set's line).
  explicit ObjectIndex(const ObjectSet& set);

  // Calls visit(object) for every object that meets [begin, end), in file order, whole.
  template <typename Visit>
  void for_each_meeting(pattern::Interval bytes, Visit&& visit) const {
    for (int64_t i = bytes.empty() ? entries_.size() : entries_.first_meeting(bytes.begin);
         i < entries_.size() && entries_[i].begin < bytes.end; ++i) {
      const SharersId sharers = entries_.value(i);
      if (sharers >= 0) {
        visit(Object{entries_[i], sharers});
      } else {
        for (const Object& object : expand(sharers, bytes)) visit(object);
      }
    }
  }

  [[nodiscard]] int64_t memory_bytes() const;

 private:
  // The objects of regular stretch number -1 - `stretch` that meet `bytes`.
  [[nodiscard]] std::vector<Object> expand(SharersId stretch, pattern::Interval bytes) const;

  FlatIndex entries_;  // values are sharers or, below zero, the number of a stretch
  std::vector<pattern::Line> stretches_;
};

}  // namespace tessera::object
