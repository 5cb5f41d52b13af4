// Random types: nested MPI datatypes made by every constructor there is.
//
// Arguments are drawn from small ranges in which corners are common: zero counts, negative strides
// and bounds, blocks that overlap, members without bytes. The same seed makes the same types.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <string>
#include <vector>

#include "tessera/port/seeded_random.hpp"

namespace tessera::mpiio {

// All predefined types that this MPI has, with their names.
struct NamedType {
  MPI_Datatype type;
  std::string name;
};
[[nodiscard]] std::vector<NamedType> predefined_types();

// A type, and the positions of its bytes in type-map order as the standard defines them, computed
// from the arguments and from the extents that MPI reports for the types inside.
struct Sample {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  std::vector<int64_t> bytes;
  std::vector<int> widths;  // of the number that each byte is a part of, if the basic types tell
  std::string story;        // how it was made
};

// Whether arguments may be such that an MPI fails to pack: MPICH divides by zero for some types
// with an extent of zero; Open MPI takes a stride of -1 byte for none at all, and forgets the gap
// between copies of some structs with members that have no bytes.
enum class Corners { kAll, kOnlySafe };

class RandomTypes {
 public:
  RandomTypes(uint64_t seed, std::vector<Sample> basic, Corners corners);
  ~RandomTypes();
  RandomTypes(const RandomTypes&) = delete;
  RandomTypes& operator=(const RandomTypes&) = delete;

  // A new type, made from basic ones and earlier ones; it lives until it is drawn for removal by a
  // later call. Bounded in size.
  const Sample& next();

 private:
  int64_t between(int64_t low, int64_t high);  // both included
  int count();                                 // of blocks, or of copies in a block
  std::vector<int> counts(int number);
  std::vector<int> ints(int number, int64_t low, int64_t high);
  std::vector<MPI_Aint> addresses(int number);
  const Sample& any();
  bool large();  // whether to take the large-count variant

  void make();
  void make_regular();
  void make_indexed();
  void make_indexed_block();
  void make_struct();
  void make_subarray();
  void make_darray();
  void make_resized();
  void tell(const char* constructor, const std::vector<int64_t>& arguments);
  // Adds `copies` of a type to the bytes of the new one, the first at `at`.
  void add(const Sample& from, int64_t copies, int64_t at);
  // Adds the elements of an array that are `chosen` along each dimension, in storage order.
  void add_array(const Sample& from, const std::vector<std::vector<bool>>& chosen, int order);

  port::SeededRandom random_;
  Corners corners_;
  std::vector<Sample> basic_;
  std::vector<Sample> derived_;
  Sample made_;
};

[[nodiscard]] int64_t extent_of(MPI_Datatype type);

}  // namespace tessera::mpiio
