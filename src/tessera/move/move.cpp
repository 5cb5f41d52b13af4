#include "tessera/move/move.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "tessera/base/assert.hpp"
#include "tessera/base/checked.hpp"
#include "tessera/pattern/copy.hpp"
#include "tessera/pattern/cursor.hpp"
#include "tessera/pattern/join.hpp"

namespace tessera::move {

namespace {

// The packed buffer between two irregular patterns: small enough to stay in a core's cache.
constexpr int64_t kStagingBytes = int64_t{256} << 10;
// A join is tried where both patterns are told in a few words and the copy is worth the attempt,
// which gives up after a few microseconds.
constexpr int64_t kJoinWeightMax = 16;
constexpr int64_t kJoinBytesMin = int64_t{16} << 10;
// Patterns that are told in more words than this are irregular.
constexpr int64_t kRegularWeightMax = 256;
constexpr int64_t kLongRunBytes = 4096;
// Shorter runs are collected before they are written around the caches.
constexpr int64_t kCollectedRunBytes = 512;
constexpr pattern::Budget kJoinBudget = {.steps = 32, .max_runs = 0};
// Runs of this length on both sides are copied one by one sooner than packed and unpacked.
constexpr int64_t kPairedRunBytes = 128;

// The file's pattern, seen from the buffer.
Pattern in_buffer(const Move& move, int64_t begin) {
  TESSERA_ASSERT(move.file.size() == move.memory.size());
  if (move.file.empty()) return {};
  TESSERA_ASSERT(move.file.span().begin >= begin);
  return move.file.shifted({{-begin}}).value();
}

bool are_long_runs(const Pattern& a, const Pattern& b) {
  return a.size() >= kPairedRunBytes * std::max(a.runs(), b.runs());
}

// Copies from one pattern to another of the same size.
struct Copy {
  std::byte* to;
  const Pattern& to_pattern;
  const std::byte* from;
  const Pattern& from_pattern;

  [[nodiscard]] bool joined() const;
  void paired() const;
  void staged() const;
  void run() const;
};

// The runs of a pattern one after the other, of which parts may be taken.
class Runs {
 public:
  explicit Runs(const Pattern& pattern) : cursor_(pattern) { next_stripe(); }

  [[nodiscard]] int64_t at() const { return stripe_.at[0] + taken_; }
  [[nodiscard]] int64_t left() const { return stripe_.length - taken_; }
  // Runs of left() bytes from here on that lie in one stripe, and their distance.
  [[nodiscard]] int64_t alike() const { return taken_ == 0 ? stripe_.count : 1; }
  [[nodiscard]] int64_t stride() const { return stripe_.stride[0]; }

  // Part of a run. Requires length <= left().
  void take(int64_t length) {
    taken_ += length;
    if (taken_ == stripe_.length) take_runs(1);
  }
  // Requires count <= alike().
  void take_runs(int64_t count) {
    taken_ = 0;
    stripe_.at += stripe_.stride * count;
    stripe_.count -= count;
    if (stripe_.count == 0) next_stripe();
  }

 private:
  void next_stripe() {
    if (!cursor_.next(stripe_)) stripe_ = {};
  }

  pattern::Cursor<1> cursor_;
  pattern::Stripe<1> stripe_;
  int64_t taken_ = 0;  // of the first run
};

bool Copy::joined() const {
  if (to_pattern.size() < kJoinBytesMin) return false;
  if (to_pattern.shape().weight() + from_pattern.shape().weight() > kJoinWeightMax) return false;
  const auto pairs = pattern::join(from_pattern, to_pattern, kJoinBudget);
  if (!pairs) return false;
  pattern::copy_pairs(to, from, *pairs);
  return true;
}

void Copy::paired() const {
  constexpr auto kCached = pattern::CopyMode::kCached;
  Runs into(to_pattern);
  Runs out_of(from_pattern);
  for (int64_t left = to_pattern.size(); left > 0;) {
    const int64_t length = std::min(into.left(), out_of.left());
    if (into.left() == out_of.left()) {
      const int64_t runs = std::min(into.alike(), out_of.alike());
      pattern::copy_runs(to + into.at(), from + out_of.at(),
                         {length, runs, into.stride(), out_of.stride()}, kCached);
      into.take_runs(runs);
      out_of.take_runs(runs);
      left -= length * runs;
    } else {
      std::memcpy(to + into.at(), from + out_of.at(), static_cast<size_t>(length));
      into.take(length);
      out_of.take(length);
      left -= length;
    }
  }
}

void Copy::staged() const {
  const int64_t size = to_pattern.size();
  const int64_t piece = std::min(size, kStagingBytes);
  const auto packed = std::make_unique_for_overwrite<std::byte[]>(base::exact_cast<size_t>(piece));
  for (int64_t at = 0; at < size; at += piece) {
    const Interval stream = {at, std::min(at + piece, size)};
    pattern::gather(packed.get(), from, from_pattern, stream, pattern::CopyMode::kCached);
    pattern::scatter(to, packed.get(), to_pattern, stream, pattern::CopyMode::kCached);
  }
}

void Copy::run() const {
  if (to_pattern.empty()) return;
  if (from_pattern.runs() == 1) {
    pattern::scatter(to, from + from_pattern.at()[0], to_pattern);
  } else if (to_pattern.runs() == 1) {
    pattern::gather(to + to_pattern.at()[0], from, from_pattern);
  } else if (are_long_runs(to_pattern, from_pattern)) {
    paired();
  } else if (!joined()) {
    staged();
  }
}

}  // namespace

const char* direction_name(Direction direction) {
  return direction == Direction::kRead ? "read" : "write";
}

Move Move::clip(Interval stream) const {
  return {direction, file.clip(stream), memory.clip(stream), base};
}

bool has_long_runs(const Move& move) { return are_long_runs(move.file, move.memory); }

int64_t cores_for(int processes) {
  static const int64_t online = std::max(1L, ::sysconf(_SC_NPROCESSORS_ONLN));
  return std::min<int64_t>(processes, online);
}

pattern::CopyMode copy_mode(const Move& move, int companions) {
  // Going around the caches does not pay for irregular short runs, nor for reading short runs while
  // others use the same cores.
  const int64_t run = move.size() / std::max<int64_t>(1, move.file.runs());
  const bool regular = move.file.shape().weight() <= kRegularWeightMax;
  const bool crowded = companions > cores_for(companions);
  if (!regular && run < kLongRunBytes) return pattern::CopyMode::kCached;
  if (move.direction == Direction::kRead && crowded && run < kCollectedRunBytes) {
    return pattern::CopyMode::kCached;
  }
  return pattern::mode_for(move.size(), companions);
}

void copy_to_buffer(const Move& move, std::byte* buffer, int64_t begin) {
  const Pattern file = in_buffer(move, begin);
  Copy{buffer, file, move.base, move.memory}.run();
}

void copy_from_buffer(const Move& move, const std::byte* buffer, int64_t begin) {
  const Pattern file = in_buffer(move, begin);
  Copy{move.base, move.memory, buffer, file}.run();
}

}  // namespace tessera::move
