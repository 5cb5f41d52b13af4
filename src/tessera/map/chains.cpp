#include "tessera/map/chains.hpp"

#include <map>
#include <unordered_map>

namespace tessera::map {

std::vector<Chain> chains_of(std::span<const Piece> pieces) {
  using Ends = std::multimap<int64_t, size_t>;  // the end of a chain and its number
  std::unordered_map<AllocationId, Ends> ends_of;
  std::vector<Chain> chains;
  for (size_t i = 0; i < pieces.size(); ++i) {
    const Piece& piece = pieces[i];
    Ends& ends = ends_of[piece.allocation];
    // The chain that ended last: a piece follows what it most likely continues.
    auto after = ends.upper_bound(piece.pairs.at()[0]);
    if (after == ends.begin()) {
      ends.emplace(piece.pairs.end()[0], chains.size());
      chains.push_back({piece.allocation, {i}});
      continue;
    }
    auto chain = ends.extract(std::prev(after));
    chain.key() = piece.pairs.end()[0];
    chains[chain.mapped()].pieces.push_back(i);
    ends.insert(std::move(chain));
  }
  return chains;
}

}  // namespace tessera::map
