// KeptContents: what a process knows of the object file that it has read last.
//
// Programs that read a file open it over and over: once for each step, or each variable. Its
// contents were decoded and checked the first time; as long as nobody has committed since, they are
// what they were.
//   (K1) Contents come back only for the same commit, with the same blob to the last byte.
//   (K2) Those of one file are kept, and of a blob of at most kBlobBytesMax.
// Thread safety: all functions from any thread.
#pragma once

#include <cstdint>
#include <optional>

#include "tessera/base/bytes.hpp"
#include "tessera/container/contents.hpp"
#include "tessera/container/superblock.hpp"
#include "tessera/port/guarded.hpp"

namespace tessera::cache {

class KeptContents {
 public:
  static constexpr int64_t kBlobBytesMax = int64_t{1} << 20;

  // Those of this process.
  [[nodiscard]] static KeptContents& of_process();

  // Where contents are from.
  struct Origin {
    container::Superblock superblock;
    base::Bytes blob;
  };

  // Gives away what is kept, if it is this.
  [[nodiscard]] std::optional<container::Contents> take(const container::Superblock& superblock,
                                                        base::ByteView blob);
  // Requires contents that were decoded from there, and not changed.
  void keep(Origin origin, container::Contents contents);
  // Whether keep() would.
  [[nodiscard]] static bool suits(base::ByteView blob) { return std::ssize(blob) <= kBlobBytesMax; }

 private:
  struct Kept {
    Origin origin;
    container::Contents contents;
  };

  port::Guarded<std::optional<Kept>> kept_;
};

}  // namespace tessera::cache
