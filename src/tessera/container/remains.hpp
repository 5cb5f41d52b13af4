// What is left of an object file whose header something has overwritten: its contents, which still
// stand somewhere behind it. So such a file is not taken for a plain one.
//
// Thread safety: a pure function; the file may be shared.
#pragma once

#include <optional>

#include "tessera/base/result.hpp"
#include "tessera/port/disk.hpp"

namespace tessera::container {

// So many bytes are searched from the beginning, and as many before the end: contents move as a
// file grows.
inline constexpr int64_t kRemainsBytes = int64_t{256} << 20;

// Where contents of an object file begin, looking at block boundaries only; nothing if there are
// none. By chance other bytes look so once in 2^49 places. Fails as the file does.
[[nodiscard]] base::Result<std::optional<int64_t>> find_remains(port::File& file);

}  // namespace tessera::container
