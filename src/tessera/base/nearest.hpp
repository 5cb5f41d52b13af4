// The known word that a misspelt one was meant to be.
//
// Messages name it, so that a typo is mended at once. Thread safety: pure functions.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace tessera::base {

// How many letters must be inserted, dropped, replaced or exchanged with their neighbour to make
// one word of the other. O(length of one times length of the other).
[[nodiscard]] size_t edit_distance(std::string_view a, std::string_view b);

// The word of `known` that is nearest, the first of several; empty where none is near enough to
// have been meant: at most one letter in three is wrong, and at most two.
[[nodiscard]] std::string_view nearest(std::string_view word,
                                       std::span<const std::string_view> known);

// "; did you mean X?", or nothing.
[[nodiscard]] std::string did_you_mean(std::string_view word,
                                       std::span<const std::string_view> known);

}  // namespace tessera::base
