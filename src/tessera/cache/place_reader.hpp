// Reading and writing at places of a container, in any pattern of memory.
//
// Thread safety: pure functions; the file may be shared.
#pragma once

#include <cstdint>

#include "tessera/base/result.hpp"
#include "tessera/container/contents.hpp"
#include "tessera/move/experience.hpp"
#include "tessera/move/move.hpp"
#include "tessera/port/disk.hpp"

namespace tessera::cache {

struct PlaceSettings {
  int64_t block_bytes = container::kBlockBytes;
  bool verify = true;
  bool remote = false;  // each transfer waits for another machine: fewer of them are better
  int companions = 1;   // processes of this machine that read as much at the same time
  // Of this process with bytes that stay where they are: they may be mapped, for the next read too.
  move::Experience* experience = nullptr;
};

// Reads the places of an allocation that stand in for the move's file positions; they may jump.
// With verify, blocks are checked against the allocation's checksums, and a block that does not
// match is an error (kIntegrity). Memory used: a few megabytes at most.
[[nodiscard]] base::Result<void> read_places(port::File& file,
                                             const container::Allocation& allocation,
                                             const move::Move& move, PlaceSettings settings);

// Executes a move on a file, by the engine that costs least; a write touches no other byte.
[[nodiscard]] port::Transfer execute_on(port::File& file, const move::Move& move,
                                        int companions = 1, move::Experience* experience = nullptr);

// The part of a move whose file bytes are in the set, which is part of them: their places take the
// place of the file's positions.
[[nodiscard]] base::Result<move::Move> select_part(const move::Move& move,
                                                   const pattern::ByteSet& bytes,
                                                   pattern::Pattern places);

// Sets the bytes of a pattern of memory to zero.
void fill_with_zeros(std::byte* base, const pattern::Pattern& memory);

}  // namespace tessera::cache
