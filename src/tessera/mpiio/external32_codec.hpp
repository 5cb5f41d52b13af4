// The external32 codec: basic elements between memory and files, one after another without gaps.
//
// Written here because the MPIs cannot be relied on: packing external32 aborts MPICH for pairs such
// as MPI_FLOAT_INT and for MPI_WCHAR, both cut off numbers that do not fit, and Open MPI has its
// own idea of a long double. No MPI here. Thread safety: pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "tessera/base/bytes.hpp"
#include "tessera/base/result.hpp"
#include "tessera/mpiio/elements.hpp"

namespace tessera::mpiio {

// Converts all elements. Requires buffers of elements.native_size and elements.external_size bytes,
// which may be the same one unless elements.resizes. Fails with kInvalid if a number does not fit
// into fewer bytes; `external` then holds anything.
[[nodiscard]] base::Result<void> encode_external32(const Elements& elements, base::ByteView native,
                                                   std::span<std::byte> external);

// How much was converted: whole elements only.
struct Decoded {
  int64_t external_bytes = 0;
  int64_t native_bytes = 0;
};
// Converts the elements that lie wholly in `external`, which may end anywhere. Requires room for
// elements.native_size bytes; the buffers may be the same one unless elements.resizes.
[[nodiscard]] Decoded decode_external32(const Elements& elements, base::ByteView external,
                                        std::span<std::byte> native);

}  // namespace tessera::mpiio
