#include "tessera/cli/numbers.hpp"

#include <fmt/core.h>

#include <array>

namespace tessera::cli {

namespace {

// Three significant digits, no exponent: 4.21, 42.1, 421.
std::string three_digits(double number) {
  const int decimals = number < 9.995 ? 2 : (number < 99.95 ? 1 : 0);
  return fmt::format("{:.{}f}", number, decimals);
}

}  // namespace

std::string with_commas(int64_t number) {
  std::string digits = std::to_string(number);
  const size_t first = number < 0 ? 1 : 0;
  for (size_t at = digits.size(); at > first + 3;) {
    at -= 3;
    digits.insert(at, ",");
  }
  return digits;
}

std::string size_text(int64_t size_bytes) {
  if (size_bytes < 10'000) return with_commas(size_bytes) + " B";
  constexpr std::array<const char*, 6> kUnits = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  double size = static_cast<double>(size_bytes) / 1024;
  size_t unit = 0;
  for (; size >= 999.5 && unit + 1 < kUnits.size(); ++unit) size /= 1024;
  return three_digits(size) + " " + kUnits[unit];
}

std::string duration_text(double ns) {
  constexpr std::array<const char*, 4> kUnits = {"ns", "us", "ms", "s"};
  size_t unit = 0;
  for (; ns >= 999.5 && unit + 1 < kUnits.size(); ++unit) ns /= 1000;
  return three_digits(ns) + " " + kUnits[unit];
}

std::string counted(int64_t number, const std::string& noun) {
  const bool y = noun.ends_with("y");
  const std::string many = y ? noun.substr(0, noun.size() - 1) + "ies" : noun + "s";
  return with_commas(number) + " " + (number == 1 ? noun : many);
}

std::string percent(int64_t part, int64_t whole) {
  if (part == 0 || whole == 0) return "0%";
  return fmt::format("{:.1f}%", 100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

std::string interval_text(pattern::Interval interval) {
  return fmt::format("[{}, {})", interval.begin, interval.end);
}

}  // namespace tessera::cli
