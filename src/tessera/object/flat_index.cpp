#include "tessera/object/flat_index.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <new>

#include "tessera/base/assert.hpp"
#include "tessera/base/checked.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace tessera::object {

// Each search descends by "how many keys of the node are at most a": an inner key is the last end
// below the child of the same number, so that many children lie wholly before a's first meeting.
// The three differ only in how they count; each is one function, so that it is inlined whole for
// its instruction set.
struct FlatIndex::Searches {
  static inline void prefetch_rest(const int64_t* leaf) {
    __builtin_prefetch(leaf + kKeys);
    __builtin_prefetch(leaf + kKeys + 8);
    __builtin_prefetch(leaf + 2 * kKeys);
  }

  static int64_t portable(const Shape& shape, int64_t a) {
    const auto count = [a](const int64_t* keys) {
      int64_t at_most = 0;
      for (int64_t i = 0; i < kKeys; ++i) at_most += static_cast<int64_t>(keys[i] <= a);
      return at_most;
    };
    int64_t node = 0;
    for (int level = 0; level < shape.inner_levels; ++level) {
      node = node * kFanout + count(shape.inner[level] + node * kKeys);
    }
    const int64_t* keys = shape.leaves + node * kLeafWords;
    prefetch_rest(keys);
    return node * kKeys + count(keys);
  }

#if defined(__x86_64__)
  __attribute__((target("avx512f,popcnt"))) static int64_t avx512(const Shape& shape, int64_t a) {
    const __m512i wanted = _mm512_set1_epi64(a);
    int64_t node = 0;
    for (int level = 0; level < shape.inner_levels; ++level) {
      const int64_t* keys = shape.inner[level] + node * kKeys;
      const auto low = _mm512_cmple_epi64_mask(_mm512_load_si512(keys), wanted);
      const auto high = _mm512_cmple_epi64_mask(_mm512_load_si512(keys + 8), wanted);
      node = node * kFanout + __builtin_popcount(static_cast<unsigned>(low | (high << 8)));
    }
    const int64_t* keys = shape.leaves + node * kLeafWords;
    prefetch_rest(keys);
    const auto low = _mm512_cmple_epi64_mask(_mm512_load_si512(keys), wanted);
    const auto high = _mm512_cmple_epi64_mask(_mm512_load_si512(keys + 8), wanted);
    return node * kKeys + __builtin_popcount(static_cast<unsigned>(low | (high << 8)));
  }

  __attribute__((target("avx2,popcnt"))) static int64_t avx2(const Shape& shape, int64_t a) {
    int64_t node = 0;
    for (int level = 0; level < shape.inner_levels; ++level) {
      node = node * kFanout + count_avx2(shape.inner[level] + node * kKeys, a);
    }
    const int64_t* keys = shape.leaves + node * kLeafWords;
    prefetch_rest(keys);
    return node * kKeys + count_avx2(keys, a);
  }

  __attribute__((target("avx2,popcnt"))) static inline int64_t count_avx2(const int64_t* keys,
                                                                          int64_t a) {
    const __m256i wanted = _mm256_set1_epi64x(a);
    unsigned above = 0;
    for (int64_t part = 0; part < 4; ++part) {
      const auto* four = reinterpret_cast<const __m256i*>(keys + 4 * part);
      const __m256i greater = _mm256_cmpgt_epi64(_mm256_load_si256(four), wanted);
      const int mask = _mm256_movemask_pd(_mm256_castsi256_pd(greater));
      above |= static_cast<unsigned>(mask) << (4 * part);
    }
    return kKeys - __builtin_popcount(above);
  }

#endif

  static Search choose(Instructions instructions) {
#if defined(__x86_64__)
    const bool best = instructions == Instructions::kBest;
    if ((best || instructions == Instructions::kAvx512) && __builtin_cpu_supports("avx512f"))
      return avx512;
    if ((best || instructions == Instructions::kAvx2) && __builtin_cpu_supports("avx2"))
      return avx2;
#else
    (void)instructions;
#endif
    return portable;
  }
};

namespace {

// A node is two cache lines and must not straddle a third; large indexes also gain from huge pages.
constexpr size_t kHugePageBytes = size_t{2} << 20;
constexpr size_t kNodeBytes = 128;

size_t bytes_of(int64_t words) { return static_cast<size_t>(words) * sizeof(int64_t); }

// Fresh memory from the system: what the allocator has used before is in small pages already.
std::shared_ptr<int64_t> allocate_huge(size_t bytes) {
  const size_t mapped = bytes + kHugePageBytes;
  void* memory = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  void* aligned = memory;
  size_t space = mapped;
  TESSERA_ASSERT(std::align(kHugePageBytes, bytes, aligned, space) != nullptr);
  (void)madvise(aligned, bytes, MADV_HUGEPAGE);  // a wish; small pages serve as well
  return {static_cast<int64_t*>(aligned), [memory, mapped](int64_t*) { munmap(memory, mapped); }};
}

std::shared_ptr<int64_t> allocate_words(int64_t count) {
  const size_t bytes = bytes_of(count);
  if (bytes >= kHugePageBytes) return allocate_huge(bytes);
  constexpr std::align_val_t kAlignment{kNodeBytes};
  return {static_cast<int64_t*>(::operator new(bytes, kAlignment)),
          [](int64_t* words) { ::operator delete(words, kAlignment); }};
}

}  // namespace

FlatIndex::FlatIndex(std::span<const pattern::Interval> intervals, std::span<const int32_t> values,
                     Instructions instructions)
    : size_(base::exact_cast<int64_t>(intervals.size())), search_(Searches::choose(instructions)) {
  TESSERA_ASSERT(values.empty() || values.size() == intervals.size());
  if (size_ == 0) return;
  last_end_ = intervals.back().end;
  std::vector<int64_t> level_nodes = {base::ceil_div(size_, kKeys)};  // from the leaves up
  while (level_nodes.back() > 1) level_nodes.push_back(base::ceil_div(level_nodes.back(), kFanout));
  TESSERA_ASSERT(level_nodes.size() <= kLevelsMax);
  word_count_ = level_nodes.front() * kLeafWords;
  for (size_t i = 1; i < level_nodes.size(); ++i) word_count_ += level_nodes[i] * kKeys;
  words_ = allocate_words(word_count_);
  // The inner levels come first: they are what stays in the cache.
  int64_t* leaves = words_.get() + (word_count_ - level_nodes.front() * kLeafWords);
  shape_.leaves = leaves;
  fill_leaves(intervals, values, leaves);
  fill_inner(level_nodes, words_.get());
}

void FlatIndex::fill_leaves(std::span<const pattern::Interval> intervals,
                            std::span<const int32_t> values, int64_t* leaves) {
  int64_t previous_end = INT64_MIN;
  for (int64_t i = 0; i < size_; ++i) {
    const pattern::Interval& interval = intervals[static_cast<size_t>(i)];
    TESSERA_ASSERT(interval.begin < interval.end && interval.begin >= previous_end);
    previous_end = interval.end;
    int64_t* key = leaves + i / kKeys * kLeafWords + i % kKeys;
    key[0] = interval.end;
    key[kKeys] = interval.begin;
    const int32_t value = values.empty() ? 0 : values[static_cast<size_t>(i)];
    const_cast<int32_t*>(values_of(leaves + i / kKeys * kLeafWords))[i % kKeys] = value;
  }
  for (int64_t i = size_; i % kKeys != 0; ++i) {
    int64_t* key = leaves + i / kKeys * kLeafWords + i % kKeys;
    key[0] = INT64_MAX;
    key[kKeys] = INT64_MAX;
  }
}

// Places the inner levels, the root first, and gives every key the last end below its child. A key
// without a child, or with the last one, is past every a that is searched for.
void FlatIndex::fill_inner(const std::vector<int64_t>& level_nodes, int64_t* words) {
  shape_.inner_levels = base::exact_cast<int>(level_nodes.size()) - 1;
  int64_t leaves_per_child = 1;
  std::vector<int64_t*> levels(level_nodes.size());
  for (size_t up = level_nodes.size() - 1; up >= 1; --up) {
    levels[up] = words;
    shape_.inner[level_nodes.size() - 1 - up] = words;
    words += level_nodes[up] * kKeys;
  }
  for (size_t up = 1; up < level_nodes.size(); ++up) {
    for (int64_t node = 0; node < level_nodes[up]; ++node) {
      for (int64_t key = 0; key < kKeys; ++key) {
        const int64_t next_child = node * kFanout + key + 1;
        const int64_t next = next_child * leaves_per_child * kKeys;
        levels[up][node * kKeys + key] = next < size_ ? (*this)[next - 1].end : INT64_MAX;
      }
    }
    leaves_per_child *= kFanout;
  }
}

IndexRange FlatIndex::meeting(int64_t a, int64_t b) const {
  if (a >= b) return IndexRange{};
  const int64_t first = first_meeting(a);
  // Most queries meet few intervals; past that a second search is cheaper than walking on.
  constexpr int64_t kWalkMax = 16;
  int64_t last = first;
  for (const int64_t walk_end = std::min(size_, first + kWalkMax); last < walk_end; ++last) {
    if ((*this)[last].begin >= b) return IndexRange{first, last};
  }
  if (last == size_) return IndexRange{first, last};
  last = first_meeting(b);
  if (last < size_ && (*this)[last].begin < b) ++last;
  return IndexRange{first, last};
}

int64_t FlatIndex::memory_bytes() const { return static_cast<int64_t>(bytes_of(word_count_)); }

}  // namespace tessera::object
