// WriterClaim: one group of writers at a time has an object file open.
//
// Whoever may change a container, a job, a mount or a compaction, holds a lock of the file system
// on one byte behind all bytes that a file can have. It goes with the open file, so it ends with
// its process however that ends. Thread safety: as PlainFile.
#pragma once

#include "tessera/base/result.hpp"
#include "tessera/port/plain_file.hpp"

namespace tessera::container {

// Holds the claim until the file is closed. Fails with kRetry if somebody else has it, or if the
// file was replaced by another one of its name (compaction) since it was opened: then what is
// written to it would be lost. Where the file system has no locks nobody can tell, and it succeeds.
// Requires a file that is open for reading and writing.
[[nodiscard]] base::Result<void> claim_for_writing(port::PlainFile& file);

// The same for a file that has no name yet, which nobody else can have opened: it has the claim
// when it gets its name.
void claim_unnamed(port::PlainFile& file);

// Whether somebody else has the claim now; false where the file system has no locks.
[[nodiscard]] bool has_writer(const port::PlainFile& file);

}  // namespace tessera::container
