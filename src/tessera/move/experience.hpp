// Experience: what earlier moves of one open file have taught, for the choices to come.
//
// Each rank has its own, and nothing but speed depends on it.
// Thread safety: `pages` and `mapping` from any thread; the habits belong to collective moves, one
// at a time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "tessera/move/mapping_cache.hpp"
#include "tessera/move/page_costs.hpp"

namespace tessera::move {

class Experience {
 public:
  // A move as far as the way of a collective depends on this rank's part of it.
  struct Shape {
    int64_t bytes = 0;
    int64_t runs = 0;
    bool grows = false;  // reaches behind the end of the file
    friend bool operator==(const Shape&, const Shape&) = default;
  };

  // Whether the ranks moved theirs apart when this one last had a move of this shape.
  [[nodiscard]] bool went_apart(Direction direction, const Shape& shape) const {
    return apart_[index_of(direction)] == shape;
  }
  void note_way(Direction direction, const Shape& shape, bool apart) {
    apart_[index_of(direction)] = apart ? std::optional(shape) : std::nullopt;
  }

  PageCosts pages;
  MappingCache mapping;

 private:
  std::array<std::optional<Shape>, 2> apart_;
};

}  // namespace tessera::move
