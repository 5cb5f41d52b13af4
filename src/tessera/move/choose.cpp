#include <algorithm>
#include <string>
#include <vector>

#include "tessera/move/amounts.hpp"
#include "tessera/move/independent.hpp"
#include "tessera/pattern/cursor.hpp"

namespace tessera::move {

namespace {

constexpr int64_t kPageBytes = 4096;
// Pages that are closer together than this share the cost of making them writable, more or less.
constexpr int64_t kGroupGapMax = int64_t{256} << 10;
// A fault of a reader brings so much of the file, where it is in memory.
constexpr int64_t kFaultBytes = int64_t{64} << 10;
// Files whose written pages cost less are kept in large pages.
constexpr double kLargePageNsMax = 200;

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
        in_cache_(copy_mode(move, facts.companions) == pattern::CopyMode::kCached) {}

  [[nodiscard]] double direct() const { return costs_.request_ns + bytes_ * moved_byte(); }

  [[nodiscard]] double list() const {
    return runs_ * (reads_ ? costs_.listed_ns : costs_.listed_write_ns) + bytes_ * moved_byte() +
           (move_.memory_is_run() ? 0 : copy()) +
           new_share() * (runs_ * costs_.new_run_ns + pages(kPageBytes) * costs_.new_page_ns);
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
    if (reads_) {
      return common_ns + pages(kFaultBytes) * facts_.page_ns.value_or(costs_.mapped_read_ns);
    }
    const double groups = look_at(move_.file, kGroupGapMax).islands;
    const double known_ns = facts_.page_ns.value_or(costs_.unknown_page_ns());
    const double page_ns = known_ns + new_share() * costs_.mapped_new_page_ns;
    // A fault in a large page brings all of it.
    const int64_t gap_max = known_ns < kLargePageNsMax ? kMappedGapMax : kPageBytes;
    return common_ns + groups * costs_.mapped_group_ns + pages(gap_max) * page_ns;
  }

 private:
  [[nodiscard]] double byte_share() const { return in_cache_ ? costs_.cached_share : 1; }

  [[nodiscard]] double moved_byte() const {
    return (reads_ ? costs_.read_byte_ns : costs_.write_byte_ns) * byte_share();
  }

  [[nodiscard]] double copy() const {
    return bytes_ * costs_.copy_byte_ns * byte_share() +
           (runs_ + static_cast<double>(move_.memory.runs())) * costs_.copy_run_ns;
  }

  // Pages with wanted bytes, and those in gaps of less than `gap_max`, which come with them.
  [[nodiscard]] double pages(int64_t gap_max) const {
    const Outlook outlook = look_at(move_.file, gap_max);
    return (bytes_ + outlook.gap_bytes) / kPageBytes + outlook.islands;
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
  const bool in_cache_;
};

// Whether a mapping may be faster. Pages that are not in memory would be read one after the other;
// so they are for a write that fills none of them, but not for one that fills many.
bool may_map(const Move& move, const FileFacts& facts) {
  const bool reads = move.direction == Direction::kRead;
  const bool fills_pages = move.size() / std::max<int64_t>(1, move.file.runs()) >= kPageBytes;
  return facts.mappable && (facts.cached || (!reads && !fills_pages));
}

// Whether a run of its own may be quicker through a mapping: long ones, where writers by system
// calls would take turns.
bool worth_mapping(const Move& move, const FileFacts& facts) {
  return may_map(move, facts) && facts.companions > 1 && move.size() >= kMappedRunMin;
}

struct Offer {
  Engine engine;
  double ns;           // alone
  double together_ns;  // while all companions do the same
};

// All that is offered, the cheapest first.
std::vector<Offer> offers_for(const Move& move, const Costs& costs, const FileFacts& facts,
                              bool may_sieve) {
  const bool reads = move.direction == Direction::kRead;
  const double turns = reads ? 1 : static_cast<double>(cores_for(facts.companions));
  const Prices prices(move, costs, facts);
  std::vector<Offer> offers;
  const auto offer = [&](Engine engine, double ns) {
    offers.push_back({engine, ns, engine == Engine::kMapped ? ns : ns * turns});
  };
  const bool one_run = move.file.runs() <= 1;
  offer(one_run ? Engine::kDirect : Engine::kList, one_run ? prices.direct() : prices.list());
  if (may_sieve && !one_run) offer(Engine::kSieve, prices.sieve());
  const bool maps = one_run ? !reads && worth_mapping(move, facts) : may_map(move, facts);
  if (maps) offer(Engine::kMapped, prices.mapped());
  std::sort(offers.begin(), offers.end(),
            [](const Offer& a, const Offer& b) { return a.together_ns < b.together_ns; });
  return offers;
}

// "131072 runs of 8 bytes fill 25 % of 4.0 MB"
std::string shape_text(const Pattern& file) {
  const auto size = static_cast<double>(file.size());
  const auto span = static_cast<double>(file.span().length());
  return std::to_string(file.runs()) + " runs of " +
         bytes_text(size / static_cast<double>(file.runs())) + " fill " +
         percent_text(size / span) + " of " + bytes_text(span);
}

// Takes the cheapest and names the next best beside it.
Choice cheapest(const Pattern& file, const std::vector<Offer>& offers) {
  std::string reason = shape_text(file) + ": " + time_text(offers[0].together_ns);
  if (offers.size() > 1) {
    reason +=
        " against " + time_text(offers[1].together_ns) + " by " + engine_name(offers[1].engine);
  }
  return {offers[0].engine, reason};
}

}  // namespace

Choice choose_independent(const Move& move, const Hints& hints, const Costs& costs,
                          const FileFacts& facts) {
  const bool reads = move.direction == Direction::kRead;
  const bool one_run = move.file.runs() <= 1;
  if (one_run && (reads || !worth_mapping(move, facts))) return {Engine::kDirect, "one run"};
  if (hints.engine == EngineHint::kMapped && facts.mappable) {
    return {Engine::kMapped, "tessera_engine=mapped"};
  }
  if (hints.engine != EngineHint::kAutomatic && one_run) return {Engine::kDirect, "one run"};
  if (hints.engine == EngineHint::kList) return {Engine::kList, "tessera_engine=list"};
  if (hints.engine == EngineHint::kSieve) return {Engine::kSieve, "tessera_engine=sieve"};
  const Toggle sieving = reads ? hints.ds_read : hints.ds_write;
  if (sieving == Toggle::kEnable && !one_run) {
    return {Engine::kSieve, reads ? "romio_ds_read=enable" : "romio_ds_write=enable"};
  }
  const bool may_sieve = sieving != Toggle::kDisable && (reads || !facts.mappable);
  return cheapest(move.file, offers_for(move, costs, facts, may_sieve));
}

Price price_independent(const Move& move, const Costs& costs, const FileFacts& facts,
                        bool rewrites_gaps) {
  if (move.file.empty()) return {};
  const bool reads = move.direction == Direction::kRead;
  const bool may_sieve = reads || (rewrites_gaps && !facts.mappable);
  const Offer best = offers_for(move, costs, facts, may_sieve).front();
  return {best.engine, best.ns, !reads && best.engine != Engine::kMapped};
}

}  // namespace tessera::move
