// FileMap: where the bytes of a file live.
//
// An object file or a network file stores its bytes in allocations, in whatever order they were
// written. Its map is the relation of logical bytes with places in allocations: a writer packs the
// bytes of one access (a set) one after another, and a mapping says so. What a later mapping covers
// of an earlier one is hidden, which trims or splits the earlier one; so a reader with any view
// finds the newest of every byte, and a reader with the writer's view finds all of its bytes in one
// run. map/ knows allocations as opaque numbers and does no I/O.
//   (M1) Every byte has at most one visible place: visible pieces are disjoint.
//   (M2) The visible place of a byte is that of the mapping with the largest epoch that holds it,
//        and among equal epochs of the one added last, since the byte was last erased.
//   (M3) The pairs of a piece ascend in the file, and byte i of a mapping's set stays at place + i.
//   (M4) Replicas hold only bytes that are visible, each with the epoch of the visible place that
//        it is a copy of; in one allocation each byte has at most one replica.
//   (M5) live_bytes() of an allocation is the number of bytes it has in all pieces and replicas.
// Regular sets stay compressed: a piece is a repetition of any size, kept with its span in a tree;
// single runs, of which there may be millions, lie in a sorted table of 40 bytes each. An operation
// spends a pattern::Budget on sets that interleave irregularly and then fails with kTooComplex,
// having changed nothing. Thread safety: const functions from any thread; the others need exclusive
// use. A copy shares no changes with its original.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "tessera/base/result.hpp"
#include "tessera/map/piece_table.hpp"
#include "tessera/pattern/byte_set.hpp"
#include "tessera/pattern/trace.hpp"

namespace tessera::map {

// A packed write: byte number i of the set, in file order, is at `place + i` of the allocation.
struct Mapping {
  pattern::ByteSet bytes;
  AllocationId allocation = 0;
  int64_t place = 0;
  uint64_t epoch = 0;  // of two mappings of a byte the larger epoch is the newer one
};

// What one allocation holds of a request. Byte i of `bytes`, in file order, is byte i of the stream
// `places`. Places ascend if the bytes were stored in file order; otherwise they jump.
struct Part {
  AllocationId allocation = 0;
  pattern::ByteSet bytes;
  pattern::Pattern places;
};

struct Found {
  std::vector<Part> parts;   // disjoint; by first byte
  pattern::ByteSet missing;  // what no allocation holds
};

class FileMap {
 public:
  // Maps the bytes, hiding what older mappings and mappings of the same epoch show of them; what
  // newer ones show stays. A mapping that continues the last one of its allocation and epoch
  // becomes one piece with it, also at a stride, so a million writes in sequence are one piece.
  // Fails with kInvalid if bytes or place are negative or leave pattern::kMaxLine.
  // Cost: O(log n + what is hidden).
  base::Result<void> add(const Mapping& mapping, pattern::Budget budget = {});

  // Another copy of bytes that are visible now, with contents as of mapping.epoch: bytes that are
  // not mapped, or whose visible epoch is larger, are left out. A copy is forgotten when its byte
  // is mapped anew or erased, or where trimming it would be too complex. Fails as add() does.
  base::Result<void> add_replica(const Mapping& mapping, pattern::Budget budget = {});

  // All visible mappings and replicas of another map, by epoch as if each had been added here; its
  // mappings count as added later. Allocation numbers mean the same in both. On failure what was
  // added before stays. Cost: O(pieces of other x log n).
  base::Result<void> add_all(const FileMap& other, pattern::Budget budget = {});

  // The maps of many processes as one: the empty map with add_all() of each in turn.
  [[nodiscard]] static base::Result<FileMap> merge(std::span<const FileMap> maps,
                                                   pattern::Budget budget = {});

  // Which allocations hold the visible bytes of the request. An allocation gives several parts only
  // where regular pieces of it interleave. Cost: O(log n + r), r counting the runs and regular
  // pieces whose spans meet the request's.
  [[nodiscard]] base::Result<Found> find(const pattern::ByteSet& request,
                                         pattern::Budget budget = {}) const;

  // One allocation that alone holds the whole request, in visible places and replicas: `preferred`
  // if it does, else any. None if there is none, or if that would be too complex to tell.
  [[nodiscard]] std::optional<Part> find_whole(const pattern::ByteSet& request,
                                               AllocationId preferred,
                                               pattern::Budget budget = {}) const;

  // The bytes are mapped nowhere any more. The map forgets which epochs they had.
  base::Result<void> erase(const pattern::ByteSet& bytes, pattern::Budget budget = {});
  // Erases everything from `size` on. One run is cut off anything regular at little cost; a
  // stranger's map may be such that it is too complex all the same.
  base::Result<void> truncate(int64_t size, pattern::Budget budget = {});
  // Takes an allocation out with everything that it holds; visible bytes are lost unless a replica
  // holds them, which then becomes visible.
  base::Result<void> drop_allocation(AllocationId allocation, pattern::Budget budget = {});

  // The map of these pieces and replicas, which a stranger may have written: fails with kIntegrity
  // if they break (M1), (M3) or (M4) or have epochs past epoch_max, with kTooComplex if that cannot
  // be told within bounds. Of pieces that were checked before, only what costs little is checked.
  [[nodiscard]] static base::Result<FileMap> of(std::span<const Piece> visible,
                                                std::span<const Piece> replicas, uint64_t epoch_max,
                                                Origin origin = Origin::kStranger);

  [[nodiscard]] bool empty() const { return visible_.empty(); }
  // All mapped bytes. Cost: O(n).
  [[nodiscard]] base::Result<pattern::ByteSet> covered(pattern::Budget budget = {}) const;
  // Number of mapped bytes. Cost: O(allocations).
  [[nodiscard]] int64_t covered_bytes() const;
  // One past the last mapped byte; 0 for the empty map. Cost: O(log n + regular pieces).
  [[nodiscard]] int64_t end() const { return visible_.end(); }
  // The largest epoch that was ever added; 0 for a new map.
  [[nodiscard]] uint64_t epoch_max() const { return epoch_max_; }

  // Every allocation that holds something, in ascending order.
  [[nodiscard]] std::vector<AllocationId> allocations() const;
  // What must be kept of an allocation: everything else in it may be written anew.
  [[nodiscard]] int64_t live_bytes(AllocationId allocation) const;
  // The places of an allocation that are referred to. Cost: O(n log n).
  [[nodiscard]] base::Result<pattern::ByteSet> live_places(AllocationId allocation,
                                                           pattern::Budget budget = {}) const;

  // Every allocation gets the number that the function gives for its old one. Requires that
  // different ones stay different. Cost: O(n).
  void renumber(const std::function<AllocationId(AllocationId)>& number);

  // Every visible piece, or every replica, in no order; together they are the whole map.
  void for_each(const std::function<void(const Piece&)>& visit) const;
  void for_each_replica(const std::function<void(const Piece&)>& visit) const;

  // Pieces, regular ones counted once, and those of replicas.
  [[nodiscard]] int64_t piece_count() const;
  // Runs: what the pieces would be if none were regular.
  [[nodiscard]] int64_t run_count() const { return visible_.run_count(); }
  [[nodiscard]] int64_t memory_bytes() const;

  // Asserts (M1), (M3), (M4) and (M5), as far as default budgets can tell them. For tests.
  // Cost: O(n^2) for regular pieces.
  void check_invariants() const;

 private:
  base::Result<void> add_piece(Piece piece, pattern::ByteSet bytes, pattern::Budget budget);
  base::Result<void> insert_copies(const Piece& piece, uint64_t oldest, pattern::Budget budget);
  [[nodiscard]] base::Result<void> check_shown(const Piece& copy, pattern::Budget& budget) const;
  [[nodiscard]] base::Result<std::vector<Piece>> copies_of(pattern::ByteSet bytes, AllocationId but,
                                                           pattern::Budget budget) const;
  void cut_replicas(const pattern::ByteSet& bytes, pattern::Budget budget);
  [[nodiscard]] std::optional<Part> whole_in(AllocationId allocation,
                                             const pattern::ByteSet& request,
                                             std::vector<Piece> visible,
                                             pattern::Budget budget) const;

  PieceTable visible_;
  std::map<AllocationId, PieceTable> replicas_;  // no table is empty
  uint64_t epoch_max_ = 0;
};

}  // namespace tessera::map
