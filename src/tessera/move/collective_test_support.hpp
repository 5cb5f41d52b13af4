// Collective moves in a small universe: a shared file that watches over its writers, and an oracle.
//
// Thread safety: ranks are threads; whatever they share says how.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "tessera/move/collective.hpp"
#include "tessera/move/test_moves.hpp"
#include "tessera/port/thread_team.hpp"

namespace tessera::move::model {

// A lock of threads for a few instructions.
class Latch {
 public:
  void lock() {
    while (taken_.exchange(true, std::memory_order_acquire)) taken_.wait(true);
  }
  void unlock() {
    taken_.store(false, std::memory_order_release);
    taken_.notify_one();
  }

 private:
  std::atomic<bool> taken_ = false;
};

class [[nodiscard]] Latched {
 public:
  explicit Latched(Latch& latch) : latch_(latch) { latch_.lock(); }
  ~Latched() { latch_.unlock(); }
  Latched(const Latched&) = delete;
  Latched& operator=(const Latched&) = delete;

 private:
  Latch& latch_;
};

// What all ranks see of the file.
struct SharedFile {
  Latch latch;  // over all that follows
  Contents contents;
  std::vector<bool> provided;  // by any rank
  std::vector<int> faults;     // errno of the nth transfer, 0 for none
  size_t transfers = 0;
  std::vector<Interval> held;  // lock of each rank
  bool readable = true;
  bool writable = true;
};

// One rank's open file. Bytes that no rank provided may be written only under this rank's lock, and
// with the value they have at that moment.
class WatchedRankFile final : public port::File {
 public:
  WatchedRankFile(SharedFile& shared, int rank)
      : File("watched"), shared_(shared), rank_(static_cast<size_t>(rank)) {}

  base::Result<void> truncate(int64_t) override { return base::fail_errno(EINVAL, "truncate"); }
  base::Result<int64_t> size() override {
    const Latched latched(shared_.latch);
    return std::ssize(shared_.contents);
  }
  base::Result<void> sync() override { return {}; }

 protected:
  Attempt read_some(int64_t offset, std::span<const iovec> memory) override {
    const Latched latched(shared_.latch);
    if (const int error = next_fault(); error != 0) return {0, error};
    if (!shared_.readable) return {0, EBADF};
    int64_t done = 0;
    for (const iovec& piece : memory) {
      const int64_t left = std::max<int64_t>(0, std::ssize(shared_.contents) - offset - done);
      const size_t bytes = std::min(piece.iov_len, static_cast<size_t>(left));
      if (bytes == 0) break;
      std::memcpy(piece.iov_base, shared_.contents.data() + offset + done, bytes);
      done += static_cast<int64_t>(bytes);
    }
    return {done, 0};
  }

  Attempt write_some(int64_t offset, std::span<const iovec> memory) override {
    const Latched latched(shared_.latch);
    if (const int error = next_fault(); error != 0) return {0, error};
    if (!shared_.writable) return {0, EBADF};
    int64_t at = offset;
    for (const iovec& piece : memory) {
      const auto* bytes = static_cast<const std::byte*>(piece.iov_base);
      for (size_t i = 0; i < piece.iov_len; ++i) store(at++, bytes[i]);
    }
    return {at - offset, 0};
  }

 private:
  int next_fault() {
    const size_t now = shared_.transfers++;
    return now < shared_.faults.size() ? shared_.faults[now] : 0;
  }

  void store(int64_t place, std::byte value) {
    const auto at = static_cast<size_t>(place);
    Contents& contents = shared_.contents;
    if (at >= contents.size()) contents.resize(at + 1);
    if (at >= shared_.provided.size() || !shared_.provided[at]) {
      EXPECT_TRUE(shared_.held[rank_].contains({place, place + 1})) << at;
      EXPECT_EQ(value, contents[at]) << at;
    }
    contents[at] = value;
  }

  SharedFile& shared_;
  const size_t rank_;
};

// One rank's locks, which exclude those of the others.
class RankLocks final : public lock::Locks {
 public:
  RankLocks(SharedFile& shared, int rank) : shared_(shared), rank_(static_cast<size_t>(rank)) {}

  base::Result<lock::Held> acquire(const pattern::ByteSet& bytes, lock::Mode mode) override {
    EXPECT_EQ(mode, lock::Mode::kExclusive);
    while (!try_hold(bytes.span())) {
    }
    return lock::Held([this] {
      const Latched latched(shared_.latch);
      shared_.held[rank_] = {};
    });
  }

 private:
  bool try_hold(Interval bytes) {
    const Latched latched(shared_.latch);
    EXPECT_TRUE(shared_.held[rank_].empty());
    for (const Interval held : shared_.held) {
      if (held.meets(bytes)) return false;
    }
    shared_.held[rank_] = bytes;
    return true;
  }

  SharedFile& shared_;
  const size_t rank_;
};

// A collective move: one case for each rank.
struct Scene {
  Direction direction = Direction::kRead;
  std::vector<Case> ranks;
  std::vector<base::Result<void>> before;  // by rank
  Hints hints;
  Costs costs;
  std::vector<int> node;  // empty: one team
};

struct Played {
  std::vector<Transfer> transfers;
  std::vector<Choice> choices;
};

inline Transfer execute_rank(const Scene& scene, const Move& move, Context& context,
                             port::Team& team) {
  // Of those with nothing to move, every other rank has been ahead, as far as the rest can tell.
  const bool done = move.file.empty() && context.before && team.rank() % 2 == 1;
  if (scene.node.empty() && done) {
    return {0, finish_in_team(scene.direction, team, [&] { return context; })};
  }
  if (scene.node.empty()) return execute_in_team(move, context, team);
  return execute_across_nodes(move, context, team, scene.node);
}

// Executes the scene, `times` times in the same team, each rank in a thread.
inline Played play(Scene& scene, SharedFile& file, int times = 1) {
  const size_t size = scene.ranks.size();
  file.held.assign(size, {});
  Played played;
  played.transfers.resize(size);
  played.choices.resize(size);
  port::run_team(static_cast<int>(size), [&](port::Team& team) {
    const auto rank = static_cast<size_t>(team.rank());
    WatchedRankFile rank_file(file, team.rank());
    RankLocks locks(file, team.rank());
    Experience experience;
    for (int i = 0; i < times; ++i) {
      Context context = {rank_file, locks, scene.hints, scene.costs, {}, {}};
      context.experience = &experience;
      if (rank < scene.before.size()) context.before = scene.before[rank];
      played.transfers[rank] = execute_rank(scene, scene.ranks[rank].move, context, team);
      played.choices[rank] = context.choice;
    }
  });
  return played;
}

// The values that the ranks give to each byte of the file.
inline std::vector<std::vector<std::byte>> values_given(const Scene& scene, int64_t end) {
  std::vector<std::vector<std::byte>> values(static_cast<size_t>(end));
  for (const Case& rank : scene.ranks) {
    const auto to = random::positions(rank.move.file);
    const auto from = random::positions(rank.move.memory);
    for (size_t i = 0; i < to.size(); ++i) {
      values[static_cast<size_t>(to[i][0])].push_back(
          rank.memory[static_cast<size_t>(kMemoryReach + from[i][0])]);
    }
  }
  return values;
}

inline void mark_provided(const Scene& scene, SharedFile& file, int64_t end) {
  file.provided.assign(static_cast<size_t>(end), false);
  for (const Case& rank : scene.ranks) {
    for (const auto& place : random::positions(rank.move.file)) {
      file.provided[static_cast<size_t>(place[0])] = true;
    }
  }
}

inline int64_t end_of(const Scene& scene) {
  int64_t end = 0;
  for (const Case& rank : scene.ranks) end = std::max(end, rank.move.file.span().end);
  return end;
}

}  // namespace tessera::move::model
