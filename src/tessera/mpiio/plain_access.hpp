// Plain accesses: one run in memory and one in the file, the most frequent access of all.
//
// It needs no pattern and no choice of an engine (move/plain_run.hpp), only a few checks. Whatever
// is not plain, or is wrong, takes the long way (access.cpp), which says why.
// Thread safety: as OpenFile.
#pragma once

#include <optional>

#include "tessera/move/plain_run.hpp"
#include "tessera/mpiio/access.hpp"

namespace tessera::mpiio {

[[nodiscard]] std::optional<move::PlainRun> as_plain(const OpenFile& file, const Access& access,
                                                     const Buffer& buffer);

}  // namespace tessera::mpiio
