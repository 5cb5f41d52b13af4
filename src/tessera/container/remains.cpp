#include "tessera/container/remains.hpp"

#include <algorithm>

#include "tessera/container/contents.hpp"
#include "tessera/pattern/point.hpp"

namespace tessera::container {

namespace {

using base::Result;

constexpr int64_t kPieceBytes = int64_t{1} << 20;
static_assert(kPieceBytes % kBlockBytesMin == 0 && kContentsHeadBytes <= kBlockBytesMin);

// Requires an interval that begins at a block's boundary.
Result<std::optional<int64_t>> find_in(port::File& file, pattern::Interval range) {
  base::Bytes piece(static_cast<size_t>(kPieceBytes));
  for (int64_t begin = range.begin; begin < range.end; begin += kPieceBytes) {
    const port::Transfer read = file.read_at(begin, piece);
    TESSERA_TRY_VOID(read.status);
    const base::ByteView found = base::ByteView(piece).first(static_cast<size_t>(read.bytes));
    for (int64_t at = 0; at < read.bytes; at += kBlockBytesMin) {
      const auto length = static_cast<size_t>(std::min(kContentsHeadBytes, read.bytes - at));
      const base::ByteView head = found.subspan(static_cast<size_t>(at), length);
      if (begins_contents(head, begin + at)) return std::optional(begin + at);
    }
    if (read.bytes < kPieceBytes) break;
  }
  return std::optional<int64_t>();
}

}  // namespace

Result<std::optional<int64_t>> find_remains(port::File& file) {
  TESSERA_TRY(const int64_t size, file.size());
  TESSERA_TRY(const auto early, find_in(file, {0, std::min(size, kRemainsBytes)}));
  if (early || size <= kRemainsBytes) return early;
  const int64_t last = (size - kRemainsBytes) / kPieceBytes * kPieceBytes;
  return find_in(file, {std::max(last, kRemainsBytes), size});
}

}  // namespace tessera::container
