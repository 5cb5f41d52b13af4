#include "tessera/move/mapping_cache.hpp"

namespace tessera::move {

bool MappingCache::State::holds(Interval part, Direction direction) const {
  return mapping && !mapping->is_lost() && mapping->begin() <= part.begin &&
         part.end <= mapping->end() &&
         (direction == Direction::kRead || mapping->access() == port::Access::kReadWrite);
}

bool MappingCache::State::reaches(Interval part) const {
  return part.end <= committed_end && holds(part, Direction::kRead);
}

MappingCache::Mapping MappingCache::take(Interval part, Direction direction) {
  return state_.with([&](State& state) {
    return state.holds(part, direction) ? std::exchange(state.mapping, nullptr) : nullptr;
  });
}

bool MappingCache::holds(Interval part, Direction direction) {
  return state_.with([&](const State& state) { return state.holds(part, direction); });
}

void MappingCache::keep(Mapping mapping) {
  // What it replaces goes after the lock is given back.
  state_.with([&](State& state) { std::swap(state.mapping, mapping); });
}

void MappingCache::drop_for_reading() {
  Mapping gone;
  state_.with([&](State& state) {
    const bool only_reads = state.mapping && state.mapping->access() == port::Access::kRead;
    if (only_reads) gone = std::exchange(state.mapping, nullptr);
  });
}

double MappingCache::missed_ns(Interval part, Direction direction) {
  return state_.with([&](const State& state) {
    const size_t at = index_of(direction);
    return state.missed[at] == part ? state.missed_ns[at] : 0;
  });
}

void MappingCache::note_missed(Interval part, Direction direction, double ns) {
  state_.with([&](State& state) {
    const size_t at = index_of(direction);
    state.missed_ns[at] = (state.missed[at] == part ? state.missed_ns[at] : 0) + ns;
    state.missed[at] = part;
  });
}

void MappingCache::note_committed(int64_t end) {
  state_.with([&](State& state) { state.committed_end = end; });
}

bool MappingCache::reaches(Interval part) {
  return state_.with([&](const State& state) { return state.reaches(part); });
}

bool MappingCache::touch(Interval part, const std::function<void(const std::byte*)>& body) {
  const Mapping mapping = state_.with(
      [&](const State& state) { return state.reaches(part) ? state.mapping : nullptr; });
  if (!mapping) return false;
  const std::byte* bytes = mapping->data() + (part.begin - mapping->begin());
  const bool touched = mapping->touch([&] { body(bytes); });
  // The file is not what it was.
  if (!touched) note_committed(0);
  return touched;
}

}  // namespace tessera::move
