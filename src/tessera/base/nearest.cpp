#include "tessera/base/nearest.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace tessera::base {

namespace {

constexpr size_t kWrongLettersMax = 2;
constexpr size_t kLettersForOneWrong = 3;
constexpr size_t kWordMax = 64;  // what is longer was not meant to be one of ours

}  // namespace

size_t edit_distance(std::string_view a, std::string_view b) {
  // Row i holds the distances of the first i letters of `a` to every beginning of `b`.
  std::vector<size_t> two_before;
  std::vector<size_t> before;
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    two_before = std::exchange(before, row);
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = before[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({replaced, before[j] + 1, row[j - 1] + 1});
      const bool exchanged = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (exchanged) row[j] = std::min(row[j], two_before[j - 2] + 1);
    }
  }
  return row[b.size()];
}

std::string_view nearest(std::string_view word, std::span<const std::string_view> known) {
  if (word.size() > kWordMax) return {};
  std::string_view best;
  size_t best_distance = std::min(kWrongLettersMax, word.size() / kLettersForOneWrong) + 1;
  for (const std::string_view candidate : known) {
    const size_t distance = edit_distance(word, candidate);
    if (distance >= best_distance) continue;
    best = candidate;
    best_distance = distance;
  }
  return best;
}

std::string did_you_mean(std::string_view word, std::span<const std::string_view> known) {
  const std::string_view meant = nearest(word, known);
  return meant.empty() ? "" : "; did you mean " + std::string(meant) + "?";
}

}  // namespace tessera::base
