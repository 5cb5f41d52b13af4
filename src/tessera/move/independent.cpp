#include "tessera/move/independent.hpp"

#include <algorithm>

#include "tessera/base/page.hpp"
#include "tessera/port/plain_file.hpp"

namespace tessera::move {

namespace {

using base::kPageBytes;
// For fewer it is not worth finding out what pages cost.
constexpr int64_t kProbedPagesMin = 256;
// Places of a move at which the system is asked whether they are in memory.
constexpr int64_t kProbesMax = 8;
constexpr int64_t kProbeDistance = int64_t{1} << 20;

// Whether a mapping cannot pay: all of it is moved in less time than it takes to set one up.
bool is_small(const Move& move, const Costs& costs) {
  const bool reads = move.direction == Direction::kRead;
  const int64_t bytes = reads ? move.file.span().length() : move.size();
  const double byte_ns = reads ? costs.read_byte_ns : costs.write_byte_ns;
  const bool few = reads || move.file.runs() <= 1;
  return few && static_cast<double>(bytes) * byte_ns < costs.map_ns;
}

// Looks at some places of the file from the first byte to the last whether their pages are in
// memory, or need not be read because nothing was written there: a companion may have extended the
// file and not come to them yet.
void look_at_pages(const Move& move, const port::PlainFile& file, int64_t probes_max,
                   FileFacts& facts) {
  const int64_t end = std::min(move.file.span().end, facts.size);
  const int64_t begin = move.file.span().begin;
  const int64_t probes = std::clamp((end - begin) / kProbeDistance, int64_t{1}, probes_max);
  const bool writes = move.direction == Direction::kWrite;
  int64_t holes = 0;
  for (int64_t i = 0; i < probes; ++i) {
    const int64_t at = begin + (end - begin) / probes * i;
    if (at >= end) continue;
    // Asked first: a system that is asked for a page of a hole may make it, and say that it is
    // there.
    if (writes && !facts.kept && file.is_hole(at)) {
      ++holes;
    } else if (!file.is_cached(at)) {
      facts.cached = false;
      return;
    }
  }
  facts.hole_share = static_cast<double>(holes) / static_cast<double>(probes);
}

// The pages that a move touches, at most.
int64_t pages_of(const Pattern& file) {
  return std::min(file.span().length() / kPageBytes, file.size() / kPageBytes + file.runs());
}

// What pages cost in this file; found out once, where the move has some to try. Those who come back
// do without: they may spend as much as they have missed.
std::optional<double> page_cost(const Move& move, const Context& context, const FileFacts& facts,
                                const port::PlainFile& file) {
  if (context.experience == nullptr) return std::nullopt;
  const auto seen = context.experience->pages.seen(move.direction);
  const bool has_pages =
      pages_of(move.file) >= kProbedPagesMin && move.file.span().end <= facts.size;
  if (seen || !has_pages || facts.missed_ns > 0) return seen;
  const auto probed = probe_pages(file, move.file.span(), move.direction, context.costs);
  if (probed) context.experience->pages.learn(move.direction, *probed);
  return probed;
}

}  // namespace

FileFacts facts_of(const Move& move, const Context& context) {
  FileFacts facts;
  facts.companions = context.companions;
  const bool by_hint = context.hints.engine != EngineHint::kAutomatic;
  if (move.file.empty() || (is_small(move, context.costs) && !by_hint)) return facts;
  if (is_short_run(move.file)) return facts;
  facts.mappable = can_map(context.file);
  if (!facts.mappable) return facts;
  const Interval span = move.file.span();
  MappingCache* cache = context.experience != nullptr ? &context.experience->mapping : nullptr;
  const bool holds = cache != nullptr && cache->holds(span, move.direction);
  if (cache != nullptr) facts.missed_ns = cache->missed_ns(span, move.direction);
  const auto& plain = dynamic_cast<const port::PlainFile&>(context.file);
  if (const auto size = context.file.size()) facts.size = *size;
  facts.kept = holds && span.end <= facts.size;
  look_at_pages(move, plain, facts.kept ? 1 : kProbesMax, facts);
  if (facts.cached && !facts.kept) facts.page_ns = page_cost(move, context, facts, plain);
  return facts;
}

Transfer execute_independent(const Move& move, Context& context) {
  return execute_independent(move, context, facts_of(move, context));
}

Transfer execute_independent(const Move& move, Context& context, const FileFacts& facts) {
  context.choice = choose_independent(move, context.hints, context.costs, facts);
  if (context.choice.missed_ns > 0 && context.experience != nullptr) {
    context.experience->mapping.note_missed(move.file.span(), move.direction,
                                            context.choice.missed_ns);
  }
  switch (context.choice.engine) {
    case Engine::kDirect:
      return execute_direct(move, context);
    case Engine::kSieve:
      return execute_sieve(move, context);
    case Engine::kMapped:
      return execute_mapped(move, context);
    default:
      return execute_list(move, context);
  }
}

}  // namespace tessera::move
