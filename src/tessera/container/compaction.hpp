// Compaction: an object file without the space that nothing visible uses.
//
// Copies the visible bytes into a new container beside the old one, the bytes of each manager in
// one allocation, in the order of the file; makes it durable and renames it over the old. So at any
// instant the name leads to a whole file, the old or the new, with the same bytes. Blocks are
// verified on the way: a damaged file is not compacted. Nobody may have the old file open for
// writing; readers that do keep it until they close it. Thread safety: none.
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

// Memory: a few megabytes and the contents. Fails as check() and the disk do; then the file is as
// before. A file path + ".compact" that an earlier attempt left is replaced. The new file is
// readable by its owner only, unless `prepare`, called before it takes the name, changes that.
using PrepareFile = std::function<base::Result<void>(const std::string& fresh_path)>;
[[nodiscard]] base::Result<CompactionReport> compact(port::Disk& disk, const std::string& path,
                                                     const PrepareFile& prepare = {});

}  // namespace tessera::container
