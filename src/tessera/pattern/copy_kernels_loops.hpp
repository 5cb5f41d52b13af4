// Private to the copy kernels: the loops, written once for all vector units.
//
// Every template takes the unit as its first parameter U, a type private to the file that
// instantiates it, so that no two files share an instantiation: they are compiled for different
// processors. U provides
//
//   move<N>(out, in): copies N bytes, a power of two up to 64, reading all before it writes any.
//
//   move_line(out, in): move<64>, in the vectors that suit long moves.
//
//   join(out, first, second): writes 8 bytes from first and 8 from second.
//
//   stream_line(out, in): writes the aligned line at out around the cache.
//
//   move_within_line(out, in, length): copies length <= 64 bytes, reads only these, and may write
//   up to out + 64.
//
//   prefetch(at), prefetch_write(at), prefetch_far(at): hint that the line will be read soon,
//   written soon, or read a little later. Any address will do.
//
//   pause(): waits until all instructions so far are done, but for their stores.
//
//   kStep: the size of these vectors, which need not be the widest.
//
// Thread safety: pure functions.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "tessera/base/page.hpp"
#include "tessera/pattern/copy_kernels_table.hpp"

namespace tessera::pattern::loops {

enum class Sides { kGather, kScatter, kCopy };

// The distance between runs; a constant for the compiler where the side is contiguous and the
// length known.
template <Sides S>
struct Steps {
  int64_t out;
  int64_t in;
  [[gnu::always_inline]] Steps(const PairedRuns& runs, int64_t length)
      : out(S == Sides::kGather ? length : runs.out_stride),
        in(S == Sides::kScatter ? length : runs.in_stride) {}
};

template <int N>
[[gnu::always_inline]] inline int64_t misalignment(const std::byte* at) {
  return static_cast<int64_t>(reinterpret_cast<uintptr_t>(at) % N);
}

[[gnu::always_inline]] inline int64_t bytes_to_line(const std::byte* at) {
  return static_cast<int64_t>(-reinterpret_cast<uintptr_t>(at) % kLineBytes);
}

// N bytes, a power of two.
template <class U, int N>
[[gnu::always_inline]] inline void move_power(std::byte* out, const std::byte* in) {
  if constexpr (N <= 4 * kLineBytes) {
    U::template move<N>(out, in);
  } else {
    for (int k = 0; k < N; k += U::kStep) U::template move<U::kStep>(out + k, in + k);
  }
}

// H to 2 H bytes.
template <class U, int H>
[[gnu::always_inline]] inline void move_twice(std::byte* out, const std::byte* in, int64_t length) {
  U::template move<H>(out, in);
  U::template move<H>(out + length - H, in + length - H);
}

// Runs of exactly N bytes.
template <class U, Sides S, int N>
void exact_runs(std::byte* out, const std::byte* in, const PairedRuns& runs) {
  const Steps<S> step(runs, N);
  int64_t left = runs.count;
  for (; left >= 4; left -= 4) {
    move_power<U, N>(out, in);
    move_power<U, N>(out + step.out, in + step.in);
    move_power<U, N>(out + 2 * step.out, in + 2 * step.in);
    move_power<U, N>(out + 3 * step.out, in + 3 * step.in);
    out += 4 * step.out;
    in += 4 * step.in;
  }
  for (; left > 0; --left) {
    move_power<U, N>(out, in);
    out += step.out;
    in += step.in;
  }
}

// Runs of a few words, one word after the other. Slower than vectors in the cache; out of it the
// memory sets the pace, and a loop that asks for no more than one line at a time leaves the
// processor's own reading ahead undisturbed.
template <class U, Sides S, int64_t Bytes>
void word_runs(std::byte* out, const std::byte* in, const PairedRuns& runs) {
  const Steps<S> step(runs, Bytes);
  for (int64_t left = runs.count; left > 0; --left) {
    for (int64_t k = 0; k < Bytes; k += 8) U::template move<8>(out + k, in + k);
    out += step.out;
    in += step.in;
  }
}

// Runs of 8 bytes into a contiguous side, two to a store: the stores are what limits this loop.
template <class U>
void joined_gather(std::byte* out, const std::byte* in, const PairedRuns& runs) {
  const int64_t stride = runs.in_stride;
  int64_t left = runs.count;
  for (; left >= 4; left -= 4) {
    U::join(out, in, in + stride);
    U::join(out + 16, in + 2 * stride, in + 3 * stride);
    out += 32;
    in += 4 * stride;
  }
  for (; left > 0; --left) {
    U::template move<8>(out, in);
    out += 8;
    in += stride;
  }
}

// Runs of H to 2 H bytes, by two moves of H that may overlap.
template <class U, Sides S, int H>
void overlapped_runs(std::byte* out, const std::byte* in, const PairedRuns& runs) {
  const Steps<S> step(runs, runs.length);
  const int64_t last = runs.length - H;
  for (int64_t left = runs.count; left > 0; --left) {
    U::template move<H>(out, in);
    U::template move<H>(out + last, in + last);
    out += step.out;
    in += step.in;
  }
}

// Runs of W / 2 to W bytes into a contiguous side, by one move of W: what it writes behind the run
// is overwritten by the next run, what it reads behind the run lies before the end of the next. A
// gap of a page could hold an unmapped one; in a smaller gap every page also belongs to a run.
template <class U, int W>
void sloppy_gather(std::byte* out, const std::byte* in, const PairedRuns& runs) {
  int64_t left = runs.count;
  if (runs.in_stride >= W - runs.length && runs.in_stride - runs.length < base::kPageBytes) {
    for (; left > 1; --left) {
      U::template move<W>(out, in);
      out += runs.length;
      in += runs.in_stride;
    }
  }
  PairedRuns rest = runs;
  rest.count = left;
  overlapped_runs<U, Sides::kGather, W / 2>(out, in, rest);
}

// Two steps or more. The stores between the first and the last are aligned: one that crosses a
// line costs two.
template <class U>
[[gnu::always_inline]] inline void move_short(std::byte* out, const std::byte* in, int64_t length) {
  constexpr int kStep = U::kStep;
  U::template move<kStep>(out, in);
  for (int64_t k = kStep - misalignment<kStep>(out); k + kStep < length; k += kStep) {
    U::template move<kStep>(out + k, in + k);
  }
  U::template move<kStep>(out + length - kStep, in + length - kStep);
}

// Less than a line.
template <class U>
[[gnu::always_inline]] inline void move_tail(std::byte* out, const std::byte* in, int64_t length) {
  if (length >= 32) return move_twice<U, 32>(out, in, length);
  if (length >= 16) return move_twice<U, 16>(out, in, length);
  if (length >= 8) return move_twice<U, 8>(out, in, length);
  if (length >= 4) return move_twice<U, 4>(out, in, length);
  if (length >= 2) return move_twice<U, 2>(out, in, length);
  if (length == 1) U::template move<1>(out, in);
}

// Processors compare a load with earlier stores by the lowest 12 bits of the address first, and let
// it wait where they meet. Going up, this happens if the source lies just below the destination;
// in short runs, turning round would cost more.
[[gnu::always_inline]] inline bool loads_meet_stores(const std::byte* out, const std::byte* in,
                                                     int64_t length) {
  const auto distance = reinterpret_cast<uintptr_t>(out) - reinterpret_cast<uintptr_t>(in);
  return length >= 4096 && (distance - 1) % 4096 < 1023;
}

// A line or more. The tail is exact: reading it as part of a whole vector may cross into a page
// that nothing else needs, which costs more than the branches.
template <class U>
inline void move_long(std::byte* out, const std::byte* in, int64_t length) {
  const int64_t begin = bytes_to_line(out);
  const int64_t end = begin + (length - begin) / kLineBytes * kLineBytes;
  if (begin != 0) U::move_line(out, in);
  if (loads_meet_stores(out, in, length)) {
    for (int64_t k = end; k > begin; k -= 64) U::move_line(out + k - 64, in + k - 64);
  } else {
    int64_t k = begin;
    for (; k + 256 <= end; k += 256) {
      U::move_line(out + k, in + k);
      U::move_line(out + k + 64, in + k + 64);
      U::move_line(out + k + 128, in + k + 128);
      U::move_line(out + k + 192, in + k + 192);
    }
    for (; k < end; k += 64) U::move_line(out + k, in + k);
  }
  if (end != length) move_tail<U>(out + end, in + end, length - end);
}

// Any length.
template <class U>
[[gnu::always_inline]] inline void move_any(std::byte* out, const std::byte* in, int64_t length) {
  if (length > kShortMax) return move_long<U>(out, in, length);
  if (length >= kLineBytes) return move_short<U>(out, in, length);
  move_tail<U>(out, in, length);
}

template <class U, Sides S>
void short_runs(std::byte* out, const std::byte* in, const PairedRuns& runs) {
  const Steps<S> step(runs, runs.length);
  for (int64_t left = runs.count; left > 0; --left) {
    move_short<U>(out, in, runs.length);
    out += step.out;
    in += step.in;
  }
}

// The C library's copy is as good as any, but for a few pages, where turning round pays.
template <class U, Sides S>
void long_runs(std::byte* out, const std::byte* in, const PairedRuns& runs) {
  const Steps<S> step(runs, runs.length);
  const bool turns = runs.length >= base::kPageBytes && runs.length < 4 * base::kPageBytes;
  const auto move = turns ? move_long<U> : move_by_library;
  for (int64_t left = runs.count; left > 0; --left) {
    move(out, in, runs.length);
    out += step.out;
    in += step.in;
  }
}

template <class U>
void gather_list_cached(std::byte* out, const std::byte* base, const RunList& list) {
  const int64_t begin = list.prefix[0];
  const int64_t end = list.prefix[list.count];
  for (int64_t i = 0; i < list.count; ++i) {
    const int64_t at = list.prefix[i];
    const int64_t length = list.prefix[i + 1] - at;
    if (length <= kLineBytes && end - at >= kLineBytes) {
      U::move_within_line(out + (at - begin), base + list.at[i], length);
    } else {
      move_any<U>(out + (at - begin), base + list.at[i], length);
    }
  }
}

template <class U>
void scatter_list_cached(std::byte* base, const std::byte* in, const RunList& list) {
  const int64_t begin = list.prefix[0];
  for (int64_t i = 0; i < list.count; ++i) {
    const int64_t at = list.prefix[i];
    move_any<U>(base + list.at[i], in + (at - begin), list.prefix[i + 1] - at);
  }
}

}  // namespace tessera::pattern::loops
