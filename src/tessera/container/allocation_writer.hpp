// AllocationWriter: fills an allocation, byte after byte, and learns the checksums of its blocks.
//
// What writers of containers share: bytes are appended, whole blocks are hashed on their way and
// written straight from the caller's memory where they can be, and the last block is filled up with
// zeros.
//   (A1) After flush(), all appended bytes are in the file (not synced), in whole blocks, and
//        allocation() describes them.
//   (A2) Blocks are written once, except a last block that flush() filled up and more bytes were
//        appended to. So once an allocation is committed, whoever goes on appends to another one:
//        (K3) of container.hpp.
// Thread safety: none; the file may be shared.
#pragma once

#include <cstdint>
#include <vector>

#include "tessera/base/bytes.hpp"
#include "tessera/base/result.hpp"
#include "tessera/container/contents.hpp"
#include "tessera/port/disk.hpp"

namespace tessera::container {

class AllocationWriter {
 public:
  static constexpr int64_t kBufferBytes = int64_t{256} << 10;

  // Fills `room`, whole blocks that are free (Space). The file must outlive the writer.
  AllocationWriter(port::File& file, Interval room, int64_t block_bytes);

  // Where the next byte goes, in the allocation.
  [[nodiscard]] int64_t place() const { return place_; }
  [[nodiscard]] int64_t room_left() const { return room_.length() - place_; }

  // Requires that the bytes fit into the room. Fails as the file does; then the writer can only be
  // given up.
  [[nodiscard]] base::Result<void> append(base::ByteView bytes);
  [[nodiscard]] base::Result<void> flush();

  // The blocks in use, with id and manager left to the caller. Requires flush() since the last
  // append(), and at least one byte.
  [[nodiscard]] Allocation allocation() const;

 private:
  [[nodiscard]] base::Result<void> write_blocks(base::ByteView blocks);

  port::File& file_;
  const Interval room_;
  const int64_t block_bytes_;
  int64_t place_ = 0;
  int64_t written_ = 0;  // whole blocks in the file that stay as they are
  base::Bytes buffer_;   // what was appended behind them
  bool flushed_ = true;
  std::vector<uint64_t> checksums_;
};

}  // namespace tessera::container
