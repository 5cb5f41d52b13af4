// Type contents: what a datatype was made from, as MPI remembers it.
//
// The standard returns arguments as integers, addresses and large counts, which of them depending
// on the constructor and its variant. Here they are one list, in the order in which the constructor
// of the C language takes them.
// Thread safety: all functions, if MPI was initialised for several threads.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <span>
#include <vector>

#include "tessera/base/result.hpp"

namespace tessera::mpiio {

enum class Constructor {
  kNamed,       // a predefined type
  kParametric,  // predefined too: one of those by MPI_Type_create_f90_real and its kin
  kDup,
  kContiguous,
  kVector,
  kHvector,
  kIndexed,
  kHindexed,
  kIndexedBlock,
  kHindexedBlock,
  kStruct,
  kSubarray,
  kDarray,
  kResized,
};

// Fails with kInvalid for a constructor that is none of these.
[[nodiscard]] base::Result<Constructor> constructor_of(MPI_Datatype type);
[[nodiscard]] bool is_predefined(MPI_Datatype type);

// The handles in it are valid as long as it lives.
class TypeContents {
 public:
  // Requires a type that is not kNamed.
  static base::Result<TypeContents> of(MPI_Datatype type);
  ~TypeContents();
  TypeContents(TypeContents&& other) noexcept;
  TypeContents& operator=(TypeContents&&) = delete;
  TypeContents(const TypeContents&) = delete;
  TypeContents& operator=(const TypeContents&) = delete;

  [[nodiscard]] Constructor constructor() const { return constructor_; }
  [[nodiscard]] std::span<const MPI_Datatype> types() const { return types_; }
  // The count of a list constructor stands before its lists.
  [[nodiscard]] std::span<const int64_t> arguments() const { return arguments_; }

 private:
  TypeContents() = default;

  Constructor constructor_ = Constructor::kNamed;
  std::vector<int64_t> arguments_;
  std::vector<MPI_Datatype> types_;
};

}  // namespace tessera::mpiio
