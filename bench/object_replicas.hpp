// Replicas in an object file: copies of bytes beside those that a reader has already, so that each
// reader finds its view in one place.
//
// Thread safety: pure functions; nobody else may have the file open for writing.
#pragma once

#include <string>
#include <vector>

#include "tessera/base/result.hpp"
#include "tessera/pattern/byte_set.hpp"

namespace tessera::bench {

// Adds an allocation for each view that no allocation holds as a whole, and commits. Requires views
// whose bytes are all in the file.
[[nodiscard]] base::Result<void> add_replicas(const std::string& path,
                                              const std::vector<pattern::ByteSet>& views);

}  // namespace tessera::bench
