// Sharings for tests: any small ones, and ones like those of meshes.
//
// Thread safety: none; each test has its own random numbers.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

#include "tessera/owner/sharing.hpp"
#include "tessera/owner/writers.hpp"
#include "tessera/port/seeded_random.hpp"

namespace tessera::owner {

inline size_t below(port::Random& random, size_t bound) {
  return static_cast<size_t>(random.uniform(bound));
}

// The holders of each item, and whether there is a gap before it.
struct PlainItem {
  std::vector<Process> holders;
  bool behind_gap = false;
};

inline std::vector<Process> random_holders(port::Random& random, int processes) {
  std::vector<Process> all(static_cast<size_t>(processes));
  std::iota(all.begin(), all.end(), 0);
  for (size_t i = 0; i < all.size(); ++i) std::swap(all[i], all[below(random, all.size())]);
  all.resize(1 + below(random, std::min<size_t>(all.size(), 3)));
  return all;
}

inline std::vector<PlainItem> random_items(port::Random& random, size_t count, int processes) {
  std::vector<PlainItem> items;
  while (items.size() < count) {
    if (!items.empty() && random.chance(1, 2)) {
      items.push_back({items.back().holders, random.chance(1, 12)});
    } else {
      items.push_back({random_holders(random, processes), random.chance(1, 12)});
    }
  }
  return items;
}

inline Sharing sharing_of_items(const std::vector<PlainItem>& items, int processes) {
  Sharing sharing(processes);
  for (const PlainItem& item : items) {
    if (item.behind_gap) sharing.leave_gap();
    sharing.append(1, sharing.intern(item.holders));
  }
  return sharing;
}

inline int64_t runs_of(const std::vector<PlainItem>& items, const Writers& writers) {
  int64_t runs = 0;
  for (int64_t i = 0; i < writers.items(); ++i) {
    const bool goes_on = i > 0 && !items[static_cast<size_t>(i)].behind_gap &&
                         writers.writer_of(i) == writers.writer_of(i - 1);
    if (!goes_on) ++runs;
  }
  return runs;
}

inline void expect_holders(const std::vector<PlainItem>& items, const Writers& writers) {
  ASSERT_EQ(writers.items(), std::ssize(items));
  for (size_t i = 0; i < items.size(); ++i) {
    const auto& holders = items[i].holders;
    const Process writer = writers.writer_of(static_cast<int64_t>(i));
    ASSERT_NE(std::find(holders.begin(), holders.end(), writer), holders.end());
  }
}

// A cube of side^3 nodes in tetrahedra, in parts around centres that are spread evenly by Lloyd's
// rounds, or in parts of equal size; a node is held by the parts of its neighbours, its own first.
class GridMesh {
 public:
  GridMesh(int side, int parts, port::Random& random)
      : side_(side), parts_(parts), part_of_(static_cast<size_t>(nodes())) {
    std::vector<Centre> centres(static_cast<size_t>(parts));
    for (Centre& centre : centres) {
      for (double& x : centre) x = static_cast<double>(below(random, 1000)) * side / 1000;
    }
    constexpr int kRounds = 8;
    for (int round = 0; round < kRounds; ++round) assign(centres);
  }

  // Halved by planes of any direction, again and again. Requires that parts is a power of two.
  [[nodiscard]] static GridMesh halved(int side, int parts, port::Random& random) {
    GridMesh mesh(side, parts);
    std::vector<int> all = mesh.natural_order();
    mesh.halve(all, 0, parts, random);
    return mesh;
  }

  [[nodiscard]] int nodes() const { return side_ * side_ * side_; }

  [[nodiscard]] std::vector<int> natural_order() const {
    std::vector<int> order(static_cast<size_t>(nodes()));
    std::iota(order.begin(), order.end(), 0);
    return order;
  }
  [[nodiscard]] std::vector<int> random_order(port::Random& random) const {
    std::vector<int> order = natural_order();
    for (size_t i = 1; i < order.size(); ++i) std::swap(order[i], order[below(random, i + 1)]);
    return order;
  }
  // The levels of a breadth-first walk from a corner, the last first, as Cuthill and McKee have it.
  [[nodiscard]] std::vector<int> level_order() const {
    std::vector<int> order = {0};
    std::vector<bool> seen(static_cast<size_t>(nodes()));
    seen[0] = true;
    for (size_t i = 0; i < order.size(); ++i) {
      const int node = order[i];
      for_each_neighbour(node, [&](int other) {
        if (seen[static_cast<size_t>(other)]) return;
        seen[static_cast<size_t>(other)] = true;
        order.push_back(other);
      });
    }
    std::reverse(order.begin(), order.end());
    return order;
  }

  // Along Morton's curve: by the bits of all coordinates, the highest first.
  [[nodiscard]] std::vector<int> curve_order() const {
    const auto place = [this](int node) {
      const auto at = position(node);
      int64_t bits = 0;
      for (int bit = 20; bit-- > 0;) {
        for (const int x : at) bits = bits << 1 | (x >> bit & 1);
      }
      return bits;
    };
    std::vector<int> order = natural_order();
    std::sort(order.begin(), order.end(), [&](int a, int b) { return place(a) < place(b); });
    return order;
  }

  [[nodiscard]] Sharing sharing(const std::vector<int>& order) const {
    Sharing result(parts_);
    std::vector<Process> holders;
    for (const int node : order) {
      holders.assign(1, part_of_[static_cast<size_t>(node)]);
      for_each_neighbour(node, [&](int other) {
        const Process part = part_of_[static_cast<size_t>(other)];
        if (std::find(holders.begin(), holders.end(), part) == holders.end()) {
          holders.push_back(part);
        }
      });
      result.append(1, result.intern(holders));
    }
    return result;
  }

 private:
  using Centre = std::array<double, 3>;

  GridMesh(int side, int parts)
      : side_(side), parts_(parts), part_of_(static_cast<size_t>(nodes())) {}

  void halve(std::span<int> some, Process first, int parts, port::Random& random) {
    if (parts == 1) {
      for (const int node : some) part_of_[static_cast<size_t>(node)] = first;
      return;
    }
    std::array<int, 3> normal = {};
    for (int& x : normal) x = static_cast<int>(below(random, 19)) - 9;
    const auto height = [&](int node) {
      const auto at = position(node);
      return std::inner_product(at.begin(), at.end(), normal.begin(), 0);
    };
    std::stable_sort(some.begin(), some.end(), [&](int a, int b) { return height(a) < height(b); });
    halve(some.first(some.size() / 2), first, parts / 2, random);
    halve(some.subspan(some.size() / 2), first + parts / 2, parts / 2, random);
  }

  [[nodiscard]] std::array<int, 3> position(int node) const {
    return {node % side_, node / side_ % side_, node / side_ / side_};
  }

  // Each small cube has six tetrahedra around its diagonal.
  template <typename Visit>
  void for_each_neighbour(int node, const Visit& visit) const {
    const auto at = position(node);
    const auto inside = [this](int x) { return x >= 0 && x < side_; };
    for (const int sign : {-1, 1}) {
      for (int corner = 1; corner < 8; ++corner) {
        const int x = at[0] + sign * (corner & 1);
        const int y = at[1] + sign * (corner >> 1 & 1);
        const int z = at[2] + sign * (corner >> 2 & 1);
        if (inside(x) && inside(y) && inside(z)) visit((z * side_ + y) * side_ + x);
      }
    }
  }

  [[nodiscard]] size_t nearest(const std::vector<Centre>& centres, int node) const {
    const auto at = position(node);
    size_t best = 0;
    double least = std::numeric_limits<double>::infinity();
    for (size_t i = 0; i < centres.size(); ++i) {
      double distance = 0;
      for (size_t d = 0; d < 3; ++d) {
        distance += (at[d] - centres[i][d]) * (at[d] - centres[i][d]);
      }
      if (distance < least) {
        least = distance;
        best = i;
      }
    }
    return best;
  }

  void assign(std::vector<Centre>& centres) {
    std::vector<Centre> sums(centres.size());
    std::vector<int> counts(centres.size());
    for (int node = 0; node < nodes(); ++node) {
      const size_t part = nearest(centres, node);
      part_of_[static_cast<size_t>(node)] = static_cast<Process>(part);
      const auto at = position(node);
      for (size_t d = 0; d < 3; ++d) sums[part][d] += at[d];
      ++counts[part];
    }
    for (size_t i = 0; i < centres.size(); ++i) {
      if (counts[i] == 0) continue;
      for (size_t d = 0; d < 3; ++d) centres[i][d] = sums[i][d] / counts[i];
    }
  }

  int side_;
  int parts_;
  std::vector<Process> part_of_;  // by node
};

}  // namespace tessera::owner
