#include "tessera/move/kept_mapping.hpp"

#include "tessera/base/hot.hpp"

namespace tessera::move {

TESSERA_HOT bool KeptMapping::State::holds(Interval part, Direction direction) const {
  return mapping && mapping->begin() <= part.begin && part.end <= mapping->end() &&
         (direction == Direction::kRead || mapping->access() == port::Access::kReadWrite);
}

TESSERA_HOT bool KeptMapping::State::reaches(Interval part, Direction direction) const {
  return holds(part, direction) && part.end <= settled_end[index_of(direction)];
}

void KeptMapping::State::add_missed(Interval part, Direction direction, double ns) {
  const size_t at = index_of(direction);
  missed_ns[at] = (missed[at] == part ? missed_ns[at] : 0) + ns;
  missed[at] = part;
}

KeptMapping::Mapping KeptMapping::take(Interval part, Direction direction) {
  return state_.with([&](State& state) {
    return state.holds(part, direction) ? std::exchange(state.mapping, nullptr) : nullptr;
  });
}

bool KeptMapping::holds(Interval part, Direction direction) {
  return state_.with([&](const State& state) { return state.holds(part, direction); });
}

bool KeptMapping::reaches(Interval part, Direction direction) {
  return state_.with([&](const State& state) { return state.reaches(part, direction); });
}

void KeptMapping::keep(Mapping mapping) {
  // What it replaces goes after the lock is given back.
  state_.with([&](State& state) { std::swap(state.mapping, mapping); });
}

double KeptMapping::missed_ns(Interval part, Direction direction) {
  return state_.with([&](const State& state) {
    const size_t at = index_of(direction);
    return state.missed[at] == part ? state.missed_ns[at] : 0;
  });
}

void KeptMapping::note_missed(Interval part, Direction direction, double ns) {
  state_.with([&](State& state) { state.add_missed(part, direction, ns); });
}

TESSERA_HOT bool KeptMapping::copy(const Run& run) {
  return state_.with([&](State& state) {
    if (!state.reaches(run.part(), run.direction)) return false;
    const bool reads = run.direction == Direction::kRead;
    state.stored |= !reads;
    const bool copied = reads ? state.mapping->load(run.offset, run.memory)
                              : state.mapping->store(run.offset, run.memory);
    // The file is not what it was.
    if (!copied) state.settled_end = {};
    return copied;
  });
}

bool KeptMapping::touch(Interval part, const std::function<void(const std::byte*)>& body) {
  const Mapping mapping = state_.with([&](const State& state) {
    return state.reaches(part, Direction::kRead) ? state.mapping : nullptr;
  });
  if (!mapping) return false;
  const std::byte* bytes = mapping->data() + (part.begin - mapping->begin());
  const bool touched = mapping->touch([&] { body(bytes); });
  // The file is not what it was.
  if (!touched) {
    state_.with([&](State& state) {
      if (state.mapping == mapping) state.settled_end = {};
    });
  }
  return touched;
}

bool KeptMapping::wants(Interval part, Direction direction, const Gain& gain) {
  return state_.with([&](State& state) {
    const size_t at = index_of(direction);
    state.add_missed(part, direction, gain.saved_ns);
    if (!state.holds(part, direction) && state.missed_ns[at] < gain.price_ns) return false;
    // Should it turn out to be impossible, that is not tried again at once.
    state.missed_ns[at] = 0;
    return true;
  });
}

bool KeptMapping::stores_in(Interval part) {
  return state_.with([&](State& state) {
    const bool stores = state.reaches(part, Direction::kWrite);
    state.stored |= stores;
    return stores;
  });
}

void KeptMapping::settle(int64_t end, Direction direction) {
  state_.with([&](State& state) { state.settled_end[index_of(direction)] = end; });
}

void KeptMapping::unsettle() {
  Mapping gone;
  state_.with([&](State& state) {
    state.settled_end = {};
    const bool only_read = state.mapping && state.mapping->access() == port::Access::kRead;
    if (only_read) gone = std::exchange(state.mapping, nullptr);
  });
}

bool KeptMapping::unmarked() {
  return state_.with([](State& state) { return std::exchange(state.stored, false); });
}

}  // namespace tessera::move
