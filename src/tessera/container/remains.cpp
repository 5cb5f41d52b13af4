#include "tessera/container/remains.hpp"

#include <algorithm>

#include "tessera/container/contents.hpp"

namespace tessera::container {

base::Result<std::optional<int64_t>> find_remains(port::File& file) {
  constexpr int64_t kPieceBytes = int64_t{1} << 20;
  static_assert(kPieceBytes % kBlockBytesMin == 0 && kContentsHeadBytes <= kBlockBytesMin);
  base::Bytes piece(static_cast<size_t>(kPieceBytes));
  for (int64_t begin = 0; begin < kRemainsBytes; begin += kPieceBytes) {
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

}  // namespace tessera::container
