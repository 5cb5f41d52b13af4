// Datatypes: what MPI's datatype constructors describe, without MPI.
//
// A datatype is a list of bytes in type-map order (a pattern) with a lower bound and an extent; the
// next copy of it begins one extent later, however far its bytes reach. The constructors follow the
// MPI standard, chapter "Datatypes", and never expand what is regular: a vector is one repetition,
// a subarray of n dimensions is n - 1 nested ones. They fail with kInvalid, and a sentence that
// names the argument, where an argument is out of its range or the bytes leave the bounds of (T4)
// in trace.hpp; list constructors fail with kTooComplex if irregular types inside irregular types
// would need more items than kMaxDissolved and kMaxDissolvedEach for each block.
//
// Bounds as the standard defines them:
//   (M1) resized(), subarray() and darray() mark their bounds. If a type has marked parts, its
//        bounds are the least and the greatest mark; its other bytes do not count.
//   (M2) Otherwise the lower bound is the first byte, and the extent reaches to the last one,
//        rounded up to a multiple of the alignment.
//   (M3) Blocks of length zero count for nothing. A type without bytes and marks has bounds 0, 0.
// MPICH and Open MPI stray from this in corners and from each other (MPICH ignores (M1) in a struct
// with unmarked members; both let an empty member of a struct widen it). Whoever must agree with a
// given MPI asks it for the bounds and applies resized() at each level.
//
// Thread safety: pure functions on values.
#pragma once

#include <cstdint>
#include <span>

#include "tessera/base/result.hpp"
#include "tessera/pattern/trace.hpp"

namespace tessera::pattern {

struct Datatype {
  Pattern bytes;
  int64_t lower_bound = 0;
  int64_t extent = 0;     // may be negative, as resized() allows
  int64_t alignment = 1;  // of the strictest basic type inside
  bool marked = false;    // see (M1)

  [[nodiscard]] int64_t size() const { return bytes.size(); }
  [[nodiscard]] int64_t upper_bound() const { return lower_bound + extent; }
  // The smallest interval that holds all bytes, whatever the bounds say.
  [[nodiscard]] Interval true_bounds() const { return bytes.span(); }
};

inline constexpr int64_t kMaxDissolved = int64_t{1} << 20;
inline constexpr int64_t kMaxDissolvedEach = 16;

// `size` consecutive bytes. Requires nothing; fails unless size >= 0 and alignment >= 1.
[[nodiscard]] base::Result<Datatype> basic(int64_t size, int64_t alignment = 1);

// Copies one extent apart. Cost of the four constructors up to hvector(): O(depth).
[[nodiscard]] base::Result<Datatype> contiguous(int64_t count, const Datatype& type);

// The same bytes with other bounds.
[[nodiscard]] base::Result<Datatype> resized(const Datatype& type, int64_t lower_bound,
                                             int64_t extent);

// `count` blocks of `blocklength` copies; each block begins `stride` after the one before.
struct Blocks {
  int64_t count = 0;
  int64_t blocklength = 0;
  int64_t stride = 0;
};
[[nodiscard]] base::Result<Datatype> vector(Blocks blocks, const Datatype& type);   // in extents
[[nodiscard]] base::Result<Datatype> hvector(Blocks blocks, const Datatype& type);  // in bytes

// `blocklength` copies, the first of them at `displacement`.
struct Block {
  int64_t blocklength = 0;
  int64_t displacement = 0;
};
// Displacements in extents of the type. Cost of the list constructors: O(blocks).
[[nodiscard]] base::Result<Datatype> indexed(std::span<const Block> blocks, const Datatype& type);
// Displacements in bytes.
[[nodiscard]] base::Result<Datatype> hindexed(std::span<const Block> blocks, const Datatype& type);

[[nodiscard]] base::Result<Datatype> indexed_block(int64_t blocklength,
                                                   std::span<const int64_t> displacements,
                                                   const Datatype& type);
[[nodiscard]] base::Result<Datatype> hindexed_block(int64_t blocklength,
                                                    std::span<const int64_t> displacements,
                                                    const Datatype& type);

// A block of a struct: as Block, in bytes, each of its own type.
struct Member {
  int64_t blocklength = 0;
  int64_t displacement = 0;
  Datatype type;
};
[[nodiscard]] base::Result<Datatype> structure(std::span<const Member> members);

// Which dimension of an array is contiguous in memory: the last (C) or the first (Fortran).
enum class Order { kC, kFortran };

// One dimension of an array, in elements, and the part of it that is taken.
// Required: 1 <= subsize, 0 <= start and start + subsize <= size.
struct Slice {
  int64_t size = 1;
  int64_t subsize = 1;
  int64_t start = 0;
};
// The bounds are those of the whole array. Cost: O(dimensions x depth).
[[nodiscard]] base::Result<Datatype> subarray(std::span<const Slice> slices, Order order,
                                              const Datatype& type);

}  // namespace tessera::pattern
