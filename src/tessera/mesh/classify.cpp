#include "tessera/mesh/classify.hpp"

#include <algorithm>

#include "tessera/base/checked.hpp"

namespace tessera::mesh {

namespace {

constexpr size_t kFirstSteps = 1024;

}  // namespace

Classifier::Classifier(const Partition& partition)
    : parts_(partition.parts),
      part_of_(partition.part_of),
      state_of_(partition.part_of),
      steps_(kFirstSteps) {
  TESSERA_ASSERT(parts_ > 0);
  TESSERA_ASSERT(std::ranges::all_of(
      part_of_, [parts = parts_](int32_t part) { return part >= 0 && part < parts; }));
}

void Classifier::join(std::span<const Node> nodes) {
  met_parts_.clear();
  for (const Node node : nodes) {
    const int32_t part = home(node);
    if (std::ranges::find(met_parts_, part) == met_parts_.end()) met_parts_.push_back(part);
  }
  for (const Node node : nodes) {
    State& state = state_of_[static_cast<size_t>(node)];
    for (const int32_t part : met_parts_) state = stepped(state, part);
  }
}

// The state of a node that meets a part, which may be one that it has met.
Classifier::State Classifier::stepped(State from, int32_t part) {
  if (from == part) return from;
  size_t at = slot(from, part);
  if (steps_[at].from >= 0) return steps_[at].to;
  const State to = names(from, part) ? from : longer(from, part);
  if (2 * ++steps_used_ > steps_.size()) {
    grow_steps();
    at = slot(from, part);
  }
  steps_[at] = {.from = from, .part = part, .to = to};
  return to;
}

bool Classifier::names(State state, int32_t part) const {
  while (state >= parts_) {
    const Longer& list = longer_[static_cast<size_t>(state - parts_)];
    if (list.part == part) return true;
    state = list.before;
  }
  return state == part;
}

Classifier::State Classifier::longer(State from, int32_t part) {
  const auto state = base::exact_cast<State>(parts_ + std::ssize(longer_));
  longer_.push_back({.before = from, .part = part});
  return state;
}

// Where a step is in the table, or where it would be.
size_t Classifier::slot(State from, int32_t part) const {
  const uint64_t key =
      static_cast<uint64_t>(static_cast<uint32_t>(from)) << 32 | static_cast<uint32_t>(part);
  const uint64_t hash = key * 0x9e3779b97f4a7c15ULL;
  const size_t mask = steps_.size() - 1;
  size_t at = (hash >> 32) & mask;
  while (steps_[at].from >= 0 && (steps_[at].from != from || steps_[at].part != part)) {
    at = (at + 1) & mask;
  }
  return at;
}

void Classifier::grow_steps() {
  std::vector<Step> steps(2 * steps_.size());
  steps.swap(steps_);
  for (const Step& step : steps) {
    if (step.from >= 0) steps_[slot(step.from, step.part)] = step;
  }
}

std::vector<object::Process> Classifier::holders(State state) const {
  std::vector<object::Process> parts;
  for (; state >= parts_; state = longer_[static_cast<size_t>(state - parts_)].before) {
    parts.push_back(longer_[static_cast<size_t>(state - parts_)].part);
  }
  std::ranges::sort(parts);
  parts.insert(parts.begin(), state);
  return parts;
}

owner::Sharing Classifier::finish() {
  constexpr owner::HoldersId kNone = -1;
  owner::Sharing sharing(parts_);
  std::vector<owner::HoldersId> ids(static_cast<size_t>(parts_) + longer_.size(), kNone);
  for (auto from = state_of_.begin(); from != state_of_.end();) {
    const State state = *from;
    const auto to = std::find_if(from, state_of_.end(), [state](State s) { return s != state; });
    owner::HoldersId& id = ids[static_cast<size_t>(state)];
    if (id == kNone) id = sharing.intern(holders(state));
    sharing.append(to - from, id);
    from = to;
  }
  return sharing;
}

owner::Sharing classify(const Mesh& mesh, const Partition& partition) {
  TESSERA_ASSERT(std::ssize(partition.part_of) == mesh.nodes());
  Classifier classifier(partition);
  for (int64_t i = 0; i < mesh.elements(); ++i) classifier.element(mesh.element(i));
  return classifier.finish();
}

}  // namespace tessera::mesh
