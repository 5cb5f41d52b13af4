// The readers' lock: others who have an object file open for reading.
//
// A reader keeps the state that it found when it opened the file. Two commits later a writer would
// use the space of that state again; so readers hold a lock of the file system on one byte behind
// all bytes that a file can have, and a writer that sees it writes behind the end of the file only
// (Container::spare_all()).
//   (Q1) Whoever reads holds the lock from before it reads the superblock until it has read the
//        last byte.
//   (Q2) Whoever writes asks for readers when it begins and after each commit: a reader that comes
//        later finds this commit or a newer one.
// The lock goes with the open file. Where the file system has no locks readers are not seen, and
// nothing fails. Thread safety: as PlainFile.
#pragma once

#include "tessera/base/result.hpp"
#include "tessera/port/plain_file.hpp"

namespace tessera::container {

// Takes the lock, until the file is closed. Waits while another program holds an exclusive lock on
// that byte, as on the whole file. Requires a file that is open for reading.
void hold_for_reading(port::PlainFile& file);
// The same for commands, which do not wait without a word: fails with kRetry instead.
[[nodiscard]] base::Result<void> try_hold_for_reading(port::PlainFile& file);

// Whether another open of the file holds the lock.
[[nodiscard]] bool has_readers(const port::PlainFile& file);

}  // namespace tessera::container
