// Compaction: an object file without the space that nothing visible uses.
//
// Copies what is in use, replicas too, into a new container, makes it durable and gives it the name
// (port/fresh_file.hpp). So at any instant the name leads to a whole file, the old or the new, with
// the same bytes.
//   (COMPACT-1) Bytes of an allocation stay in the order of their places, so whoever reads a part
//        of the file reads no more runs than before.
// Allocations do not become one: their bytes interleave in the file, and reading one after another
// takes fewer transfers than jumping inside one. Who wants another layout remaps the file. Blocks
// are verified on the way: a damaged file is not compacted. Nobody may have the old file open for
// writing; readers that do keep it until they close it.
// Thread safety: none.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "tessera/base/result.hpp"
#include "tessera/port/disk.hpp"

namespace tessera::container {

struct CompactionReport {
  int64_t bytes_before = 0;  // of the container
  int64_t bytes_after = 0;
  int64_t bytes_copied = 0;
};

using CompactionProgress = std::function<void(int64_t done_bytes, int64_t total_bytes)>;

struct CompactionOptions {
  CompactionProgress progress = {};
  // Gives the complete file the name. Without it, the new file is readable by its owner only.
  std::function<base::Result<void>(port::FreshFile& fresh)> publish = {};
};

// Memory: a few megabytes and twice the contents. Fails as check() and the disk do; then the file
// is as before.
[[nodiscard]] base::Result<CompactionReport> compact(port::Disk& disk, const std::string& path,
                                                     const CompactionOptions& options = {});

}  // namespace tessera::container
