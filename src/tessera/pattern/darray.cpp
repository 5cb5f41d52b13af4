#include "tessera/pattern/darray.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "tessera/base/checked.hpp"
#include "tessera/pattern/assembler.hpp"

namespace tessera::pattern {

using base::checked_mul;
using base::Code;
using base::fail;
using base::Result;

namespace {

std::string axis_name(size_t axis) { return "darray: dimension " + std::to_string(axis); }

// An axis as every distribution can be seen: blocks of `block` elements dealt in turn.
struct Deal {
  int64_t size = 1;
  int64_t block = 1;
  int64_t processes = 1;
  int64_t place = 0;  // of the rank along this axis
};

Result<int64_t> block_of(const Axis& axis) {
  const bool by_default = axis.argument == kDefaultArg;
  switch (axis.distribution) {
    case Distribution::kNone:
      if (axis.processes == 1) return axis.size;
      return fail(Code::kInvalid, "an axis that is not distributed has " +
                                      std::to_string(axis.processes) + " processes");
    case Distribution::kCyclic:
      if (by_default) return int64_t{1};
      break;
    case Distribution::kBlock:
      if (by_default) return base::ceil_div(axis.size, axis.processes);
      break;
  }
  if (axis.argument < 1) {
    return fail(Code::kInvalid,
                "blocks of " + std::to_string(axis.argument) + " elements are not positive");
  }
  // No larger than the array, so that products below stay in bounds.
  const int64_t block = std::min(axis.argument, axis.size);
  if (axis.distribution == Distribution::kBlock &&
      base::ceil_div(axis.size, block) > axis.processes) {
    return fail(Code::kInvalid, std::to_string(axis.processes) + " blocks of " +
                                    std::to_string(block) + " elements do not cover " +
                                    std::to_string(axis.size));
  }
  return block;
}

Result<Deal> deal_of(const Axis& axis, int64_t place) {
  if (axis.size < 1) {
    return fail(Code::kInvalid, "a size of " + std::to_string(axis.size) + " is not positive");
  }
  TESSERA_TRY(const int64_t block, block_of(axis));
  return Deal{axis.size, block, axis.processes, place};
}

// `count` elements from element `first` on. Requires that they are a part of an array in bounds.
Result<Pattern> elements(const Pattern& element, int64_t stride, int64_t first, int64_t count) {
  TESSERA_TRY(const Pattern block, repeat(element, count, {{stride}}));
  return block.shifted({{first * stride}});
}

// What the rank gets of one axis: whole blocks, and the last block of the axis if it is not whole.
Result<Pattern> dealt(const Pattern& element, int64_t stride, const Deal& deal) {
  const int64_t whole = deal.size / deal.block;
  const int64_t rest = deal.size % deal.block;
  const int64_t rounds = whole / deal.processes + (whole % deal.processes > deal.place ? 1 : 0);
  Assembler<1> bytes;
  if (rounds > 0) {
    TESSERA_TRY(const Pattern block,
                elements(element, stride, deal.place * deal.block, deal.block));
    const int64_t round = rounds > 1 ? deal.processes * deal.block * stride : 0;
    TESSERA_TRY(const Pattern blocks, repeat(block, rounds, {{round}}));
    bytes.append(blocks);
  }
  if (rest > 0 && whole % deal.processes == deal.place) {
    TESSERA_TRY(const Pattern tail, elements(element, stride, whole * deal.block, rest));
    bytes.append(tail);
  }
  return bytes.finish();
}

// The place of a rank along every axis of the grid.
Result<std::vector<int64_t>> places_of(Placement placement, std::span<const Axis> axes) {
  if (placement.rank < 0 || placement.rank >= placement.size) {
    return fail(Code::kInvalid, "darray: rank " + std::to_string(placement.rank) +
                                    " is not one of " + std::to_string(placement.size));
  }
  std::vector<int64_t> places(axes.size());
  int64_t rank = placement.rank;
  int64_t processes = 1;
  for (size_t i = axes.size(); i-- > 0;) {
    const auto product = checked_mul(processes, axes[i].processes);
    if (axes[i].processes < 1 || !product || *product > placement.size) {
      return fail(Code::kInvalid, axis_name(i) + ": " + std::to_string(axes[i].processes) +
                                      " processes do not fit into a grid of " +
                                      std::to_string(placement.size));
    }
    places[i] = rank % axes[i].processes;
    rank /= axes[i].processes;
    processes = *product;
  }
  if (processes != placement.size) {
    return fail(Code::kInvalid, "darray: the grid has " + std::to_string(processes) +
                                    " places for " + std::to_string(placement.size) + " processes");
  }
  return places;
}

}  // namespace

Result<Datatype> darray(Placement placement, std::span<const Axis> axes, Order order,
                        const Datatype& type) {
  if (axes.empty()) return fail(Code::kInvalid, "darray: there are no dimensions");
  TESSERA_TRY(const std::vector<int64_t> places, places_of(placement, axes));
  Datatype result = type;
  int64_t stride = type.extent;
  for (size_t i = 0; i < axes.size(); ++i) {
    const size_t axis = order == Order::kC ? axes.size() - 1 - i : i;
    const auto deal = deal_of(axes[axis], places[axis]);
    if (!deal) return fail(deal.error().code, axis_name(axis) + ": " + deal.error().context);
    const auto whole = checked_mul(stride, axes[axis].size);
    if (!whole || *whole > kMaxPosition || *whole < -kMaxPosition) {
      return fail(Code::kInvalid, axis_name(axis) + ": the whole array is larger than 2^62 bytes");
    }
    auto bytes = dealt(result.bytes, stride, *deal);
    if (!bytes) return fail(bytes.error().code, axis_name(axis) + ": " + bytes.error().context);
    result.bytes = *std::move(bytes);
    stride = *whole;
  }
  return resized(result, 0, stride);
}

}  // namespace tessera::pattern
