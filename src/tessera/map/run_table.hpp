// RunTable: millions of disjoint runs of a file, each with its place in an allocation.
//
// Irregular files have a mapping for every run. They lie sorted in chunks of at most kChunkRuns, so
// that a run costs 40 bytes and the slack of its chunk, a search two binary searches, and a change
// the move of half a chunk. Runs that continue each other in the file and in the allocation, with
// one epoch, are one run. Thread safety: const functions from any thread.
#pragma once

#include <cstdint>
#include <vector>

#include "tessera/map/piece.hpp"
#include "tessera/pattern/point.hpp"

namespace tessera::map {

struct MappedRun {
  int64_t begin = 0;  // in the file
  int64_t length = 0;
  int64_t place = 0;  // of its first byte in the allocation
  uint64_t epoch = 0;
  AllocationId allocation = 0;

  [[nodiscard]] int64_t end() const { return begin + length; }
  [[nodiscard]] pattern::Interval bytes() const { return {begin, end()}; }
  // Whether `next` goes on where this ends.
  [[nodiscard]] bool continued_by(const MappedRun& next) const {
    return end() == next.begin && place + length == next.place && epoch == next.epoch &&
           allocation == next.allocation;
  }
  friend bool operator==(const MappedRun&, const MappedRun&) = default;
};

class RunTable {
 public:
  // A run of the table, until the table changes.
  struct Position {
    size_t chunk = 0;
    size_t index = 0;
  };

  RunTable() = default;
  // All runs at once. Requires that they are sorted, not empty and disjoint. Cost: O(n).
  explicit RunTable(const std::vector<MappedRun>& runs);

  [[nodiscard]] bool empty() const { return chunks_.empty(); }
  [[nodiscard]] int64_t size() const { return size_; }
  [[nodiscard]] int64_t end() const { return empty() ? 0 : chunks_.back().back().end(); }
  [[nodiscard]] int64_t memory_bytes() const;

  [[nodiscard]] Position first() const { return {}; }
  // The first run whose end lies after a byte. Cost: O(log n).
  [[nodiscard]] Position first_ending_after(int64_t byte) const;
  [[nodiscard]] bool is_end(Position at) const { return at.chunk == chunks_.size(); }
  // Both require !is_end(at).
  [[nodiscard]] const MappedRun& operator[](Position at) const {
    return chunks_[at.chunk][at.index];
  }
  [[nodiscard]] Position next(Position at) const {
    return at.index + 1 < chunks_[at.chunk].size() ? Position{at.chunk, at.index + 1}
                                                   : Position{at.chunk + 1, 0};
  }

  // Requires a run that is not empty and meets no other. Cost: O(log n).
  void insert(MappedRun run);
  // Takes out the run that begins there. Requires that there is one. Cost: O(log n).
  void erase(int64_t begin);

  // Calls change(run), which may change allocation and epoch, for every run.
  template <typename Change>
  void change_all(Change change) {
    for (std::vector<MappedRun>& chunk : chunks_) {
      for (MappedRun& run : chunk) change(run);
    }
  }

 private:
  static constexpr size_t kChunkRuns = 128;

  // Chunk that holds a byte, or would: the last one that begins at or before it, or the first.
  [[nodiscard]] size_t chunk_of(int64_t byte) const;
  // Where to insert what was to be inserted there; the chunk is not full afterwards, and may be
  // empty until then.
  Position make_room(Position at);
  void erase_at(Position at);
  void join_small(size_t chunk);
  void drop_chunk(size_t chunk);

  std::vector<std::vector<MappedRun>> chunks_;  // none is empty
  std::vector<int64_t> begins_;                 // of the first run of each chunk
  int64_t size_ = 0;
};

}  // namespace tessera::map
