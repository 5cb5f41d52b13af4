#include "tessera/cache/packed_write.hpp"

#include <algorithm>
#include <memory>

#include "tessera/base/checked.hpp"
#include "tessera/base/checksum.hpp"
#include "tessera/pattern/copy.hpp"

namespace tessera::cache {

namespace {

// Fits into the second cache beside what it is copied from.
constexpr int64_t kPieceBytes = int64_t{256} << 10;
// So much goes to the disk at a time, as few requests.
constexpr int64_t kWriteBackBytes = int64_t{2} << 20;
// Less than this is left to the sync.
constexpr int64_t kWriteBackBytesMin = int64_t{128} << 10;
// Of memory whose bytes lie far from where the stream has them.
constexpr int64_t kPieceBytesMax = int64_t{8} << 20;

void add_sums(base::ByteView bytes, int64_t position, int64_t block_bytes,
              std::vector<BlockSum>& sums) {
  const auto whole = static_cast<size_t>(block_bytes);
  int64_t block = base::ceil_div(position, block_bytes) * block_bytes;
  for (; block + block_bytes <= position + std::ssize(bytes); block += block_bytes) {
    const auto at = static_cast<size_t>(block - position);
    sums.push_back({block, base::checksum(bytes.subspan(at, whole))});
  }
}

// The bytes of a part of the stream, one after another: where they are, or gathered.
base::ByteView packed(const move::Move& move, Interval part, std::byte* buffer) {
  const auto bytes = static_cast<size_t>(part.length());
  if (move.memory_is_run()) return {move.base + move.memory.at()[0] + part.begin, bytes};
  pattern::gather(buffer, move.base, move.memory, part, pattern::CopyMode::kCached);
  return {buffer, bytes};
}

}  // namespace

port::Transfer write_packed(port::File& file, const move::Move& move, int64_t position,
                            int64_t block_bytes, WriteBack write_back,
                            std::vector<BlockSum>& sums) {
  const int64_t gathered = pattern::gather_bytes(move.memory, kPieceBytes, kPieceBytesMax);
  const int64_t piece = base::ceil_div(std::max(gathered, block_bytes), block_bytes) * block_bytes;
  std::unique_ptr<std::byte[]> buffer;
  if (!move.memory_is_run()) {
    buffer = std::make_unique_for_overwrite<std::byte[]>(
        static_cast<size_t>(std::min(piece, move.size())));
  }
  int64_t done = 0;
  int64_t held = 0;  // of what is done, not on its way to the disk
  while (done < move.size()) {
    // Pieces end where blocks end, so that no block is left unhashed between two of them.
    const int64_t end = (position + done + piece) / piece * piece - position;
    const Interval part = {done, std::min(end, move.size())};
    const base::ByteView bytes = packed(move, part, buffer.get());
    add_sums(bytes, position + done, block_bytes, sums);
    port::Transfer written = file.write_at(position + done, bytes);
    done += written.bytes;
    held += written.bytes;
    const int64_t sent_min = done < move.size() ? kWriteBackBytes : kWriteBackBytesMin;
    if (write_back == WriteBack::kAtOnce && held >= sent_min) {
      file.begin_write_back(position + done - held, held);
      held = 0;
    }
    if (!written) return {done, std::move(written.status)};
  }
  return {done, {}};
}

}  // namespace tessera::cache
