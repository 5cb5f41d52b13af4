#include "tessera/move/plain_run.hpp"

#include <utility>

#include "tessera/base/hot.hpp"
#include "tessera/base/page.hpp"
#include "tessera/lock/no_locks.hpp"
#include "tessera/move/independent.hpp"
#include "tessera/move/large_pages.hpp"

namespace tessera::move {

namespace {

using base::kPageBytes;

KeptMapping::Gain gain_of(Interval part, Direction direction, const Costs& costs) {
  const auto bytes = static_cast<double>(part.length());
  const bool reads = direction == Direction::kRead;
  const double byte_ns = (reads ? costs.read_byte_ns : costs.write_byte_ns) * costs.cached_share;
  const double page_ns = reads ? costs.mapped_read_ns : costs.unknown_page_ns();
  return {costs.request_ns + bytes * byte_ns * (1 - costs.mapped_byte_share),
          costs.map_ns + (1 + bytes / kPageBytes) * page_ns};
}

Transfer execute_by_call(const PlainRun& run, port::PlainFile& file) {
  return run.direction == Direction::kRead ? file.read_at(run.offset, run.memory)
                                           : file.write_at(run.offset, run.memory);
}

TESSERA_HOT bool may_map(const PlainMeans& means) {
  const EngineHint engine = means.hints.engine;
  const bool allowed = engine == EngineHint::kAutomatic || engine == EngineHint::kMapped;
  return allowed && means.file.is_local();
}

// Leaves a mapping of the part for the next time. The size was asked for before a system call moved
// the part: whoever has made the file so long was done with it when a write returned.
void invest_in(Interval part, Direction direction, int64_t size, const PlainMeans& means) {
  if (part.end > size) return;
  KeptMapping& kept = means.experience.mapping;
  if (!kept.holds(part, direction)) {
    const Interval pages = large_pages_around(part);
    auto made = port::FileMapping::map(means.file, pages.begin, pages.end, access_for(direction));
    if (!made) return;
    kept.keep(std::make_shared<const port::FileMapping>(*std::move(made)));
  }
  kept.settle(size, direction);
}

// Whether one read of all of the part would be made through a mapping; if not, notes what it
// misses.
bool would_map(Interval part, const ReadMeans& means) {
  constexpr Direction kReads = Direction::kRead;
  const PlainMeans& plain = means.plain;
  lock::NoLocks none;
  Context context{plain.file, none, plain.hints,      plain.costs, {},
                  {},         {},   means.companions, 0,           &plain.experience};
  const Move whole = {kReads, Pattern::run({{part.begin}}, part.length()).value(),
                      Pattern::run({{0}}, part.length()).value(), means.memory};
  const Choice choice =
      choose_independent(whole, plain.hints, plain.costs, facts_of(whole, context));
  const bool maps = choice.engine == Engine::kMapped;
  if (!maps) plain.experience.mapping.note_missed(part, kReads, choice.missed_ns);
  return maps;
}

}  // namespace

TESSERA_HOT Transfer execute_plain(const PlainRun& run, const PlainMeans& means) {
  if (run.memory.empty() || !may_map(means)) return execute_by_call(run, means.file);
  KeptMapping& kept = means.experience.mapping;
  if (kept.copy(run)) return {std::ssize(run.memory), {}};
  if (!kept.wants(run.part(), run.direction, gain_of(run.part(), run.direction, means.costs))) {
    return execute_by_call(run, means.file);
  }
  const auto size = means.file.size();
  Transfer moved = execute_by_call(run, means.file);
  if (size && moved.status) invest_in(run.part(), run.direction, *size, means);
  return moved;
}

void expect_reads(Interval part, const ReadMeans& means) {
  constexpr Direction kReads = Direction::kRead;
  const PlainMeans& plain = means.plain;
  KeptMapping& kept = plain.experience.mapping;
  const bool reached = kept.reaches(part, kReads);
  if (!may_map(plain) || reached || part.length() > kMappedWindowBytes) return;
  // Short reads are many: they do without patterns and prices, as plain runs do.
  const bool pays = part.length() < kMappedRunMin
                        ? kept.wants(part, kReads, gain_of(part, kReads, plain.costs))
                        : would_map(part, means);
  if (!pays) return;
  if (const auto size = plain.file.size()) invest_in(part, kReads, *size, plain);
}

}  // namespace tessera::move
