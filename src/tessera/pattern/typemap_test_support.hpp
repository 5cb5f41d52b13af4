// The oracle of datatype tests: MPI's type maps written out entry by entry.
//
// A type map is a list of basic types and bound markers with their displacements. Everything is
// computed as the MPI standard's definitions say, without a thought for size.
#pragma once

#include <algorithm>
#include <functional>
#include <vector>

#include "tessera/pattern/darray.hpp"
#include "tessera/pattern/datatype.hpp"
#include "tessera/pattern/model_test_support.hpp"

namespace tessera::pattern::model {

struct TypemapEntry {
  enum Kind { kBasic, kLowerMark, kUpperMark } kind = kBasic;
  int64_t displacement = 0;
  int64_t size = 0;
  int64_t alignment = 1;
};

struct Typemap {
  std::vector<TypemapEntry> entries;

  [[nodiscard]] std::vector<int64_t> displacements(TypemapEntry::Kind kind) const {
    std::vector<int64_t> result;
    for (const TypemapEntry& entry : entries) {
      if (entry.kind == kind) result.push_back(entry.displacement);
    }
    return result;
  }

  [[nodiscard]] int64_t lower_bound() const {
    auto candidates = displacements(TypemapEntry::kLowerMark);
    if (candidates.empty()) candidates = displacements(TypemapEntry::kBasic);
    return candidates.empty() ? 0 : *std::min_element(candidates.begin(), candidates.end());
  }

  [[nodiscard]] int64_t upper_bound() const {
    const auto marks = displacements(TypemapEntry::kUpperMark);
    if (!marks.empty()) return *std::max_element(marks.begin(), marks.end());
    if (entries.empty()) return 0;
    int64_t end = entries.front().displacement;
    int64_t alignment = 1;
    for (const TypemapEntry& entry : entries) {
      end = std::max(end, entry.displacement + entry.size);
      alignment = std::max(alignment, entry.alignment);
    }
    while ((end - lower_bound()) % alignment != 0) ++end;
    return end;
  }

  [[nodiscard]] int64_t extent() const { return upper_bound() - lower_bound(); }

  [[nodiscard]] std::vector<int64_t> bytes() const {
    std::vector<int64_t> result;
    for (const TypemapEntry& entry : entries) {
      for (int64_t i = 0; i < entry.size; ++i) result.push_back(entry.displacement + i);
    }
    return result;
  }

  void add(const Typemap& other, int64_t displacement) {
    for (TypemapEntry entry : other.entries) {
      entry.displacement += displacement;
      entries.push_back(entry);
    }
  }

  void set_marks(int64_t lower, int64_t upper) {
    std::erase_if(entries, [](const TypemapEntry& e) { return e.kind != TypemapEntry::kBasic; });
    entries.push_back({TypemapEntry::kLowerMark, lower, 0, 1});
    entries.push_back({TypemapEntry::kUpperMark, upper, 0, 1});
  }

  void add_block(int64_t blocklength, int64_t displacement, const Typemap& type) {
    for (int64_t i = 0; i < blocklength; ++i) add(type, displacement + i * type.extent());
  }
};

// The elements of an array that are `chosen` by their indices, in storage order.
inline Typemap array_part(const std::vector<int64_t>& sizes, Order order, const Typemap& type,
                          const std::function<bool(const std::vector<int64_t>&)>& chosen) {
  int64_t total = 1;
  for (const int64_t size : sizes) total *= size;
  Typemap result;
  std::vector<int64_t> index(sizes.size());
  for (int64_t element = 0; element < total; ++element) {
    int64_t rest = element;
    for (size_t i = 0; i < sizes.size(); ++i) {
      const size_t d = order == Order::kC ? sizes.size() - 1 - i : i;
      index[d] = rest % sizes[d];
      rest /= sizes[d];
    }
    if (chosen(index)) result.add(type, element * type.extent());
  }
  result.set_marks(0, total * type.extent());
  return result;
}

inline void expect_same(const Datatype& type, const Typemap& map) {
  type.bytes.check_invariants();
  std::vector<int64_t> bytes;
  for (const Point<1>& p : positions(type.bytes)) bytes.push_back(p[0]);
  EXPECT_EQ(bytes, map.bytes());
  EXPECT_EQ(type.lower_bound, map.lower_bound());
  EXPECT_EQ(type.extent, map.extent());
  EXPECT_EQ(type.upper_bound(), map.upper_bound());
  if (!bytes.empty()) {
    const auto [low, high] = std::minmax_element(bytes.begin(), bytes.end());
    EXPECT_EQ(type.true_bounds(), (Interval{*low, *high + 1}));
  }
}

}  // namespace tessera::pattern::model
