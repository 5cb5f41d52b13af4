// Private to the copy kernels: the loops that write around the cache, and the table of all loops.
//
// Written once for all vector units, as copy_kernels_loops.hpp explains. Non-temporal stores pay
// only for whole lines, so a gather first collects lines, in a buffer that stays in the nearest
// cache, and a scatter streams only the lines inside of a run.
//
// The rest is about keeping the memory busy. Lines are asked for in bursts, a batch of runs at a
// time, followed by a pause: a processor let loose on short runs starts so many accesses that miss
// the cache that no buffer is left for its own reading ahead, which would have found more of them.
// The constants are measured (Zen 4) and not critical: half or twice costs some percent.
// Thread safety: pure functions.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "tessera/pattern/copy_kernels_loops.hpp"

namespace tessera::pattern::loops {

// Runs up to this length are collected before they are streamed out.
inline constexpr int64_t kCollectMax = 512;
inline constexpr int64_t kCollectBytes = 2048 - 2 * kLineBytes;
// Longer runs are read in blocks, the lines of a later block being asked for before each.
inline constexpr int64_t kBlockBytes = 1024;
inline constexpr int64_t kAheadBytes = 8192;
// A scatter streams runs from this length up; shorter ones have too few whole lines.
inline constexpr int64_t kScatterStreamMin = 512;
inline constexpr int64_t kScatterBatchBytes = 256;
inline constexpr int64_t kScatterAheadBytes = 512;
// Runs no more than this apart are asked for as one region: the processor recognises an unbroken
// walk and runs ahead of it, which is worth more than the lines in the gaps.
inline constexpr int64_t kNearBytes = 512;

[[gnu::always_inline]] inline bool are_near(const StridedRuns& runs) {
  return runs.stride >= 0 && runs.stride - runs.length <= kNearBytes;
}

// What one batch of runs covers, the gap behind the last one included: a walk without breaks.
[[gnu::always_inline]] inline int64_t region_bytes(const StridedRuns& batch) {
  return batch.count * batch.stride;
}

template <class U>
[[gnu::always_inline]] inline void ask_for_source(const std::byte* at, const StridedRuns& batch) {
  if (are_near(batch)) {
    for (int64_t k = 0; k < region_bytes(batch); k += kLineBytes) U::prefetch(at + k);
    return;
  }
  for (int64_t i = 0; i < batch.count; ++i) U::prefetch(at + i * batch.stride);
}

template <class U>
[[gnu::always_inline]] inline void ask_for_target(const std::byte* at, const StridedRuns& batch) {
  if (are_near(batch)) {
    const int64_t bytes = region_bytes(batch);
    for (int64_t k = 0; k < bytes; k += kLineBytes) U::prefetch_write(at + k);
    for (int64_t k = 0; k < kScatterAheadBytes; k += kLineBytes) U::prefetch_far(at + bytes + k);
    return;
  }
  for (int64_t i = 0; i < batch.count; ++i) U::prefetch_write(at + i * batch.stride);
}

// Asks for source lines kAheadBytes before they are read, walking the same runs in the same order.
// Into the second cache only: the buffers of the first for lines under way are too few.
template <class U>
class Ahead {
 public:
  Ahead(const std::byte* in, int64_t length, int64_t stride, int64_t count)
      : run_(in + (kAheadBytes / length) * stride),
        at_(kAheadBytes % length),
        left_(count - kAheadBytes / length),
        length_(length),
        stride_(stride) {}

  [[gnu::always_inline]] void ask(int64_t bytes) {
    for (; bytes > 0 && left_ > 0; bytes -= kLineBytes) {
      U::prefetch_far(run_ + at_);
      at_ += kLineBytes;
      if (at_ >= length_) {
        at_ = 0;
        run_ += stride_;
        --left_;
      }
    }
  }

 private:
  const std::byte* run_;
  int64_t at_;
  int64_t left_;
  int64_t length_;
  int64_t stride_;
};

template <class U>
[[gnu::always_inline]] inline void stream_lines(std::byte* out, const std::byte* in,
                                                int64_t lines) {
  for (int64_t k = 0; k < lines * kLineBytes; k += kLineBytes) U::stream_line(out + k, in + k);
}

// A contiguous destination, filled from its beginning to its end in pieces of any length. Only its
// first and last partial lines are written by plain stores. Requires a line in all, or more.
template <class U>
class LineStream {
 public:
  explicit LineStream(std::byte* out)
      : lead_(misalignment<kLineBytes>(out)), held_(lead_), out_(out - lead_) {}
  ~LineStream() { move_tail<U>(out_, line_, held_); }
  LineStream(const LineStream&) = delete;
  LineStream& operator=(const LineStream&) = delete;

  // Room for the next kCollectBytes, to be filled and then committed.
  std::byte* space() { return line_ + held_; }

  void commit(int64_t bytes) {
    const int64_t total = held_ + bytes;
    const int64_t lines = total / kLineBytes;
    held_ = total % kLineBytes;
    if (lines == 0) return;
    emit_line();
    stream_lines<U>(out_, line_ + kLineBytes, lines - 1);
    out_ += (lines - 1) * kLineBytes;
    U::template move<kLineBytes>(line_, line_ + lines * kLineBytes);
  }

  void append(const std::byte* in, int64_t length) {
    if (held_ > 0) {
      const int64_t part = std::min(length, kLineBytes - held_);
      hold(in, part);
      if (held_ < kLineBytes) return;
      emit_line();
      held_ = 0;
      in += part;
      length -= part;
    }
    const int64_t lines = length / kLineBytes;
    stream_lines<U>(out_, in, lines);
    out_ += lines * kLineBytes;
    hold(in + lines * kLineBytes, length % kLineBytes);
  }

 private:
  void hold(const std::byte* in, int64_t part) {
    move_tail<U>(line_ + held_, in, part);
    held_ += part;
  }

  void emit_line() {
    if (lead_ > 0) [[unlikely]] {
      move_tail<U>(out_ + lead_, line_ + lead_, kLineBytes - lead_);
      lead_ = 0;
    } else {
      U::stream_line(out_, line_);
    }
    out_ += kLineBytes;
  }

  // The bytes of the current line, the space behind them, and a line for sloppy moves. Within one
  // page, for a store that crosses into the next one stalls all that follow.
  alignas(2048) std::byte line_[kCollectBytes + 2 * kLineBytes];
  int64_t lead_;  // bytes of the first line that lie before the destination
  int64_t held_;
  std::byte* out_;  // the current line, always aligned
};

template <class U>
const CopyTable& table();

template <class U>
void stream_gather_long(std::byte* out, const std::byte* in, const PairedRuns& runs) {
  LineStream<U> stream(out);
  Ahead<U> ahead(in, runs.length, runs.in_stride, runs.count);
  for (int64_t left = runs.count; left > 0; --left) {
    for (int64_t k = 0; k < runs.length; k += kBlockBytes) {
      const int64_t part = std::min(kBlockBytes, runs.length - k);
      ahead.ask(part);
      stream.append(in + k, part);
    }
    in += runs.in_stride;
  }
}

// The loop over words for runs of 1 to 4 of them that lie near each other; none for others.
template <class U, Sides S>
RunKernel near_words(const StridedRuns& runs) {
  if (!are_near(runs) || runs.length > 32 || runs.length % 8 != 0) return nullptr;
  constexpr RunKernel kKernels[] = {word_runs<U, S, 8>, word_runs<U, S, 16>, word_runs<U, S, 24>,
                                    word_runs<U, S, 32>};
  return kKernels[runs.length / 8 - 1];
}

template <class U>
void stream_gather(std::byte* out, const std::byte* in, const PairedRuns& runs) {
  StridedRuns batch = {runs.length, runs.count, runs.in_stride};
  // Two and four words come whole from one line, which leaves nothing to collect.
  if (const RunKernel words = near_words<U, Sides::kGather>(batch);
      words != nullptr && std::has_single_bit(static_cast<uint64_t>(runs.length)) &&
      runs.length > 8) {
    return words(out, in, runs);
  }
  if (runs.length > (are_near(batch) ? kCollectMax : kLineBytes)) {
    return stream_gather_long<U>(out, in, runs);
  }
  LineStream<U> stream(out);
  const RunKernel gather = table<U>().gather.cached(runs.length);
  for (int64_t left = runs.count; left > 0; left -= batch.count) {
    batch.count = std::min(left, kCollectBytes / runs.length);
    ask_for_source<U>(in, batch);
    U::pause();
    gather(stream.space(), in, {runs.length, batch.count, runs.length, runs.in_stride});
    stream.commit(batch.count * runs.length);
    in += batch.count * runs.in_stride;
  }
}

// One run whose neighbours in memory are not ours.
template <class U>
[[gnu::always_inline]] inline void stream_run(std::byte* out, const std::byte* in, int64_t length) {
  const int64_t head = bytes_to_line(out);
  const int64_t lines = (length - head) / kLineBytes;
  const int64_t tail = head + lines * kLineBytes;
  move_tail<U>(out, in, head);
  stream_lines<U>(out + head, in + head, lines);
  move_tail<U>(out + tail, in + tail, length - tail);
}

// Runs with too few whole lines: plain stores, but with the destination asked for in batches.
template <class U, Sides S>
void plain_runs(std::byte* out, const std::byte* in, const PairedRuns& runs) {
  const Steps<S> step(runs, runs.length);
  if (const RunKernel words = near_words<U, S>({runs.length, runs.count, step.out})) {
    return words(out, in, runs);
  }
  const CopyTable& all = table<U>();
  const RunKernel move = (S == Sides::kScatter ? all.scatter : all.copy).cached(runs.length);
  PairedRuns batch = runs;
  for (int64_t left = runs.count; left > 0; left -= batch.count) {
    batch.count = std::min(left, std::max<int64_t>(1, kScatterBatchBytes / runs.length));
    ask_for_target<U>(out, {runs.length, batch.count, step.out});
    U::pause();
    move(out, in, batch);
    out += batch.count * step.out;
    in += batch.count * step.in;
  }
}

template <class U, Sides S>
void stream_runs(std::byte* out, const std::byte* in, const PairedRuns& runs) {
  const Steps<S> step(runs, runs.length);
  const bool whole_lines =
      bytes_to_line(out) == 0 && runs.length % kLineBytes == 0 && step.out % kLineBytes == 0;
  if (runs.length < kScatterStreamMin && !whole_lines) return plain_runs<U, S>(out, in, runs);
  for (int64_t left = runs.count; left > 0; --left) {
    stream_run<U>(out, in, runs.length);
    out += step.out;
    in += step.in;
  }
}

// The end of the runs from begin on that together have at most so many bytes.
template <class U>
int64_t batch_end(const RunList& list, int64_t begin, int64_t bytes) {
  int64_t end = begin;
  while (end < list.count && list.prefix[end + 1] - list.prefix[begin] <= bytes) ++end;
  return end;
}

template <class U>
void gather_list_streaming(std::byte* out, const std::byte* base, const RunList& list) {
  LineStream<U> stream(out);
  for (int64_t i = 0; i < list.count;) {
    const int64_t end = batch_end<U>(list, i, kCollectMax);
    for (int64_t j = i; j < end; ++j) U::prefetch(base + list.at[j]);
    gather_list_cached<U>(stream.space(), base, {list.at + i, list.prefix + i, end - i});
    stream.commit(list.prefix[end] - list.prefix[i]);
    i = end;
    if (end < list.count && list.prefix[end + 1] - list.prefix[end] > kCollectMax) {
      stream.append(base + list.at[end], list.prefix[end + 1] - list.prefix[end]);
      ++i;
    }
  }
}

template <class U>
void scatter_list_streaming(std::byte* base, const std::byte* in, const RunList& list) {
  const int64_t begin = list.prefix[0];
  for (int64_t i = 0; i < list.count;) {
    const int64_t end = batch_end<U>(list, i, kScatterBatchBytes);
    for (int64_t j = i; j < end; ++j) U::prefetch_write(base + list.at[j]);
    U::pause();
    scatter_list_cached<U>(base, in + (list.prefix[i] - begin),
                           {list.at + i, list.prefix + i, end - i});
    i = end;
    if (end < list.count && list.prefix[end + 1] - list.prefix[end] > kScatterBatchBytes) {
      stream_run<U>(base + list.at[end], in + (list.prefix[end] - begin),
                    list.prefix[end + 1] - list.prefix[end]);
      ++i;
    }
  }
}

// What goes on is loaded from `seen`, where it is in the nearest cache. Each step but the last ends
// where a line of the target does.
template <class U>
void copy_twice(std::byte* out, std::byte* seen, const std::byte* in, int64_t length) {
  int64_t step = bytes_to_line(out) + kBlockBytes;
  for (int64_t done = 0; done < length; done += step, step = kBlockBytes) {
    const int64_t part = std::min(step, length - done);
    for (int64_t k = 0; k < part; k += kLineBytes) U::prefetch_far(in + done + kAheadBytes + k);
    move_by_library(seen + done, in + done, part);
    if (part < kLineBytes) {
      move_by_library(out + done, seen + done, part);
    } else {
      stream_run<U>(out + done, seen + done, part);
    }
  }
}

template <class U, Sides S>
constexpr RunKernels run_kernels() {
  return {
      {exact_runs<U, S, 1>, exact_runs<U, S, 2>, exact_runs<U, S, 4>, exact_runs<U, S, 8>,
       exact_runs<U, S, 16>, exact_runs<U, S, 32>, exact_runs<U, S, 64>, exact_runs<U, S, 128>,
       exact_runs<U, S, 256>, long_runs<U, S>},
      {nullptr, nullptr, overlapped_runs<U, S, 2>, overlapped_runs<U, S, 4>,
       overlapped_runs<U, S, 8>, overlapped_runs<U, S, 16>, overlapped_runs<U, S, 32>,
       short_runs<U, S>, short_runs<U, S>, long_runs<U, S>},
      stream_runs<U, S>,
  };
}

template <class U>
constexpr RunKernels gather_kernels() {
  RunKernels kernels = run_kernels<U, Sides::kGather>();
  kernels.streaming = stream_gather<U>;
  kernels.power_of_two[3] = joined_gather<U>;
  kernels.other[2] = sloppy_gather<U, 4>;
  kernels.other[3] = sloppy_gather<U, 8>;
  kernels.other[4] = sloppy_gather<U, 16>;
  kernels.other[5] = sloppy_gather<U, 32>;
  kernels.other[6] = sloppy_gather<U, 64>;
  return kernels;
}

template <class U>
inline constexpr CopyTable kTable = {
    gather_kernels<U>(),
    run_kernels<U, Sides::kScatter>(),
    run_kernels<U, Sides::kCopy>(),
    gather_list_cached<U>,
    scatter_list_cached<U>,
    gather_list_streaming<U>,
    scatter_list_streaming<U>,
    copy_twice<U>,
};

template <class U>
const CopyTable& table() {
  return kTable<U>;
}

}  // namespace tessera::pattern::loops
