// The obvious file map: for every byte of a small file, where it is.
//
// Used by the model tests of maps and of their encoding. Seeds and rounds come from
// pattern/model_test_support.hpp.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "tessera/map/file_map.hpp"
#include "tessera/pattern/model_test_support.hpp"

namespace tessera::map::model {

using pattern::ByteSet;
using pattern::Interval;
using pattern::model::bytes_of;
using pattern::model::Engine;
using pattern::model::uniform;

inline constexpr int64_t kFileBytes = 64;
inline constexpr AllocationId kAllocations = 4;

struct Place {
  AllocationId allocation = 0;
  int64_t place = 0;
  uint64_t epoch = 0;
  friend auto operator<=>(const Place&, const Place&) = default;
};

// A set of bytes of the file: runs, strides and irregular ones, often touching the ends.
inline ByteSet random_bytes(Engine& engine) {
  if (uniform(engine, 0, 3) == 0) {
    const int64_t begin = uniform(engine, 0, kFileBytes - 1);
    return ByteSet::of(Interval{begin, uniform(engine, begin + 1, kFileBytes)}).value();
  }
  if (uniform(engine, 0, 2) == 0) {
    const int64_t stride = uniform(engine, 2, 6);
    const auto run = pattern::Pattern::run({{uniform(engine, 0, 8)}}, uniform(engine, 1, stride));
    const int64_t count = uniform(engine, 1, (kFileBytes - 14) / stride);
    return ByteSet::of(repeat(*run, count, {{stride}}).value()).value();
  }
  return pattern::model::random_set(engine).within({0, kFileBytes});
}

struct Model {
  std::map<int64_t, Place> visible;
  std::map<AllocationId, std::map<int64_t, Place>> replicas;

  void forget_copies(int64_t byte) {
    for (auto& [allocation, copies] : replicas) copies.erase(byte);
  }

  void add(const Mapping& mapping) {
    int64_t place = mapping.place;
    for (const int64_t byte : bytes_of(mapping.bytes)) {
      const Place at = {mapping.allocation, place++, mapping.epoch};
      const auto shown = visible.find(byte);
      if (shown != visible.end() && shown->second.epoch > mapping.epoch) continue;
      visible[byte] = at;
      forget_copies(byte);
    }
  }

  void add_replica(const Mapping& mapping) {
    int64_t place = mapping.place;
    for (const int64_t byte : bytes_of(mapping.bytes)) {
      const int64_t at = place++;
      const auto shown = visible.find(byte);
      if (shown == visible.end() || shown->second.epoch > mapping.epoch) continue;
      replicas[mapping.allocation][byte] = {mapping.allocation, at, shown->second.epoch};
    }
  }

  void add_all(const Model& other) {
    for (const auto& [byte, place] : other.visible) {
      const auto shown = visible.find(byte);
      if (shown != visible.end() && shown->second.epoch > place.epoch) continue;
      visible[byte] = place;
      forget_copies(byte);
    }
    for (const auto& [allocation, copies] : other.replicas) {
      for (const auto& [byte, place] : copies) {
        if (visible.at(byte) == other.visible.at(byte)) replicas[allocation][byte] = place;
      }
    }
  }

  void erase(const ByteSet& bytes) {
    for (const int64_t byte : bytes_of(bytes)) {
      visible.erase(byte);
      forget_copies(byte);
    }
  }

  void drop_allocation(AllocationId allocation) {
    replicas.erase(allocation);
    for (auto& [byte, place] : std::map(visible)) {
      if (place.allocation != allocation) continue;
      visible.erase(byte);
      for (auto& [other, copies] : replicas) {
        const auto copy = copies.find(byte);
        if (copy == copies.end()) continue;
        visible[byte] = copy->second;
        copies.erase(copy);
        break;
      }
    }
  }

  void renumber(AllocationId by) {
    std::map<AllocationId, std::map<int64_t, Place>> renumbered;
    for (auto& [byte, place] : visible) place.allocation += by;
    for (auto& [allocation, copies] : replicas) {
      for (auto& [byte, place] : copies) place.allocation += by;
      renumbered[allocation + by] = copies;
    }
    replicas = renumbered;
  }

  // Whether an allocation has a byte there, visible or as a copy.
  [[nodiscard]] bool holds(AllocationId allocation, int64_t byte, int64_t place) const {
    const auto shown = visible.find(byte);
    if (shown != visible.end() && shown->second.allocation == allocation &&
        shown->second.place == place) {
      return true;
    }
    const auto copies = replicas.find(allocation);
    if (copies == replicas.end() || !copies->second.contains(byte)) return false;
    return copies->second.at(byte).place == place;
  }

  [[nodiscard]] bool holds_all(AllocationId allocation, const std::set<int64_t>& bytes) const {
    return std::all_of(bytes.begin(), bytes.end(), [&](int64_t byte) {
      const auto shown = visible.find(byte);
      if (shown != visible.end() && shown->second.allocation == allocation) return true;
      const auto copies = replicas.find(allocation);
      return copies != replicas.end() && copies->second.contains(byte);
    });
  }

  [[nodiscard]] std::multiset<int64_t> places(AllocationId allocation) const {
    std::multiset<int64_t> all;
    for (const auto& [byte, place] : visible) {
      if (place.allocation == allocation) all.insert(place.place);
    }
    const auto copies = replicas.find(allocation);
    if (copies == replicas.end()) return all;
    for (const auto& [byte, place] : copies->second) all.insert(place.place);
    return all;
  }
};

// Pairs of a part, byte by byte.
inline std::map<int64_t, int64_t> pairs_of(const Part& part) {
  std::map<int64_t, int64_t> pairs;
  const auto bytes = pattern::model::positions(part.bytes.ascending());
  const auto places = pattern::model::positions(part.places);
  EXPECT_EQ(bytes.size(), places.size());
  for (size_t i = 0; i < std::min(bytes.size(), places.size()); ++i) {
    EXPECT_TRUE(pairs.emplace(bytes[i][0], places[i][0]).second);
  }
  return pairs;
}

inline void expect_finds(const FileMap& map, const Model& model, const ByteSet& request) {
  const Found found = map.find(request).value();
  std::set<int64_t> left = bytes_of(request);
  int64_t first = -1;
  for (const Part& part : found.parts) {
    EXPECT_LT(first, part.bytes.span().begin);
    first = part.bytes.span().begin;
    for (const auto& [byte, place] : pairs_of(part)) {
      EXPECT_EQ(left.erase(byte), 1U);
      const auto shown = model.visible.find(byte);
      ASSERT_NE(shown, model.visible.end());
      EXPECT_EQ(shown->second.allocation, part.allocation);
      EXPECT_EQ(shown->second.place, place);
    }
  }
  EXPECT_EQ(left, bytes_of(found.missing));
  for (const int64_t byte : left) EXPECT_FALSE(model.visible.contains(byte));
}

inline void expect_finds_whole(const FileMap& map, const Model& model, const ByteSet& request,
                               AllocationId preferred) {
  const std::set<int64_t> bytes = bytes_of(request);
  bool any = false;
  for (AllocationId i = -kAllocations; i < 3 * kAllocations; ++i) {
    any = any || (!bytes.empty() && model.holds_all(i, bytes));
  }
  const std::optional<Part> part = map.find_whole(request, preferred);
  ASSERT_EQ(part.has_value(), any);
  if (!part) return;
  if (model.holds_all(preferred, bytes)) {
    EXPECT_EQ(part->allocation, preferred);
  }
  const auto pairs = pairs_of(*part);
  EXPECT_EQ(pairs.size(), bytes.size());
  for (const auto& [byte, place] : pairs) {
    EXPECT_TRUE(bytes.contains(byte));
    EXPECT_TRUE(model.holds(part->allocation, byte, place));
  }
}

inline void expect_same(const FileMap& map, const Model& model) {
  map.check_invariants();
  std::set<int64_t> covered;
  for (const auto& [byte, place] : model.visible) covered.insert(byte);
  EXPECT_EQ(bytes_of(map.covered().value()), covered);
  EXPECT_EQ(map.covered_bytes(), static_cast<int64_t>(covered.size()));
  EXPECT_EQ(map.end(), covered.empty() ? 0 : *covered.rbegin() + 1);
  std::vector<AllocationId> allocations;
  for (AllocationId i = -kAllocations; i < 3 * kAllocations; ++i) {
    const std::multiset<int64_t> places = model.places(i);
    EXPECT_EQ(map.live_bytes(i), static_cast<int64_t>(places.size()));
    EXPECT_EQ(bytes_of(map.live_places(i).value()), std::set(places.begin(), places.end()));
    if (!places.empty()) allocations.push_back(i);
  }
  EXPECT_EQ(map.allocations(), allocations);
  std::map<int64_t, Place> listed;
  map.for_each([&](const Piece& piece) {
    for (const auto& pair : pattern::model::positions(piece.pairs)) {
      EXPECT_TRUE(listed.emplace(pair[0], Place{piece.allocation, pair[1], piece.epoch}).second);
    }
  });
  EXPECT_EQ(listed, model.visible);
}

}  // namespace tessera::map::model
