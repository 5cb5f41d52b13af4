// The copy kernels for every 64-bit x86 processor.
#include "tessera/pattern/copy_kernels_table.hpp"

#if defined(__x86_64__)

#include <emmintrin.h>

#include <cstring>

#include "tessera/pattern/copy_kernels_streams.hpp"

namespace tessera::pattern {
namespace {

__m128i load(const std::byte* in) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(in)); }

struct Sse2 {
  static constexpr int kStep = 16;

  template <int N>
  [[gnu::always_inline]] static void move(std::byte* out, const std::byte* in) {
    if constexpr (N < 16) {
      std::byte bytes[N];
      std::memcpy(bytes, in, N);
      std::memcpy(out, bytes, N);
    } else {
      __m128i part[N / 16];
      for (int k = 0; k < N; k += 16) part[k / 16] = load(in + k);
      for (int k = 0; k < N; k += 16) {
        _mm_storeu_si128(reinterpret_cast<__m128i*>(out + k), part[k / 16]);
      }
    }
  }
  [[gnu::always_inline]] static void move_line(std::byte* out, const std::byte* in) {
    move<64>(out, in);
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
    for (int k = 0; k < kLineBytes; k += 16) {
      _mm_stream_si128(reinterpret_cast<__m128i*>(out + k), load(in + k));
    }
  }
  [[gnu::always_inline]] static void move_within_line(std::byte* out, const std::byte* in,
                                                      int64_t length) {
    loops::move_any<Sse2>(out, in, length);
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

const CopyTable* copy_table_sse2() { return &loops::table<Sse2>(); }

}  // namespace tessera::pattern

#endif
