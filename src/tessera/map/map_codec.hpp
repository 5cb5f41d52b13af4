// The file map as bytes: in a container, in a message between processes, in an exNode.
//
// Versioned, checksummed, grouped by allocation and epoch, regular sets compressed;
// docs/formats/file-map.md describes the bytes.
//   (F1) decode(encode(m)) finds the same for every request as m.
//   (F2) decode() answers any input with a map that keeps (M1) to (M5), or with an error. Its
//   memory
//        is proportional to the input, but for a fixed allowance to check that pieces are disjoint.
//   (F3) Fields that a reader does not know are skipped; features it does not know are refused.
// Thread safety: pure functions.
#pragma once

#include <cstdint>

#include "tessera/base/bytes.hpp"
#include "tessera/base/result.hpp"
#include "tessera/map/file_map.hpp"

namespace tessera::map {

inline constexpr uint8_t kMapVersion = 1;

// Cost: O(n log n). Pieces of one allocation and epoch that follow each other are recognised as
// regular where they are.
[[nodiscard]] base::Bytes encode(const FileMap& map);

// Fails with kIntegrity if the bytes are not one whole encoding of a map in a version and with
// features that this program knows, with kTooComplex if it cannot be checked within bounds.
// Cost: O(n log n); less if the same bytes were decoded as a stranger's before.
[[nodiscard]] base::Result<FileMap> decode(base::ByteView bytes, Origin origin = Origin::kStranger);

}  // namespace tessera::map
