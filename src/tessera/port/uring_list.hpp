// Lists through io_uring: many small transfers in few system calls.
//
// One ring for each thread, made at the first list, of bounded depth.
// docs/decisions/0007-list-io.md has the figures behind the rules: a ring makes reads of small
// segments a little quicker where the bytes are cached and several times where they are not,
// because the disk then works on all of them; writes it hands to threads of the kernel, which is
// slower than writing.
//   (R1) What moved is a prefix of the list and as long as answered; the memory and the file behind
//        it are changed only where a transfer failed among others that were under way with it.
//   (R2) When a call returns, no transfer of it is under way.
//   (R3) Segments that overlap or do not ascend are never under way together, so a list has the
//        same effect as one segment after the other.
// Thread safety: from any thread; each has its own ring. A child of fork() makes new ones.
#pragma once

#include <cstdint>
#include <span>

#include "tessera/port/disk.hpp"

namespace tessera::port {

enum class RingUse {
  kAutomatic,  // where it is quicker
  kAlways,     // wherever the kernel has it
  kApart,      // the same, with a request for each segment, also where one follows another
  kNever,
};

// Moves the first segments of a list and answers how many bytes that were; 0 where a ring is of no
// use or not to be had. It stops, without saying why, at the first transfer that is short or fails
// and at the first segments that are better moved otherwise.
[[nodiscard]] int64_t read_by_ring(int descriptor, std::span<const ReadSegment> segments,
                                   RingUse use);
[[nodiscard]] int64_t write_by_ring(int descriptor, std::span<const WriteSegment> segments,
                                    RingUse use);

// Whether the kernel gives this thread a ring; it is made if need be.
[[nodiscard]] bool ring_available();
// Whether reads of this file never wait when the bytes are cached, so that a ring does them by
// itself instead of handing them to threads of the kernel. One system call.
[[nodiscard]] bool ring_suits_reads(int descriptor);

}  // namespace tessera::port
