#include "tessera/move/amounts.hpp"

#include <array>
#include <cstdio>

namespace tessera::move {

namespace {

std::string format(const char* form, double number, const char* unit) {
  std::array<char, 48> text{};
  std::snprintf(text.data(), text.size(), form, number, unit);
  return text.data();
}

}  // namespace

std::string bytes_text(double bytes) {
  constexpr double kKibi = 1 << 10;
  constexpr double kMebi = 1 << 20;
  constexpr double kGibi = 1 << 30;
  if (bytes < kKibi) return format("%.0f %s", bytes, "bytes");
  if (bytes < kMebi) return format("%.1f %s", bytes / kKibi, "KiB");
  return bytes < kGibi ? format("%.1f %s", bytes / kMebi, "MiB")
                       : format("%.1f %s", bytes / kGibi, "GiB");
}

std::string time_text(double ns) {
  if (ns < 1e6) return format("%.0f %s", ns / 1e3, "us");
  return ns < 1e9 ? format("%.1f %s", ns / 1e6, "ms") : format("%.1f %s", ns / 1e9, "s");
}

std::string percent_text(double share) { return format("%.2g %s", 100 * share, "%"); }

}  // namespace tessera::move
