#include "tessera/port/crash_states.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "tessera/base/assert.hpp"
#include "tessera/base/checked.hpp"

namespace tessera::port {

namespace {

using Kind = DiskOperation::Kind;

bool is_sync(const DiskOperation& operation) {
  return operation.kind == Kind::kSync || operation.kind == Kind::kSyncFailed;
}

// The inodes whose sync makes the operation durable; it needs all of them.
std::vector<Inode> needed_syncs(const DiskOperation& operation) {
  switch (operation.kind) {
    case Kind::kWrite:
    case Kind::kTruncate:
      return {operation.inode};
    case Kind::kCreate:
    case Kind::kMakeDirectory:
    case Kind::kRemove:
      return {operation.entry.directory};
    case Kind::kRename:
      if (operation.entry.directory == operation.to.directory) return {operation.to.directory};
      return {operation.entry.directory, operation.to.directory};
    case Kind::kSync:
    case Kind::kSyncFailed:
      break;
  }
  return {};
}

template <typename Choose>
void apply_torn_write(SimTree& tree, const DiskOperation& write, Choose choose) {
  const int64_t end = write.offset + base::exact_cast<int64_t>(write.bytes.size());
  for (int64_t begin = write.offset; begin < end;) {
    const int64_t sector_end = std::min(end, (begin / kSectorBytes + 1) * kSectorBytes);
    const auto bytes = base::ByteView(write.bytes)
                           .subspan(static_cast<size_t>(begin - write.offset),
                                    static_cast<size_t>(sector_end - begin));
    if (choose()) tree.write(write.inode, begin, bytes);
    begin = sector_end;
  }
  if (tree.size(write.inode) < end && choose()) tree.set_size(write.inode, end);
}

// Walks all answers to a series of yes/no questions whose length depends on the answers: each pass
// repeats a prefix and answers no from there on; next() turns the last no into a yes.
class AllChoices {
 public:
  bool choose() {
    if (position_ == answers_.size()) answers_.push_back(false);
    return answers_[position_++];
  }

  bool next() {
    TESSERA_ASSERT(position_ == answers_.size());
    position_ = 0;
    while (!answers_.empty() && answers_.back()) answers_.pop_back();
    if (answers_.empty()) return false;
    answers_.back() = true;
    return true;
  }

 private:
  std::vector<bool> answers_;
  size_t position_ = 0;
};

}  // namespace

std::vector<bool> CrashStates::covered(size_t point) const {
  std::vector<size_t> missing(point, 0);
  std::map<Inode, std::vector<size_t>> unsynced;
  for (size_t i = 0; i < point; ++i) {
    const DiskOperation& operation = log_.operations[i];
    for (const Inode inode : needed_syncs(operation)) {
      unsynced[inode].push_back(i);
      ++missing[i];
    }
    if (!is_sync(operation)) continue;
    if (operation.kind == Kind::kSync) {
      for (const size_t earlier : unsynced[operation.inode]) --missing[earlier];
    }
    unsynced.erase(operation.inode);
  }
  std::vector<bool> covered(point);
  for (size_t i = 0; i < point; ++i) covered[i] = missing[i] == 0;
  return covered;
}

CrashState CrashStates::build(size_t point, const Choose& choose) const {
  TESSERA_ASSERT(point < points());
  const std::vector<bool> durable = covered(point);
  SimTree tree = log_.initial;
  for (size_t i = 0; i < point; ++i) {
    const DiskOperation& operation = log_.operations[i];
    if (durable[i]) {
      tree.apply(operation);
    } else if (operation.kind == Kind::kWrite) {
      apply_torn_write(tree, operation, [&] { return choose(i); });
    } else if (choose(i)) {
      tree.apply(operation);
    }
  }
  return {point, tree.image()};
}

CrashState CrashStates::sample(Random& random) const {
  return sample_at(random.uniform(points()), random);
}

CrashState CrashStates::sample_at(size_t point, Random& random) const {
  constexpr uint64_t kStyles = 5;
  switch (random.uniform(kStyles)) {
    case 0:
      return build(point, [](size_t) { return false; });
    case 1:
      return build(point, [](size_t) { return true; });
    case 2:
      return build(point, [&](size_t) { return random.chance(1, 2); });
    case 3: {
      const uint64_t sixteenths = random.chance(1, 2) ? 1 : 15;
      return build(point, [&, sixteenths](size_t) { return random.chance(sixteenths, 16); });
    }
    default: {
      std::vector<bool> whole(point);
      for (size_t i = 0; i < point; ++i) whole[i] = random.chance(1, 2);
      const size_t torn = random.uniform(point + 1);
      return build(point,
                   [&](size_t i) { return i == torn ? random.chance(1, 2) : bool{whole[i]}; });
    }
  }
}

base::Result<uint64_t> CrashStates::for_each(
    uint64_t states_max, const std::function<void(const CrashState&)>& visit) const {
  uint64_t visited = 0;
  for (size_t point = 0; point < points(); ++point) {
    AllChoices choices;
    do {
      if (visited == states_max) {
        return base::fail(base::Code::kTooComplex, "more than " + std::to_string(states_max) +
                                                       " crash states; sample them instead");
      }
      visit(build(point, [&](size_t) { return choices.choose(); }));
      ++visited;
    } while (choices.next());
  }
  return visited;
}

}  // namespace tessera::port
