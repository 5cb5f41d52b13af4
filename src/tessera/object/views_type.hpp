// The types of a views file: JSON to Datatype, one form for each MPI constructor.
//
// docs/formats/views.md describes the forms. Part of reading views files (views_file.hpp) and of
// use only there. Thread safety: pure functions.
#pragma once

#include "tessera/base/result.hpp"
#include "tessera/object/views_fields.hpp"
#include "tessera/pattern/datatype.hpp"

namespace tessera::object {

// Recursion is bounded by the depth to which JSON is read. Cost: O(text).
[[nodiscard]] base::Result<pattern::Datatype> read_type(const Located& value);

}  // namespace tessera::object
