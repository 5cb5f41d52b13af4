// Type layout: from the arguments of a datatype's constructor to a pattern.
//
// Bounds are those of the standard; types.hpp says which of them are replaced by the running MPI's.
// Thread safety: pure functions.
#pragma once

#include <memory>
#include <span>

#include "tessera/base/result.hpp"
#include "tessera/mpiio/type_contents.hpp"
#include "tessera/mpiio/types.hpp"

namespace tessera::mpiio {

// Puts a derived type together from the types it is made of, one for each of contents.types().
// basic_size is left to the caller. Fails as convert(). Cost: O(arguments).
[[nodiscard]] base::Result<Type> combine(const TypeContents& contents,
                                         std::span<const std::shared_ptr<const Type>> children);

}  // namespace tessera::mpiio
