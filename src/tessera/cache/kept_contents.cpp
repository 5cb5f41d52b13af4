#include "tessera/cache/kept_contents.hpp"

#include <utility>

namespace tessera::cache {

KeptContents& KeptContents::of_process() {
  static auto& kept = *new KeptContents;
  return kept;
}

std::optional<container::Contents> KeptContents::take(const container::Superblock& superblock,
                                                      base::ByteView blob) {
  return kept_.with([&](std::optional<Kept>& kept) -> std::optional<container::Contents> {
    if (!kept || !(kept->origin.superblock == superblock) ||
        !base::equal(kept->origin.blob, blob)) {
      return std::nullopt;
    }
    return std::move(std::exchange(kept, std::nullopt)->contents);
  });
}

void KeptContents::keep(Origin origin, container::Contents contents) {
  if (!suits(origin.blob)) return;
  std::optional<Kept> other = Kept{std::move(origin), std::move(contents)};
  // What was kept before goes when nobody waits for it.
  kept_.with([&](std::optional<Kept>& kept) { std::swap(kept, other); });
}

}  // namespace tessera::cache
