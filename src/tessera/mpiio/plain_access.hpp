// Plain accesses: one run in memory and one in the file, the most frequent access of all.
//
// It needs no pattern, no choice of an engine and no copy, only a few checks before its one system
// call. Whatever is not plain, or is wrong, takes the long way (access.cpp), which says why.
// Thread safety: as OpenFile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "tessera/mpiio/access.hpp"

namespace tessera::mpiio {

struct PlainAccess {
  int64_t offset = 0;  // in the file
  std::span<std::byte> memory;
};

[[nodiscard]] std::optional<PlainAccess> as_plain(const OpenFile& file, const Access& access,
                                                  const Buffer& buffer);

}  // namespace tessera::mpiio
