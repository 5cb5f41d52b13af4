// Page 0: the first bytes of an object file, where a program looks that opens the container itself.
//
// Libraries tell what a file is by its first bytes, which they read with open() and read() before
// they open it through MPI-IO. Page 0 answers them, as of the last commit. Nothing of ours reads
// it, and a power loss in a commit may leave it between two states. Thread safety: pure functions;
// the file may be shared.
#pragma once

#include "tessera/base/bytes.hpp"
#include "tessera/base/result.hpp"
#include "tessera/container/contents.hpp"
#include "tessera/port/disk.hpp"

namespace tessera::container {

// The first kPageBytes bytes of the object file, with zeros behind its end, from where the contents
// say that they are. Fails where their blocks are damaged, and as the file does.
[[nodiscard]] base::Result<base::Bytes> read_page(port::File& file, const Contents& contents);

}  // namespace tessera::container
