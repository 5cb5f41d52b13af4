#include "tessera/owner/pieces.hpp"

#include <algorithm>

#include "tessera/base/assert.hpp"

namespace tessera::owner {

std::vector<Piece> pieces_of(const Sharing& sharing, const Writers& writers) {
  TESSERA_ASSERT(writers.items() == sharing.items());
  std::vector<Piece> pieces;
  pieces.reserve(sharing.stretches().size() + writers.intervals().size());
  auto interval = writers.intervals().begin();
  int64_t begin = 0;
  for (const Stretch& stretch : sharing.stretches()) {
    bool behind_gap = stretch.behind_gap;
    while (begin < stretch.end) {
      const int64_t end = std::min(stretch.end, interval->end);
      pieces.push_back({end - begin, stretch.holders, interval->writer, behind_gap});
      behind_gap = false;
      begin = end;
      if (interval->end == end) ++interval;
    }
  }
  return pieces;
}

int64_t changes_of(std::span<const Piece> pieces) {
  int64_t count = 0;
  for (size_t i = 1; i < pieces.size(); ++i) {
    if (pieces[i].writer != pieces[i - 1].writer && !pieces[i].behind_gap) ++count;
  }
  return count;
}

}  // namespace tessera::owner
