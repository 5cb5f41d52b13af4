// Private to the copy kernels: one version of every loop, as a table of functions.
//
// A length class collects the lengths that move by the same instructions: class c holds
// 2^(c-1) < length <= 2^c, the last one all lengths above kShortMax. The power of two itself has a
// loop of its own. Thread safety: tables are constants.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "tessera/pattern/copy_kernels.hpp"

namespace tessera::pattern {

inline constexpr int64_t kLineBytes = 64;
inline constexpr int64_t kShortMax = 256;
inline constexpr size_t kLengthClasses = 10;

// Requires length > 0.
inline size_t length_class(int64_t length) {
  return length > kShortMax
             ? kLengthClasses - 1
             : static_cast<size_t>(std::bit_width(static_cast<uint64_t>(length - 1)));
}

// memcpy() as a call: where the compiler knows bounds of the length it puts slower code in its
// place.
void move_by_library(std::byte* out, const std::byte* in, int64_t length);

using RunKernel = void (*)(std::byte* out, const std::byte* in, const PairedRuns& runs);
using TwiceKernel = void (*)(std::byte* out, std::byte* seen, const std::byte* in, int64_t length);
using ListKernel = void (*)(std::byte* out, const std::byte* in, const RunList& list);

// The loops for one pair of sides.
struct RunKernels {
  RunKernel power_of_two[kLengthClasses];
  RunKernel other[kLengthClasses];
  RunKernel streaming;

  // Requires length > 0.
  [[nodiscard]] RunKernel cached(int64_t length) const {
    const bool power = std::has_single_bit(static_cast<uint64_t>(length));
    return (power ? power_of_two : other)[length_class(length)];
  }
};

// Where a side is contiguous its stride is not looked at.
struct CopyTable {
  RunKernels gather;
  RunKernels scatter;
  RunKernels copy;
  ListKernel gather_list;
  ListKernel scatter_list;
  ListKernel gather_list_streaming;
  ListKernel scatter_list_streaming;
  TwiceKernel copy_twice;
};

const CopyTable* copy_table_portable();
// Only in builds for x86; the caller makes sure that the processor has the instructions.
const CopyTable* copy_table_sse2();
const CopyTable* copy_table_avx2();
const CopyTable* copy_table_avx512();

}  // namespace tessera::pattern
