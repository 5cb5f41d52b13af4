// Large pages: how the system keeps files in memory.
//
// A file that is written is kept in pages as large as the single writes; one that is read where
// nothing is stored, in pages as large as the reader likes. Mapping a page of 2 MB takes one fault,
// mapping as much in small ones some dozen, which is a third of the time of copying it. So a new
// file that will be read from memory is worth having in large ones, and it can be had: they are
// taken before anything is written.
// Thread safety: all functions from any thread.
#pragma once

#include <cstdint>

#include "tessera/port/plain_file.hpp"

namespace tessera::port {

inline constexpr int64_t kLargePageBytes = int64_t{2} << 20;

// How often this thread has met a page that was in memory and not mapped, ever.
[[nodiscard]] int64_t thread_faults();

// Takes large pages for [begin, end), which holds nothing but zeros, and answers how many bytes
// they hold. Stops where too many are not at hand and the system has to find them: under a virtual
// machine one may have to come from the host, and takes as long then as writing ten. Large pages
// that only a part of the range or of the file is in are left as they are. Does nothing where the
// file system keeps files in small ones, unless the file is open for reading, and unless
// PlainFile::is_local(). Requires 0 <= begin <= end.
int64_t take_large_pages(const PlainFile& file, int64_t begin, int64_t end);

}  // namespace tessera::port
