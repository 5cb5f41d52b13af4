// Hints of the command line as the variables in which the library reads them.
//
// Thread safety: pure functions.
#pragma once

#include <string>
#include <vector>

#include "tessera/base/result.hpp"
#include "tessera/cli/launch.hpp"

namespace tessera::cli {

// Each hint is "name=value". tessera_x becomes TESSERA_X; the names that MPI and ROMIO gave become
// entries of TESSERA_HINTS, after those it has already (`present`). Of one name the last value
// counts. Fails with kInvalid if a name is unknown or a value does not suit it.
[[nodiscard]] base::Result<std::vector<Variable>> hint_variables(
    const std::vector<std::string>& hints, const std::string& present);

}  // namespace tessera::cli
