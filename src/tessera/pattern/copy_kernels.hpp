// Copy kernels: the innermost loops of the copy engine.
//
// They move many short runs of bytes between two places in memory: between a strided side and a
// contiguous one (packing and unpacking), between two strided sides, and between an irregular list
// of runs and a contiguous side. A run of a few bytes costs less than a call of memcpy, so each
// length class has its own loop, in a version for each vector unit; the versions that the processor
// has are found once, at the first call.
//
// A transfer far larger than the caches should bypass them: kStreaming writes whole cache lines
// around the cache where the destination allows it, which saves reading them first. Such stores are
// weakly ordered: after the last kernel of a transfer, finish_copy() makes them visible to others.
//
// Every kernel obeys:
//   (C1) Destination bytes outside the runs are neither written nor rewritten: they may belong to
//        others, who may be writing them at this moment.
//   (C2) No byte outside the source's span (from the lowest byte of any run to the highest) is
//        read. Bytes between two runs may be read where their page also holds bytes of a run;
//        their values are never used.
//   (C3) Runs are written in order: where destination runs overlap, within a call or between calls
//        of one thread, the later one wins. (A processor sees its own stores in order, streaming
//        or not.)
// Required of every call: no byte is both source and destination. Alignment never matters.
// Cost: O(bytes + runs). Thread safety: all functions but use_copy_level() may be called from any
// thread.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tessera::pattern {

enum class CopyMode {
  kCached,     // plain stores; the destination is left in the cache, for whoever reads it next
  kStreaming,  // non-temporal stores where whole lines are written; needs finish_copy()
};

// Runs at base, base + stride, base + 2 stride, ... of `length` bytes each. The stride may be
// negative, zero, or less than the length. Requires length >= 0 and count >= 0; with either zero
// nothing moves.
struct StridedRuns {
  int64_t length = 0;
  int64_t count = 0;
  int64_t stride = 0;
};

// Strided runs again and again: those of the next row lie `stride` further on the strided side, and
// right behind those of the last one on the contiguous side.
struct Rows {
  StridedRuns runs;
  int64_t count = 0;
  int64_t stride = 0;
};

// The same with a stride on both sides.
struct PairedRuns {
  int64_t length = 0;
  int64_t count = 0;
  int64_t out_stride = 0;
  int64_t in_stride = 0;
};

// `count` irregular runs: run i is prefix[i + 1] - prefix[i] bytes (zero is allowed) at base +
// at[i] on the irregular side, and at prefix[i] - prefix[0] on the contiguous side. `prefix` has
// count + 1 entries and never decreases. A slice of a longer list needs no copying:
// {at + k, prefix + k, n}.
struct RunList {
  const int64_t* at = nullptr;
  const int64_t* prefix = nullptr;
  int64_t count = 0;
};

// The mode for a transfer of so many bytes in all. Ask once for the whole transfer, not for each
// piece of it: the cache does not know the pieces.
[[nodiscard]] CopyMode mode_for(int64_t total_bytes);
// The same for so many processes that move as many bytes each, at the same time.
[[nodiscard]] CopyMode mode_for(int64_t bytes, int companions);

// Whether a line of the cache begins at an offset from the base, which may be null where offsets
// are addresses. Kernels do not care; the system's own copies of what is larger than the caches
// take half as long again where it does not.
[[nodiscard]] bool is_at_line(const std::byte* base, int64_t offset = 0);

// Makes the stores of the kernels called before, by this thread and in this mode, visible to every
// thread that synchronises with it afterwards. Costs nothing for kCached.
void finish_copy(CopyMode mode);

// Strided to contiguous.
void gather_runs(std::byte* out, const std::byte* base, StridedRuns runs, CopyMode mode);
// Contiguous to strided.
void scatter_runs(std::byte* base, const std::byte* in, StridedRuns runs, CopyMode mode);
// The same for rows, which costs less than a call for each where they are short.
void gather_rows(std::byte* out, const std::byte* base, const Rows& rows, CopyMode mode);
void scatter_rows(std::byte* base, const std::byte* in, const Rows& rows, CopyMode mode);
// Strided to strided.
void copy_runs(std::byte* out, const std::byte* in, const PairedRuns& runs, CopyMode mode);

// One run to two places, each byte of it being read once: around the caches to `out`, as with
// kStreaming, and into them to `seen`, for whoever looks at what was copied.
void copy_twice(std::byte* out, std::byte* seen, const std::byte* in, int64_t length);

// Irregular to contiguous and back. (C2) holds for each run alone: nothing between runs is read.
void gather_list(std::byte* out, const std::byte* base, const RunList& list, CopyMode mode);
void scatter_list(std::byte* base, const std::byte* in, const RunList& list, CopyMode mode);

// The versions of the kernels, from the slowest to the fastest.
enum class CopyLevel { kPortable, kSse2, kAvx2, kAvx512 };
inline constexpr CopyLevel kCopyLevels[] = {CopyLevel::kPortable, CopyLevel::kSse2,
                                            CopyLevel::kAvx2, CopyLevel::kAvx512};

// For tests and measurements: all later calls, in every thread, use this version. False, and no
// change, if the processor or the build lacks it. Must not run while a kernel does.
[[nodiscard]] bool use_copy_level(CopyLevel level);

}  // namespace tessera::pattern
