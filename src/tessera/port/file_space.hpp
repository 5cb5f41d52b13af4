// What the system knows of a file besides its bytes: names, and space that can be given back.
//
// Thread safety: from any thread.
#pragma once

#include <cstdint>

#include "tessera/port/plain_file.hpp"

namespace tessera::port {

// Whether a name leads to the file yet; whoever opens none can ever read it again once it is
// closed. True where the system does not tell. A file that another one was renamed over has none,
// one that was itself renamed has. One system call.
[[nodiscard]] bool has_name(const PlainFile& file);

// Gives the space of [begin, end) back to the file system; the bytes are zeros from then on, and
// the size stays. Promises nothing. Requires 0 <= begin < end.
void free_range(const PlainFile& file, int64_t begin, int64_t end);

}  // namespace tessera::port
