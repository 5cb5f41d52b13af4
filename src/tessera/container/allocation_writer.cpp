#include "tessera/container/allocation_writer.hpp"

#include <algorithm>

#include "tessera/base/assert.hpp"
#include "tessera/base/checked.hpp"
#include "tessera/base/checksum.hpp"

namespace tessera::container {

AllocationWriter::AllocationWriter(port::File& file, Interval room, int64_t block_bytes)
    : file_(file), room_(room), block_bytes_(block_bytes) {
  TESSERA_ASSERT(valid_block_bytes(block_bytes) &&
                 room.begin >= header_end(block_bytes, kOldestVersion));
  TESSERA_ASSERT(room.begin % block_bytes == 0 && room.end % block_bytes == 0);
}

base::Result<void> AllocationWriter::append(base::ByteView bytes) {
  TESSERA_ASSERT(static_cast<int64_t>(bytes.size()) <= room_left());
  if (bytes.empty()) return {};
  flushed_ = false;
  const auto block = static_cast<size_t>(block_bytes_);
  const size_t buffer_max = std::max(static_cast<size_t>(kBufferBytes), block);
  place_ += static_cast<int64_t>(bytes.size());
  while (!bytes.empty()) {
    const bool straight = bytes.size() >= buffer_max;
    if (straight && buffer_.size() % block == 0) {
      TESSERA_TRY_VOID(write_blocks(buffer_));
      buffer_.clear();
      // A buffer's length at a time, so that what was hashed is in the cache when it is copied.
      TESSERA_TRY_VOID(write_blocks(bytes.first(buffer_max)));
      bytes = bytes.subspan(buffer_max);
      continue;
    }
    const size_t room = straight ? block - buffer_.size() % block : buffer_max - buffer_.size();
    const size_t taken = std::min(bytes.size(), room);
    buffer_.insert(buffer_.end(), bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(taken));
    bytes = bytes.subspan(taken);
    if (buffer_.size() < buffer_max) continue;
    TESSERA_TRY_VOID(write_blocks(buffer_));
    buffer_.clear();
  }
  return {};
}

base::Result<void> AllocationWriter::flush() {
  if (flushed_) return {};
  const auto block = static_cast<size_t>(block_bytes_);
  const size_t whole = buffer_.size() / block * block;
  TESSERA_TRY_VOID(write_blocks(base::ByteView(buffer_).first(whole)));
  buffer_.erase(buffer_.begin(), buffer_.begin() + static_cast<ptrdiff_t>(whole));
  if (!buffer_.empty()) {
    base::Bytes last = buffer_;
    last.resize(block);
    TESSERA_TRY_VOID(write_blocks(last));
    // More may be appended to this block; until then it counts as it is.
    written_ -= block_bytes_;
  }
  flushed_ = true;
  return {};
}

// Whole blocks, behind those written before.
base::Result<void> AllocationWriter::write_blocks(base::ByteView blocks) {
  const auto block = static_cast<size_t>(block_bytes_);
  TESSERA_ASSERT(blocks.size() % block == 0);
  if (blocks.empty()) return {};
  checksums_.resize(static_cast<size_t>(written_ / block_bytes_));
  for (size_t at = 0; at < blocks.size(); at += block) {
    checksums_.push_back(base::checksum(blocks.subspan(at, block)));
  }
  const port::Transfer transfer = file_.write_at(room_.begin + written_, blocks);
  if (!transfer) return base::failure_of(transfer.status);
  written_ += static_cast<int64_t>(blocks.size());
  return {};
}

Allocation AllocationWriter::allocation() const {
  TESSERA_ASSERT(flushed_ && place_ > 0);
  Allocation allocation;
  const int64_t length = base::ceil_div(place_, block_bytes_) * block_bytes_;
  allocation.place = {room_.begin, room_.begin + length};
  allocation.checksums = checksums_;
  TESSERA_ASSERT(static_cast<int64_t>(checksums_.size()) == length / block_bytes_);
  return allocation;
}

}  // namespace tessera::container
