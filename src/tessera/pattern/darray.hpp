// Distributed arrays: the part of a global array that one process of a grid holds.
//
// MPI_Type_create_darray, without MPI: the bytes of the elements that one rank holds, in storage
// order, inside the bounds of the whole array. Errors and bounds are those of datatype.hpp.
// Thread safety: pure functions on values.
#pragma once

#include <cstdint>
#include <span>

#include "tessera/base/result.hpp"
#include "tessera/pattern/datatype.hpp"

namespace tessera::pattern {

// How the elements of one dimension are dealt to the processes along it. Element i goes to
//   kBlock   process i / k, where k processes-times must cover the dimension;
//   kCyclic  process (i / k) mod processes;
//   kNone    the only process.
enum class Distribution { kBlock, kCyclic, kNone };

// k is ceil(size / processes) for kBlock and 1 for kCyclic.
inline constexpr int64_t kDefaultArg = -1;

struct Axis {
  int64_t size = 1;  // elements of the whole array along this dimension
  Distribution distribution = Distribution::kNone;
  int64_t argument = kDefaultArg;  // k; kNone does not look at it
  int64_t processes = 1;
};

struct Placement {
  int64_t size = 1;  // processes in all; must be the product over the axes
  int64_t rank = 0;  // row-major in the grid of processes, whatever the order of the array
};

// A rank that holds no element gets a type without bytes and the bounds of the whole array.
// Cost: O(axes x depth).
[[nodiscard]] base::Result<Datatype> darray(Placement placement, std::span<const Axis> axes,
                                            Order order, const Datatype& type);

}  // namespace tessera::pattern
