/* Memory for measurements, allocated and touched in one way by ours and by every peer process.
 *
 * Where two contestants get pages of another kind or placement, the benchmark measures the pages.
 * Every buffer begins on a huge page boundary, is advised to be backed by huge pages, and is
 * written once before use. Plain C, because the MPI peers are compiled with the MPI's own C
 * compiler. Thread safety: no state. */
#ifndef TESSERA_BENCH_MEMORY_H
#define TESSERA_BENCH_MEMORY_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define BENCH_HUGE_PAGE_BYTES ((size_t)2 << 20)

/* Where in physical memory a buffer lies decides which of its lines compete for a place in the
 * cache, and is luck. So what fits into the cache is measured in several sets of buffers in turn,
 * one a round; what does not fit needs one. */
#define BENCH_SETS_MAX 5
static inline int bench_set_count(size_t size_bytes) {
  return size_bytes <= ((size_t)1 << 20) ? BENCH_SETS_MAX : 1;
}

/* The caller frees it with free(). NULL where there is no memory. */
static inline unsigned char* bench_allocate(size_t size_bytes) {
  const size_t whole =
      (size_bytes + BENCH_HUGE_PAGE_BYTES - 1) / BENCH_HUGE_PAGE_BYTES * BENCH_HUGE_PAGE_BYTES;
  void* memory = NULL;
  if (posix_memalign(&memory, BENCH_HUGE_PAGE_BYTES, whole) != 0) return NULL;
  /* Advice only: without huge pages all contestants do without. */
  (void)madvise(memory, whole, MADV_HUGEPAGE);
  memset(memory, 1, whole);
  return (unsigned char*)memory;
}

/* Bytes whose value tells their position, so that a misplaced one is seen. */
static inline void bench_fill(unsigned char* buffer, size_t size_bytes) {
  for (size_t i = 0; i < size_bytes; ++i) buffer[i] = (unsigned char)(i * 131u + (i >> 8) * 17u);
}

#endif
