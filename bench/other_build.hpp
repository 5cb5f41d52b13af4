// Another build of ours that a run is compared with.
//
// Set once, before cases are made. Thread safety: set before threads start.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tessera/base/result.hpp"

namespace tessera::bench {

// The folder with its bin/ and lib/; empty where a run is compared with none.
[[nodiscard]] const std::string& other_build();

// A build or an installation, or none where the name is empty. Fails with kNotFound where it has no
// library to preload.
[[nodiscard]] base::Result<void> set_other_build(const std::string& folder);

// `tessera` of a build with these words; of this build where the name is empty. Fails with kFailed
// unless it ends with 0, and where it cannot be started.
[[nodiscard]] base::Result<void> run_tessera(const std::string& build,
                                             const std::vector<std::string>& words);

// Why a transfer that is repeated on an open file is not compared with another build, by what each
// rank moves of it; empty if it is. Less than 4 MiB earlier builds moved through a mapping that
// they kept.
[[nodiscard]] std::string not_compared_when_repeated(int64_t bytes_of_a_rank);

}  // namespace tessera::bench
