// The copy kernels for x86 processors with 512-bit vectors.
#include "tessera/pattern/copy_kernels_table.hpp"

#if defined(__x86_64__)

#include <immintrin.h>

#include <algorithm>
#include <bit>
#include <cstring>

// The loops are compiled for this processor by including them below the pragma. What they include
// themselves is included above it: shared code must keep running everywhere.
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx512f,avx512bw,avx512vl,bmi2,prfchw"))), \
                             apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512vl,bmi2,prfchw")
#endif

#include "tessera/pattern/copy_kernels_streams.hpp"

namespace tessera::pattern {
namespace {

[[gnu::always_inline]] inline __m256i load(const std::byte* in) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(in));
}

[[gnu::always_inline]] inline void store(std::byte* out, __m256i value) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), value);
}

struct Avx512 {
  static constexpr int kStep = 32;

  template <int N>
  [[gnu::always_inline]] static void move(std::byte* out, const std::byte* in) {
    if constexpr (N == 64) {
      _mm512_storeu_si512(out, _mm512_loadu_si512(in));
    } else if constexpr (N == 32) {
      store(out, load(in));
    } else if constexpr (N == 16) {
      _mm_storeu_si128(reinterpret_cast<__m128i*>(out),
                       _mm_loadu_si128(reinterpret_cast<const __m128i*>(in)));
    } else {
      std::byte bytes[N];
      std::memcpy(bytes, in, N);
      std::memcpy(out, bytes, N);
    }
  }
  [[gnu::always_inline]] static void move_line(std::byte* out, const std::byte* in) {
    const __m256i low = load(in);
    const __m256i high = load(in + 32);
    store(out, low);
    store(out + 32, high);
  }
  [[gnu::always_inline]] static void join(std::byte* out, const std::byte* first,
                                          const std::byte* second) {
    double low = 0;
    double high = 0;
    std::memcpy(&low, first, 8);
    std::memcpy(&high, second, 8);
    const __m128i both = _mm_castpd_si128(_mm_set_pd(high, low));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out), both);
  }
  [[gnu::always_inline]] static void stream_line(std::byte* out, const std::byte* in) {
    _mm512_stream_si512(reinterpret_cast<__m512i*>(out), _mm512_loadu_si512(in));
  }
  [[gnu::always_inline]] static void move_within_line(std::byte* out, const std::byte* in,
                                                      int64_t length) {
    const __mmask64 mask = _bzhi_u64(~uint64_t{0}, static_cast<unsigned>(length));
    _mm512_storeu_si512(out, _mm512_maskz_loadu_epi8(mask, in));
  }
  [[gnu::always_inline]] static void prefetch(const std::byte* at) { __builtin_prefetch(at, 0, 3); }
  [[gnu::always_inline]] static void prefetch_far(const std::byte* at) {
    __builtin_prefetch(at, 0, 2);
  }
  [[gnu::always_inline]] static void prefetch_write(const std::byte* at) {
    __builtin_prefetch(at, 1, 3);
  }
  [[gnu::always_inline]] static void pause() { _mm_lfence(); }
};

}  // namespace

const CopyTable* copy_table_avx512() { return &loops::table<Avx512>(); }

}  // namespace tessera::pattern

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

#endif
