#include "tessera/container/page.hpp"

#include <algorithm>

#include "tessera/container/block_reader.hpp"
#include "tessera/pattern/copy.hpp"

namespace tessera::container {

base::Result<base::Bytes> read_page(port::File& file, const Contents& contents) {
  base::Bytes page(static_cast<size_t>(kPageBytes));
  const int64_t end = std::min(kPageBytes, contents.size);
  if (end == 0) return page;
  TESSERA_TRY(const pattern::ByteSet wanted, pattern::ByteSet::of({0, end}));
  TESSERA_TRY(const map::Found found, contents.map.find(wanted));
  BlockReader reader(file, {contents.block_bytes, true, {}});
  for (const map::Part& part : found.parts) {
    base::Bytes packed(static_cast<size_t>(part.places.size()));
    TESSERA_TRY_VOID(reader.read_places(*contents.find(part.allocation), part.places, packed));
    pattern::scatter(page.data(), packed.data(), part.bytes.ascending());
  }
  return page;
}

}  // namespace tessera::container
