#include <algorithm>
#include <string>
#include <vector>

#include "tessera/base/page.hpp"
#include "tessera/move/amounts.hpp"
#include "tessera/move/independent.hpp"
#include "tessera/move/large_pages.hpp"
#include "tessera/pattern/cursor.hpp"

namespace tessera::move {

namespace {

using base::kPageBytes;
// Pages that are closer together than this share the cost of making them writable, more or less.
constexpr int64_t kGroupGapMax = int64_t{256} << 10;
// A fault of a reader brings so much of the file, where it is in memory.
constexpr int64_t kFaultBytes = int64_t{64} << 10;
// Files whose written pages cost less are kept in large pages.
constexpr double kLargePageNsMax = 200;

bool starts_at_line(const Move& move) {
  return pattern::is_at_line(move.base, move.memory.at()[0]);
}

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
    const double named_ns = reads_ ? runs_ * costs_.listed_ns + pages(1) * costs_.listed_page_ns
                                   : runs_ * costs_.listed_write_ns;
    return named_ns + bytes_ * moved_byte() + (move_.memory_is_run() ? 0 : copy()) +
           new_share() * (runs_ * costs_.new_run_ns + pages(kPageBytes) * costs_.new_page_ns);
  }

  [[nodiscard]] double sieve() const {
    const Outlook outlook = look_at(move_.file, sieved_gap_max(move_.direction, costs_));
    const double piece_ns = reads_ ? costs_.request_ns : 2 * costs_.request_ns + costs_.lock_ns;
    const double byte_ns = costs_.read_byte_ns + (reads_ ? 0 : costs_.write_byte_ns);
    return outlook.islands * piece_ns + (bytes_ + outlook.gap_bytes) * byte_ns + copy();
  }

  // Through a mapping, less what those who moved the same before would have saved by it: that much
  // has been spent on not having one.
  [[nodiscard]] double mapped() const {
    if (facts_.kept) return kept();
    if (facts_.missed_ns == 0 || !is_kept_whole()) return newly_mapped();
    return std::max(kept(), newly_mapped() - facts_.missed_ns);
  }

  // Through a mapping that is there already.
  [[nodiscard]] double kept() const {
    return 2 * costs_.request_ns + mapped_copy() + pages(kPageBytes) * costs_.kept_page_ns;
  }

  // Whether one window holds all of it, to be found there the next time.
  [[nodiscard]] bool is_kept_whole() const {
    return move_.file.span().length() <= kMappedWindowBytes &&
           look_at(move_.file, kMappedGapMax).islands <= 1;
  }

 private:
  [[nodiscard]] double newly_mapped() const {
    const double windows = look_at(move_.file, kMappedGapMax).islands;
    const double common_ns = windows * costs_.map_ns + mapped_copy();
    if (reads_) {
      return common_ns + pages(kFaultBytes) * facts_.page_ns.value_or(costs_.mapped_read_ns);
    }
    const double groups = look_at(move_.file, kGroupGapMax).islands;
    const double known_ns = facts_.page_ns.value_or(costs_.unknown_page_ns());
    // A fault in a large page brings all of it.
    const int64_t gap_max = known_ns < kLargePageNsMax ? kMappedGapMax : kPageBytes;
    const double new_part = new_share();
    return common_ns + groups * costs_.mapped_group_ns +
           (1 - new_part) * pages(gap_max) * known_ns + new_part * new_pages();
  }

  // Stores to pages that are not there yet, if all of them are such: large ones with their gaps
  // where these are taken. Companions pay for a page that one of them made nearly as much as it.
  [[nodiscard]] double new_pages() const {
    const int64_t length = move_.file.span().length();
    if (!fills(move_.size(), length, facts_.companions)) {
      return pages(kPageBytes) * (costs_.unknown_page_ns() + costs_.mapped_new_page_ns);
    }
    return pages(kMappedGapMax) * costs_.mapped_new_large_ns;
  }

  [[nodiscard]] double byte_share() const { return in_cache_ ? costs_.cached_share : 1; }

  // The system's copy to memory that is not in the caches writes whole lines only where it begins
  // at one; a copy of our own always does.
  [[nodiscard]] double moved_byte() const {
    const bool cuts_lines = reads_ && !in_cache_ && !starts_at_line(move_);
    return (reads_ ? costs_.read_byte_ns : costs_.write_byte_ns) * byte_share() +
           (cuts_lines ? costs_.unaligned_byte_ns : 0);
  }

  [[nodiscard]] double copied_runs() const {
    return (runs_ + static_cast<double>(move_.memory.runs())) * costs_.copy_run_ns;
  }
  [[nodiscard]] double copied_bytes() const { return bytes_ * costs_.copy_byte_ns * byte_share(); }
  [[nodiscard]] double copy() const { return copied_bytes() + copied_runs(); }
  [[nodiscard]] double mapped_copy() const {
    return copied_bytes() * costs_.mapped_byte_share + copied_runs();
  }

  // Pages with wanted bytes, and those in gaps of less than `gap_max`, which come with them.
  [[nodiscard]] double pages(int64_t gap_max) const {
    const Outlook outlook = look_at(move_.file, gap_max);
    return (bytes_ + outlook.gap_bytes) / kPageBytes + outlook.islands;
  }

  // The part of the span that lies behind the end of the file, or in holes.
  [[nodiscard]] double new_share() const {
    const Interval span = move_.file.span();
    const int64_t end = std::clamp(facts_.size, span.begin, span.end);
    const auto length = static_cast<double>(span.length());
    const double behind = static_cast<double>(span.end - end) / length;
    return reads_ ? 0 : behind + (1 - behind) * facts_.hole_share;
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

// Whether a long run may be quicker through a mapping: one that was moved before, or one that is
// read; of those that are written, where others would have to wait for their turn, and where pages
// are there: new ones would be cleared only to be written over.
bool worth_mapping(const Move& move, const FileFacts& facts) {
  const bool came_back = facts.kept || facts.missed_ns > 0;
  const bool is_there = move.file.span().end <= facts.size && facts.hole_share == 0;
  const bool gains = move.direction == Direction::kRead || (facts.companions > 1 && is_there);
  return may_map(move, facts) && !is_short_run(move.file) && (came_back || gains);
}

struct Offer {
  Engine engine;
  double ns;           // alone
  double together_ns;  // while all companions do the same
};

// All that is offered, the cheapest first.
std::vector<Offer> offers_for(const Move& move, const Prices& prices, const FileFacts& facts,
                              bool may_sieve) {
  const bool reads = move.direction == Direction::kRead;
  const double turns = reads ? 1 : static_cast<double>(cores_for(facts.companions));
  std::vector<Offer> offers;
  const auto offer = [&](Engine engine, double ns) {
    offers.push_back({engine, ns, engine == Engine::kMapped ? ns : ns * turns});
  };
  const bool one_run = move.file.runs() <= 1;
  offer(one_run ? Engine::kDirect : Engine::kList, one_run ? prices.direct() : prices.list());
  if (may_sieve && !one_run) offer(Engine::kSieve, prices.sieve());
  const bool maps = one_run ? worth_mapping(move, facts) : may_map(move, facts);
  if (maps) offer(Engine::kMapped, prices.mapped());
  std::sort(offers.begin(), offers.end(),
            [](const Offer& a, const Offer& b) { return a.together_ns < b.together_ns; });
  return offers;
}

// "131072 runs of 8 bytes fill 25 % of 4.0 MiB"
std::string shape_text(const Pattern& file) {
  const auto size = static_cast<double>(file.size());
  const auto span = static_cast<double>(file.span().length());
  return std::to_string(file.runs()) + " runs of " +
         bytes_text(size / static_cast<double>(file.runs())) + " fill " +
         percent_text(size / span) + " of " + bytes_text(span);
}

// What a way that takes so long costs beyond a mapping that were there, if there can be one.
double missed_by(double ns, const Pattern& file, const Prices& prices) {
  const bool may_keep = !is_short_run(file) && prices.is_kept_whole();
  return may_keep ? std::max(0.0, ns - prices.kept()) : 0;
}

// Takes the cheapest and names the next best beside it.
Choice cheapest(const Pattern& file, const std::vector<Offer>& offers, const Prices& prices) {
  std::string reason = "one run";
  if (file.runs() > 1) reason = shape_text(file) + ": " + time_text(offers[0].together_ns);
  if (offers.size() > 1) {
    reason +=
        " against " + time_text(offers[1].together_ns) + " by " + engine_name(offers[1].engine);
  }
  const bool maps = offers[0].engine == Engine::kMapped;
  return {offers[0].engine, reason, maps ? 0 : missed_by(offers[0].together_ns, file, prices)};
}

}  // namespace

Choice choose_independent(const Move& move, const Hints& hints, const Costs& costs,
                          const FileFacts& facts) {
  const bool reads = move.direction == Direction::kRead;
  const bool one_run = move.file.runs() <= 1;
  const bool by_hint = hints.engine != EngineHint::kAutomatic;
  if (move.file.empty()) return {Engine::kDirect, "no bytes"};
  if (hints.engine == EngineHint::kMapped && facts.mappable) {
    return {Engine::kMapped, "tessera_engine=mapped"};
  }
  if (by_hint && one_run) return {Engine::kDirect, "one run"};
  if (hints.engine == EngineHint::kList) return {Engine::kList, "tessera_engine=list"};
  if (hints.engine == EngineHint::kSieve) return {Engine::kSieve, "tessera_engine=sieve"};
  const Toggle sieving = reads ? hints.ds_read : hints.ds_write;
  if (sieving == Toggle::kEnable && !one_run) {
    return {Engine::kSieve, reads ? "romio_ds_read=enable" : "romio_ds_write=enable"};
  }
  if (facts.kept && facts.cached) return {Engine::kMapped, "mapped before"};
  const bool may_sieve = sieving != Toggle::kDisable && (reads || !facts.mappable);
  const Prices prices(move, costs, facts);
  return cheapest(move.file, offers_for(move, prices, facts, may_sieve), prices);
}

double missed_beside(double ns, const Move& move, const Costs& costs, int companions) {
  FileFacts facts;
  facts.companions = companions;
  return missed_by(ns, move.file, Prices(move, costs, facts));
}

Price price_independent(const Move& move, const Costs& costs, const FileFacts& facts,
                        bool rewrites_gaps) {
  if (move.file.empty()) return {};
  const bool reads = move.direction == Direction::kRead;
  const bool may_sieve = reads || (rewrites_gaps && !facts.mappable);
  const Offer best = offers_for(move, Prices(move, costs, facts), facts, may_sieve).front();
  return {best.engine, best.ns, !reads && best.engine != Engine::kMapped};
}

}  // namespace tessera::move
