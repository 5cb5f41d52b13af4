// Checked arithmetic and casts: a number that does not fit is an error, never a wrapped value.
//
// Two forms of each: checked_x() answers with an empty optional, for sums of untrusted numbers;
// exact_cast() asserts, for conversions that the code around has already made safe.
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <numeric>
#include <optional>
#include <utility>

#include "tessera/base/assert.hpp"

namespace tessera::base {

[[nodiscard]] inline std::optional<int64_t> checked_add(int64_t a, int64_t b) {
  int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) return std::nullopt;
  return sum;
}

[[nodiscard]] inline std::optional<int64_t> checked_sub(int64_t a, int64_t b) {
  int64_t difference = 0;
  if (__builtin_sub_overflow(a, b, &difference)) return std::nullopt;
  return difference;
}

[[nodiscard]] inline std::optional<int64_t> checked_mul(int64_t a, int64_t b) {
  int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) return std::nullopt;
  return product;
}

// The least common multiple of two positive numbers, if it fits.
[[nodiscard]] inline std::optional<int64_t> checked_lcm(int64_t a, int64_t b) {
  TESSERA_ASSERT(a > 0 && b > 0);
  return checked_mul(a / std::gcd(a, b), b);
}

// Requires b > 0. Rounds towards minus infinity, unlike the language's operator.
[[nodiscard]] inline int64_t floor_div(int64_t a, int64_t b) {
  const int64_t quotient = a / b;
  return (a % b < 0) ? quotient - 1 : quotient;
}

// Requires b > 0. Rounds towards plus infinity.
[[nodiscard]] inline int64_t ceil_div(int64_t a, int64_t b) {
  const int64_t quotient = a / b;
  return (a % b > 0) ? quotient + 1 : quotient;
}

// Requires b > 0. What floor_div leaves: 0 <= floor_mod(a, b) < b.
[[nodiscard]] inline int64_t floor_mod(int64_t a, int64_t b) {
  const int64_t rest = a % b;
  return rest < 0 ? rest + b : rest;
}

// Requires that the value is representable in To.
template <typename To, typename From>
[[nodiscard]] constexpr To exact_cast(From value) {
  TESSERA_ASSERT(std::in_range<To>(value));
  return static_cast<To>(value);
}

}  // namespace tessera::base
