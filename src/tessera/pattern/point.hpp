// Points, intervals and the bounds of every position.
//
// A byte of a trace has D positions at once: one in a file (a pattern), one in each of two patterns
// (a join). Arithmetic on points is unchecked: whoever builds a trace checks once that all of its
// positions lie in [-kMaxPosition, kMaxPosition], after which sums and differences of two positions
// cannot overflow. Thread safety: value types.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

namespace tessera::pattern {

// The largest magnitude of a position and the largest size of a stream: 4 EiB. Half of what 64 bits
// hold, so that the difference of any two positions is exact.
inline constexpr int64_t kMaxPosition = int64_t{1} << 62;

// The half-open range [begin, end).
struct Interval {
  int64_t begin = 0;
  int64_t end = 0;

  [[nodiscard]] int64_t length() const { return end - begin; }
  [[nodiscard]] bool empty() const { return end <= begin; }
  [[nodiscard]] bool contains(Interval other) const {
    return begin <= other.begin && other.end <= end;
  }
  [[nodiscard]] bool meets(Interval other) const { return begin < other.end && other.begin < end; }
  friend bool operator==(Interval, Interval) = default;
};

[[nodiscard]] inline Interval common(Interval a, Interval b) {
  return {std::max(a.begin, b.begin), std::min(a.end, b.end)};
}

template <int D>
struct Point {
  std::array<int64_t, static_cast<size_t>(D)> x{};

  int64_t& operator[](int d) { return x[static_cast<size_t>(d)]; }
  int64_t operator[](int d) const { return x[static_cast<size_t>(d)]; }

  Point& operator+=(const Point& other) {
    for (int d = 0; d < D; ++d) (*this)[d] += other[d];
    return *this;
  }
  Point& operator-=(const Point& other) {
    for (int d = 0; d < D; ++d) (*this)[d] -= other[d];
    return *this;
  }
  // Every coordinate moves by the same number of bytes, as along a run.
  [[nodiscard]] Point advanced(int64_t bytes) const {
    Point result = *this;
    for (int d = 0; d < D; ++d) result[d] += bytes;
    return result;
  }

  friend Point operator+(Point a, const Point& b) { return a += b; }
  friend Point operator-(Point a, const Point& b) { return a -= b; }
  friend Point operator*(Point a, int64_t factor) {
    for (int d = 0; d < D; ++d) a[d] *= factor;
    return a;
  }
  friend bool operator==(const Point&, const Point&) = default;
};

}  // namespace tessera::pattern
