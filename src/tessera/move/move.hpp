// Moves: one process's part of an operation on a file, as data.
//
// A move pairs a pattern of the file with a pattern of memory, byte by byte in stream order. The
// engines (independent.hpp, collective.hpp) execute it, each in its own way, with the same result.
//   (V1) The file's pattern ascends, as every view does; the memory's may go anywhere, but names no
//        byte twice in a read (MPI forbids it).
//   (V2) What was moved is a prefix of the stream, and the count says how long it is, also after an
//        error (D1 of disk.hpp). A read that ends early without an error met the end of the file.
// Thread safety: a value; the memory belongs to whoever executes the move.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "tessera/base/result.hpp"
#include "tessera/pattern/copy_kernels.hpp"
#include "tessera/pattern/trace.hpp"
#include "tessera/port/disk.hpp"

namespace tessera::move {

using pattern::Interval;
using pattern::Pattern;
using port::Transfer;

enum class Direction { kRead, kWrite };

[[nodiscard]] const char* direction_name(Direction direction);
// For what is kept for each direction, in an array of two.
[[nodiscard]] inline size_t index_of(Direction direction) {
  return direction == Direction::kRead ? 0 : 1;
}

struct Move {
  Direction direction = Direction::kRead;
  Pattern file;               // positions in the file
  Pattern memory;             // offsets from `base`, as many bytes
  std::byte* base = nullptr;  // not written through where the direction is kWrite

  [[nodiscard]] int64_t size() const { return file.size(); }
  // Whether the bytes lie in memory in one piece.
  [[nodiscard]] bool memory_is_run() const { return memory.runs() <= 1; }
  // The part at the given stream offsets. Cost: as Trace::clip, on both sides.
  [[nodiscard]] Move clip(Interval stream) const;
};

// Whether the runs of both sides are so long that they are best copied one by one.
[[nodiscard]] bool has_long_runs(const Move& move);

// The cores that so many processes of this node have, at most one each: a process that is bound to
// one has companions on the others.
[[nodiscard]] int64_t cores_for(int processes);

// How the bytes of a move are best copied while as many companions, this process among them, move
// as much: around the caches where all of it does not fit.
[[nodiscard]] pattern::CopyMode copy_mode(const Move& move, int companions);

// Copies the bytes of the move to or from a buffer that holds a piece of the file: byte p of the
// file is at buffer[p - begin]. Requires that the buffer holds every position of the move. Patterns
// that are irregular on both sides are copied run by run or, where runs are short, through a small
// packed buffer; they are never joined.
void copy_to_buffer(const Move& move, std::byte* buffer, int64_t begin);          // from memory
void copy_from_buffer(const Move& move, const std::byte* buffer, int64_t begin);  // to memory

}  // namespace tessera::move
