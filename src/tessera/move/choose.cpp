#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "tessera/move/independent.hpp"
#include "tessera/pattern/cursor.hpp"

namespace tessera::move {

namespace {

// How the runs of a file lie, by what its first stripes show.
struct Outlook {
  double islands = 1;    // groups of runs with gaps that are worth moving
  double gap_bytes = 0;  // inside islands
};

constexpr int kStripesSeen = 64;

// Counts gaps while it is shown stripes.
struct GapCount {
  int64_t gap_max;
  int64_t runs = 0;
  double wide = 0;
  double narrow_bytes = 0;

  void add(int64_t gap, int64_t times) {
    if (gap > gap_max) {
      wide += static_cast<double>(times);
    } else {
      narrow_bytes += static_cast<double>(gap) * static_cast<double>(times);
    }
  }
};

Outlook look_at(const Pattern& file, int64_t gap_max) {
  GapCount gaps{gap_max};
  pattern::Cursor<1> cursor(file);
  pattern::Stripe<1> stripe;
  int64_t end = file.span().begin;
  for (int seen = 0; seen < kStripesSeen && cursor.next(stripe); ++seen) {
    gaps.add(stripe.at[0] - end, gaps.runs > 0 ? 1 : 0);
    if (stripe.count > 1) gaps.add(stripe.stride[0] - stripe.length, stripe.count - 1);
    gaps.runs += stripe.count;
    end = stripe.at[0] + stripe.stride[0] * (stripe.count - 1) + stripe.length;
  }
  const double scale = static_cast<double>(file.runs()) / static_cast<double>(gaps.runs);
  const auto all_gaps = static_cast<double>(file.span().length() - file.size());
  return {1 + gaps.wide * scale, std::min(gaps.narrow_bytes * scale, all_gaps)};
}

double copy_ns(const Move& move, const Costs& costs) {
  return static_cast<double>(move.size()) * costs.copy_byte_ns +
         static_cast<double>(move.file.runs() + move.memory.runs()) * costs.copy_run_ns;
}

double list_ns(const Move& move, const Costs& costs) {
  const bool reads = move.direction == Direction::kRead;
  const auto bytes = static_cast<double>(move.size());
  return static_cast<double>(move.file.runs()) * costs.listed_ns +
         bytes * (reads ? costs.read_byte_ns : costs.write_byte_ns) +
         (move.memory_is_run() ? 0 : copy_ns(move, costs));
}

double sieve_ns(const Move& move, const Costs& costs) {
  const bool reads = move.direction == Direction::kRead;
  const Outlook outlook = look_at(move.file, sieved_gap_max(move.direction, costs));
  const double piece_ns = reads ? costs.request_ns : 2 * costs.request_ns + costs.lock_ns;
  const double byte_ns = costs.read_byte_ns + (reads ? 0 : costs.write_byte_ns);
  return outlook.islands * piece_ns +
         (static_cast<double>(move.size()) + outlook.gap_bytes) * byte_ns + copy_ns(move, costs);
}

std::string format(const char* form, double number, const char* unit) {
  std::array<char, 48> text{};
  std::snprintf(text.data(), text.size(), form, number, unit);
  return text.data();
}

std::string bytes_text(double bytes) {
  if (bytes < 1e3) return format("%.0f %s", bytes, "bytes");
  if (bytes < 1e6) return format("%.1f %s", bytes / 1e3, "kB");
  return bytes < 1e9 ? format("%.1f %s", bytes / 1e6, "MB") : format("%.1f %s", bytes / 1e9, "GB");
}

std::string time_text(double ns) {
  if (ns < 1e6) return format("%.0f %s", ns / 1e3, "us");
  return ns < 1e9 ? format("%.1f %s", ns / 1e6, "ms") : format("%.1f %s", ns / 1e9, "s");
}

// "131072 runs of 8 bytes fill 25 % of 4.0 MB"
std::string shape_text(const Pattern& file) {
  const auto size = static_cast<double>(file.size());
  const auto span = static_cast<double>(file.span().length());
  return std::to_string(file.runs()) + " runs of " +
         bytes_text(size / static_cast<double>(file.runs())) + " fill " +
         format("%.2g %s", 100 * size / span, "%") + " of " + bytes_text(span);
}

Choice by_cost(const Move& move, const Costs& costs) {
  const double list = list_ns(move, costs);
  const double sieve = sieve_ns(move, costs);
  const std::string shape = shape_text(move.file);
  if (sieve < list) {
    return {Engine::kSieve,
            shape + ": " + time_text(sieve) + " sieved against " + time_text(list) + " by list"};
  }
  return {Engine::kList,
          shape + ": " + time_text(list) + " by list against " + time_text(sieve) + " sieved"};
}

}  // namespace

Choice choose_independent(const Move& move, const Hints& hints, const Costs& costs) {
  if (move.file.runs() <= 1) return {Engine::kDirect, "one run"};
  if (hints.engine == EngineHint::kList) return {Engine::kList, "tessera_engine=list"};
  if (hints.engine == EngineHint::kSieve) return {Engine::kSieve, "tessera_engine=sieve"};
  const bool reads = move.direction == Direction::kRead;
  const Toggle sieving = reads ? hints.ds_read : hints.ds_write;
  const std::string hint = reads ? "romio_ds_read" : "romio_ds_write";
  if (sieving == Toggle::kEnable) return {Engine::kSieve, hint + "=enable"};
  if (sieving == Toggle::kDisable) return {Engine::kList, hint + "=disable"};
  return by_cost(move, costs);
}

}  // namespace tessera::move
