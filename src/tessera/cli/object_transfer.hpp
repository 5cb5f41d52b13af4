// Plain files into object files and back, byte for byte.
//
// Holes stay holes: what a plain file never stored is not mapped, and what nobody wrote to an
// object file is not written. Memory: a few megabytes and the contents.
// Thread safety: none; calls on different files are independent.
#pragma once

#include <cstdint>
#include <functional>

#include "tessera/base/result.hpp"
#include "tessera/cli/file_kind.hpp"
#include "tessera/object/views_file.hpp"
#include "tessera/port/plain_file.hpp"
#include "tessera/port/random.hpp"

namespace tessera::cli {

using ShowProgress = std::function<void(int64_t done_bytes, int64_t total_bytes)>;

struct TransferReport {
  int64_t size_bytes = 0;    // of the plain file
  int64_t stored_bytes = 0;  // without holes
  int64_t allocations = 0;   // of the object file
};

// Makes an object file of a new, empty one. Without views the bytes lie in one allocation, in their
// order; with them the bytes of each view do, shared ones with the first of their sharers, and last
// what is in no view; the views are recorded as those of the writers. Fails with kTooComplex if the
// views interleave too irregularly, with kRetry if the plain file shrinks meanwhile, and as the
// files do.
[[nodiscard]] base::Result<TransferReport> import_bytes(port::PlainFile& from, port::File& to,
                                                        const object::ViewsFile* views,
                                                        const ShowProgress& progress);

// Writes the bytes of an object file to a new, empty one. Blocks are verified. Fails with
// kIntegrity if they are damaged, with kRetry if another process committed meanwhile and wrote
// where they were.
[[nodiscard]] base::Result<TransferReport> export_bytes(OpenedObject& from, port::File& to,
                                                        const ShowProgress& progress);

}  // namespace tessera::cli
