#include "tessera/move/plain_run.hpp"

#include <utility>

#include "tessera/move/large_pages.hpp"

namespace tessera::move {

namespace {

constexpr double kPageBytes = 4096;

KeptMapping::Gain gain_of(const PlainRun& run, const Costs& costs) {
  const auto bytes = static_cast<double>(run.memory.size());
  const bool reads = run.direction == Direction::kRead;
  const double byte_ns = (reads ? costs.read_byte_ns : costs.write_byte_ns) * costs.cached_share;
  const double page_ns = reads ? costs.mapped_read_ns : costs.unknown_page_ns();
  return {costs.request_ns + bytes * byte_ns * (1 - costs.mapped_byte_share),
          costs.map_ns + (1 + bytes / kPageBytes) * page_ns};
}

Transfer execute_by_call(const PlainRun& run, port::PlainFile& file) {
  return run.direction == Direction::kRead ? file.read_at(run.offset, run.memory)
                                           : file.write_at(run.offset, run.memory);
}

// Leaves a mapping of the run for the next time. The size was asked for before a system call moved
// the run: whoever has made the file so long was done with it when a write returned.
void invest_in(const PlainRun& run, int64_t size, port::PlainFile& file, KeptMapping& kept) {
  if (run.part().end > size) return;
  if (!kept.holds(run.part(), run.direction)) {
    const Interval pages = large_pages_around(run.part());
    auto made = port::FileMapping::map(file, pages.begin, pages.end, access_for(run.direction));
    if (!made) return;
    kept.keep(std::make_unique<port::FileMapping>(*std::move(made)));
  }
  kept.settle(size, run.direction);
}

}  // namespace

Transfer execute_plain(const PlainRun& run, const PlainMeans& means) {
  const EngineHint engine = means.hints.engine;
  const bool may_map = engine == EngineHint::kAutomatic || engine == EngineHint::kMapped;
  if (run.memory.empty() || !may_map || !means.file.is_local()) {
    return execute_by_call(run, means.file);
  }
  KeptMapping& kept = means.experience.mapping;
  switch (kept.copy(run, gain_of(run, means.costs))) {
    case KeptMapping::Answer::kCopied:
      return {std::ssize(run.memory), {}};
    case KeptMapping::Answer::kAbsent:
      return execute_by_call(run, means.file);
    case KeptMapping::Answer::kWanted:
      break;
  }
  const auto size = means.file.size();
  Transfer moved = execute_by_call(run, means.file);
  if (size && moved.status) invest_in(run, *size, means.file, kept);
  return moved;
}

}  // namespace tessera::move
