// Large pages: how the system keeps files in memory.
//
// File systems with large pages keep what is written in pages as large as the single writes, and
// what is read where nothing is stored in pages as large as the reader likes. Mapping a page of
// 2 MB takes one fault; mapping as much in small ones takes up to 32, which is a third of the time
// of copying it. So a new file that will be read from memory is worth having in large ones, and it
// can be had: they are taken before anything is written.
// Thread safety: all functions from any thread.
#pragma once

#include <cstdint>

#include "tessera/port/plain_file.hpp"

namespace tessera::port {

inline constexpr int64_t kLargePageBytes = int64_t{2} << 20;

// Takes the large pages that lie in [begin, end) and in the file, which holds nothing but zeros
// there, and answers how many bytes they hold. Stops at a page that is not to be had as a large
// one, or where too many take long to find: under a virtual machine one may have to come from the
// host, and takes as long then as writing ten. Waiting does not count as long. Does nothing unless
// the file is open for reading and PlainFile::is_local(). Requires 0 <= begin <= end.
int64_t take_large_pages(PlainFile& file, int64_t begin, int64_t end);

}  // namespace tessera::port
