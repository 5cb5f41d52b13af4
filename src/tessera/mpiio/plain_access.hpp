// Plain accesses: one run in memory and one in the file, the most frequent access of all.
//
// It needs no pattern and no choice of an engine, only a few checks and a system call. Whatever
// is not plain, or is wrong, takes the long way (access.cpp), which says why.
// Thread safety: as OpenFile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "tessera/mpiio/access.hpp"

namespace tessera::mpiio {

struct PlainRun {
  move::Direction direction = move::Direction::kRead;
  int64_t offset = 0;
  std::span<std::byte> memory;  // not written through by writes
};

[[nodiscard]] std::optional<PlainRun> as_plain(const OpenFile& file, const Access& access,
                                               const Buffer& buffer);

}  // namespace tessera::mpiio
