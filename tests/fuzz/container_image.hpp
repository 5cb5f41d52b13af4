// Container files of any bytes, for fuzz targets.
//
// Thread safety: pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "tessera/base/bytes.hpp"
#include "tessera/base/checksum.hpp"
#include "tessera/container/superblock.hpp"

namespace tessera::fuzz {

// Makes the checksums of a superblock right, that of the blob first. Requires that the image has
// all bytes of the superblock.
inline void repair_superblock(base::Bytes& image, size_t at) {
  const auto copy = std::span(image).subspan(at, container::kSuperblockBytes);
  const auto begin = base::load_le<uint64_t>(copy.subspan(64));
  const auto end = base::load_le<uint64_t>(copy.subspan(72));
  if (begin < end && end <= image.size()) {
    const auto blob = base::ByteView(image).subspan(begin, end - begin);
    base::store_le<uint64_t>(copy.subspan(80), base::checksum(blob));
  }
  base::store_le<uint64_t>(copy.subspan(4088), base::checksum(copy.first(4088)));
}

// Makes the checksums of all superblocks right, wherever a version has them; in page 0 too, which
// may hold one as bytes of the object file. Answers whether the image is long enough for them.
inline bool repair_image(base::Bytes& image) {
  constexpr auto kCopyBytes = static_cast<size_t>(container::kSuperblockBytes);
  if (image.size() < 2 * kCopyBytes) return false;
  for (size_t at = 0; at + kCopyBytes <= image.size() && at <= 2 * kCopyBytes; at += kCopyBytes) {
    const auto copy = container::decode_superblock(base::ByteView(image).subspan(at));
    if (copy.state != container::CopyState::kForeign) repair_superblock(image, at);
  }
  return true;
}

}  // namespace tessera::fuzz
