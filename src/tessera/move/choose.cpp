#include <algorithm>
#include <array>
#include <cstdio>
#include <vector>

#include "tessera/move/independent.hpp"
#include "tessera/pattern/cursor.hpp"

namespace tessera::move {

namespace {

constexpr int64_t kPageBytes = 4096;
// Pages that are closer together than this share the cost of making them writable, more or less.
constexpr int64_t kGroupGapMax = int64_t{256} << 10;

// How the runs of a file lie, by what its first stripes show.
struct Outlook {
  double islands = 1;    // groups of runs with narrow gaps
  double gap_bytes = 0;  // inside islands
};

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
  constexpr int kStripesSeen = 64;
  GapCount gaps{gap_max};
  pattern::Cursor<1> cursor(file);
  pattern::Stripe<1> stripe;
  int64_t end = file.span().begin;
  for (int seen = 0; seen < kStripesSeen && cursor.next(stripe); ++seen) {
    gaps.add(stripe.at[0] - end, seen > 0 ? 1 : 0);
    gaps.add(stripe.stride[0] - stripe.length, stripe.count - 1);
    gaps.runs += stripe.count;
    end = stripe.at[0] + stripe.stride[0] * (stripe.count - 1) + stripe.length;
  }
  const double scale = static_cast<double>(file.runs()) / static_cast<double>(gaps.runs);
  const auto all_gaps = static_cast<double>(file.span().length() - file.size());
  return {1 + gaps.wide * scale, std::min(gaps.narrow_bytes * scale, all_gaps)};
}

// A move and what it costs each way, in nanoseconds.
class Prices {
 public:
  Prices(const Move& move, const Costs& costs, const FileFacts& facts)
      : move_(move),
        costs_(costs),
        facts_(facts),
        reads_(move.direction == Direction::kRead),
        bytes_(static_cast<double>(move.size())),
        runs_(static_cast<double>(move.file.runs())),
        pages_(look_at(move.file, kPageBytes)) {}

  [[nodiscard]] double list() const {
    return runs_ * (reads_ ? costs_.listed_ns : costs_.listed_write_ns) +
           bytes_ * (reads_ ? costs_.read_byte_ns : costs_.write_byte_ns) +
           (move_.memory_is_run() ? 0 : copy()) +
           new_share() * (runs_ * costs_.new_run_ns + pages() * costs_.new_page_ns);
  }

  [[nodiscard]] double sieve() const {
    const Outlook outlook = look_at(move_.file, sieved_gap_max(move_.direction, costs_));
    const double piece_ns = reads_ ? costs_.request_ns : 2 * costs_.request_ns + costs_.lock_ns;
    const double byte_ns = costs_.read_byte_ns + (reads_ ? 0 : costs_.write_byte_ns);
    return outlook.islands * piece_ns + (bytes_ + outlook.gap_bytes) * byte_ns + copy();
  }

  [[nodiscard]] double mapped() const {
    const double windows = look_at(move_.file, kMappedGapMax).islands;
    const double common_ns = windows * costs_.map_ns + copy();
    if (reads_) return common_ns + pages() * costs_.mapped_read_ns;
    const double groups = look_at(move_.file, kGroupGapMax).islands;
    const double page_ns = costs_.mapped_write_ns + new_share() * costs_.mapped_new_page_ns;
    return common_ns + groups * costs_.mapped_group_ns + pages() * page_ns;
  }

 private:
  [[nodiscard]] double copy() const {
    return bytes_ * costs_.copy_byte_ns +
           (runs_ + static_cast<double>(move_.memory.runs())) * costs_.copy_run_ns;
  }

  // Pages with wanted bytes: others cost nothing.
  [[nodiscard]] double pages() const {
    return (bytes_ + pages_.gap_bytes) / kPageBytes + pages_.islands;
  }

  // The part of the span that lies behind the end of the file.
  [[nodiscard]] double new_share() const {
    const Interval span = move_.file.span();
    const int64_t behind = span.end - std::clamp(facts_.size, span.begin, span.end);
    return reads_ ? 0 : static_cast<double>(behind) / static_cast<double>(span.length());
  }

  const Move& move_;
  const Costs& costs_;
  const FileFacts& facts_;
  const bool reads_;
  const double bytes_;
  const double runs_;
  const Outlook pages_;
};

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

struct Offer {
  Engine engine;
  double ns;
};

// Takes the cheapest and names the next best beside it.
Choice cheapest(const Pattern& file, std::vector<Offer> offers) {
  std::sort(offers.begin(), offers.end(),
            [](const Offer& a, const Offer& b) { return a.ns < b.ns; });
  std::string reason = shape_text(file) + ": " + time_text(offers[0].ns);
  if (offers.size() > 1) {
    reason += " against " + time_text(offers[1].ns) + " by " + engine_name(offers[1].engine);
  }
  return {offers[0].engine, reason};
}

}  // namespace

Choice choose_independent(const Move& move, const Hints& hints, const Costs& costs,
                          const FileFacts& facts) {
  if (move.file.runs() <= 1) return {Engine::kDirect, "one run"};
  if (hints.engine == EngineHint::kList) return {Engine::kList, "tessera_engine=list"};
  if (hints.engine == EngineHint::kSieve) return {Engine::kSieve, "tessera_engine=sieve"};
  if (hints.engine == EngineHint::kMapped && facts.mappable) {
    return {Engine::kMapped, "tessera_engine=mapped"};
  }
  const bool reads = move.direction == Direction::kRead;
  const Toggle sieving = reads ? hints.ds_read : hints.ds_write;
  if (sieving == Toggle::kEnable) {
    return {Engine::kSieve, reads ? "romio_ds_read=enable" : "romio_ds_write=enable"};
  }
  const Prices prices(move, costs, facts);
  std::vector<Offer> offers = {{Engine::kList, prices.list()}};
  const bool may_sieve = sieving != Toggle::kDisable && (reads || !facts.mappable);
  if (may_sieve) offers.push_back({Engine::kSieve, prices.sieve()});
  if (facts.mappable) offers.push_back({Engine::kMapped, prices.mapped()});
  return cheapest(move.file, std::move(offers));
}

}  // namespace tessera::move
