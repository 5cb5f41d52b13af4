// Types: MPI datatypes as patterns.
//
// A datatype is taken apart by MPI_Type_get_envelope and MPI_Type_get_contents, level by level, and
// never expanded. MPICH and Open MPI differ from the standard and from each other in the bounds of
// some types, so each level gets the bounds that the running MPI reports. Results are cached on the
// datatype itself (an attribute), so a type is converted once, until it is freed; one that is made
// again from the same lists is found by them (recent_types.hpp).
// Thread safety: all functions, if MPI was initialised for several threads.
#pragma once

#include <mpi.h>

#include <memory>

#include "tessera/base/result.hpp"
#include "tessera/mpiio/elements.hpp"
#include "tessera/pattern/datatype.hpp"

namespace tessera::mpiio {

// How the bytes of a type look where they are: in memory or native files, or in external32 files.
// Types whose basic elements have equal sizes in both have equal layouts, with the bounds of the
// running MPI. Others (those with an MPI_LONG, MPI_UNSIGNED_LONG or MPI_WCHAR inside) are put
// together anew: positions counted in elements follow the sizes in the file, displacements in bytes
// stay as the program gave them, and bounds are those of the standard with no alignment.
enum class Representation { kNative, kExternal32 };

struct Type {
  pattern::Datatype layout;
  // The size in memory of each basic element inside if all have the same, else 0. For counts.
  int64_t basic_size = 0;
  // All basic elements, in the order of the layout's bytes.
  ElementsPtr elements;
};

// Fails with kInvalid for MPI_DATATYPE_NULL and types whose bytes leave the bounds of patterns,
// with kTooComplex as pattern/datatype.hpp says.
[[nodiscard]] base::Result<std::shared_ptr<const Type>> convert(
    MPI_Datatype type, Representation representation = Representation::kNative);

// Whether copies of a type in a row are one run, from the first byte on.
[[nodiscard]] bool is_dense(const pattern::Datatype& layout);

// The size of a predefined type whose copies in memory are one run; 0 for all other types, and for
// those that were never converted. A few nanoseconds.
[[nodiscard]] int64_t dense_size(MPI_Datatype type);

// `count` copies of a type in memory, as positions relative to the buffer's address. O(1) for
// regular types.
[[nodiscard]] base::Result<pattern::Pattern> memory_pattern(const Type& type, int64_t count);

// A handle that stays valid after the program frees its own: a duplicate of a derived type, the
// type itself if it is a predefined one.
[[nodiscard]] MPI_Datatype keep_type(MPI_Datatype type);
void drop_type(MPI_Datatype& type);  // of keep_type(); leaves MPI_DATATYPE_NULL

// Frees the attribute key; called by MPI_Finalize.
void end_types();

}  // namespace tessera::mpiio
