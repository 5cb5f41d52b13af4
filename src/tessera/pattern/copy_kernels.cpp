#include "tessera/pattern/copy_kernels.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

#include "tessera/base/assert.hpp"
#include "tessera/base/checked.hpp"
#include "tessera/pattern/copy_kernels_table.hpp"
#include "tessera/pattern/point.hpp"

namespace tessera::pattern {
namespace {

// Below this a streaming call would be mostly partial lines.
constexpr int64_t kStreamingCallMin = 1024;

const CopyTable* table_of(CopyLevel level) {
  switch (level) {
    case CopyLevel::kPortable:
      return copy_table_portable();
#if defined(__x86_64__)
    case CopyLevel::kSse2:
      return copy_table_sse2();
    case CopyLevel::kAvx2:
      return __builtin_cpu_supports("avx2") ? copy_table_avx2() : nullptr;
    case CopyLevel::kAvx512:
      return __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
                     __builtin_cpu_supports("bmi2")
                 ? copy_table_avx512()
                 : nullptr;
#endif
    default:
      return nullptr;
  }
}

const CopyTable* best_table() {
#if defined(__x86_64__)
  __builtin_cpu_init();  // we may be called before the constructor that does it
#endif
  const CopyTable* best = nullptr;
  for (const CopyLevel level : kCopyLevels) {
    if (const CopyTable* table = table_of(level)) best = table;
  }
  return best;
}

// Threads that meet here at the first call store the same answer.
std::atomic<const CopyTable*> active_table = nullptr;

const CopyTable& table() {
  const CopyTable* table = active_table.load(std::memory_order_relaxed);
  if (table == nullptr) [[unlikely]] {
    table = best_table();
    active_table.store(table, std::memory_order_relaxed);
  }
  return *table;
}

int64_t streaming_bytes_min() {
  // What one core can hope to keep of the last cache. More is not believed: processors with several
  // last-level caches, and virtual machines, report their sum.
  constexpr int64_t kLastCacheMax = int64_t{32} << 20;
  constexpr int64_t kLastCacheUnknown = int64_t{8} << 20;
  int64_t last = std::max<int64_t>(sysconf(_SC_LEVEL2_CACHE_SIZE), sysconf(_SC_LEVEL3_CACHE_SIZE));
  if (last <= 0) last = kLastCacheUnknown;
  // Source and destination together fill it.
  return std::min(last, kLastCacheMax) / 2;
}

bool streams(CopyMode mode, int64_t bytes) {
  return mode == CopyMode::kStreaming && bytes >= kStreamingCallMin;
}

RunKernel kernel_for(const RunKernels& kernels, int64_t length, bool streaming) {
  return streaming ? kernels.streaming : kernels.cached(length);
}

void run(const RunKernels& kernels, std::byte* out, const std::byte* in, const PairedRuns& runs,
         bool streaming) {
  kernel_for(kernels, runs.length, streaming)(out, in, runs);
}

struct RowSteps {
  int64_t count;
  int64_t out;
  int64_t in;
};

// The same row after row; the kernel is chosen once.
void run_rows(const RunKernels& kernels, std::byte* out, const std::byte* in, const PairedRuns& row,
              RowSteps step, CopyMode mode) {
  const RunKernel kernel = kernel_for(kernels, row.length, streams(mode, row.length * row.count));
  for (int64_t i = 0; i < step.count; ++i) kernel(out + i * step.out, in + i * step.in, row);
}

// Rows that a kernel takes whole: the runs of a row leave gaps.
bool has_gaps(const StridedRuns& runs) {
  return runs.length > 0 && runs.count > 1 && runs.stride != runs.length;
}

}  // namespace

void move_by_library(std::byte* out, const std::byte* in, int64_t length) {
  std::memcpy(out, in, static_cast<size_t>(length));
}

CopyMode mode_for(int64_t total_bytes) {
  static const int64_t streaming_min = streaming_bytes_min();
  return total_bytes >= streaming_min ? CopyMode::kStreaming : CopyMode::kCached;
}

CopyMode mode_for(int64_t bytes, int companions) {
  return mode_for(base::checked_mul(bytes, companions).value_or(kMaxPosition));
}

bool is_at_line(const std::byte* base, int64_t offset) {
  return (reinterpret_cast<uintptr_t>(base) + static_cast<uintptr_t>(offset)) % kLineBytes == 0;
}

void finish_copy(CopyMode mode) {
#if defined(__x86_64__)
  if (mode == CopyMode::kStreaming) _mm_sfence();
#else
  static_cast<void>(mode);
#endif
}

void gather_runs(std::byte* out, const std::byte* base, StridedRuns runs, CopyMode mode) {
  copy_runs(out, base, {runs.length, runs.count, runs.length, runs.stride}, mode);
}

void scatter_runs(std::byte* base, const std::byte* in, StridedRuns runs, CopyMode mode) {
  copy_runs(base, in, {runs.length, runs.count, runs.stride, runs.length}, mode);
}

void gather_rows(std::byte* out, const std::byte* base, const Rows& rows, CopyMode mode) {
  const StridedRuns& runs = rows.runs;
  const int64_t bytes = runs.length * runs.count;
  if (!has_gaps(runs)) return gather_runs(out, base, {bytes, rows.count, rows.stride}, mode);
  const PairedRuns row = {runs.length, runs.count, runs.length, runs.stride};
  run_rows(table().gather, out, base, row, {rows.count, bytes, rows.stride}, mode);
}

void scatter_rows(std::byte* base, const std::byte* in, const Rows& rows, CopyMode mode) {
  const StridedRuns& runs = rows.runs;
  const int64_t bytes = runs.length * runs.count;
  if (!has_gaps(runs)) return scatter_runs(base, in, {bytes, rows.count, rows.stride}, mode);
  const PairedRuns row = {runs.length, runs.count, runs.stride, runs.length};
  run_rows(table().scatter, base, in, row, {rows.count, rows.stride, bytes}, mode);
}

void copy_runs(std::byte* out, const std::byte* in, const PairedRuns& runs, CopyMode mode) {
  TESSERA_ASSERT(runs.length >= 0 && runs.count >= 0);
  if (runs.length == 0 || runs.count == 0) return;
  const CopyTable& all = table();
  const int64_t bytes = runs.length * runs.count;
  const bool dense_out = runs.out_stride == runs.length || runs.count == 1;
  const bool dense_in = runs.in_stride == runs.length || runs.count == 1;
  if (dense_out && dense_in) {
    return run(all.gather, out, in, {bytes, 1, bytes, bytes}, streams(mode, bytes));
  }
  if (dense_out) return run(all.gather, out, in, runs, streams(mode, bytes));
  run(dense_in ? all.scatter : all.copy, out, in, runs, streams(mode, bytes));
}

void copy_twice(std::byte* out, std::byte* seen, const std::byte* in, int64_t length) {
  TESSERA_ASSERT(length >= 0);
  table().copy_twice(out, seen, in, length);
}

void gather_list(std::byte* out, const std::byte* base, const RunList& list, CopyMode mode) {
  TESSERA_ASSERT(list.count >= 0);
  if (list.count == 0) return;
  const int64_t bytes = list.prefix[list.count] - list.prefix[0];
  if (bytes == 0) return;
  const CopyTable& all = table();
  (streams(mode, bytes) ? all.gather_list_streaming : all.gather_list)(out, base, list);
}

void scatter_list(std::byte* base, const std::byte* in, const RunList& list, CopyMode mode) {
  TESSERA_ASSERT(list.count >= 0);
  if (list.count == 0) return;
  const int64_t bytes = list.prefix[list.count] - list.prefix[0];
  if (bytes == 0) return;
  const CopyTable& all = table();
  (streams(mode, bytes) ? all.scatter_list_streaming : all.scatter_list)(base, in, list);
}

bool use_copy_level(CopyLevel level) {
  const CopyTable* table = table_of(level);
  if (table == nullptr) return false;
  active_table.store(table, std::memory_order_relaxed);
  return true;
}

}  // namespace tessera::pattern
