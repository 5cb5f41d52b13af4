#include "tessera/container/compaction.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <vector>

#include "tessera/base/checked.hpp"
#include "tessera/container/allocation_writer.hpp"
#include "tessera/container/block_reader.hpp"
#include "tessera/container/container.hpp"
#include "tessera/map/set_union.hpp"
#include "tessera/pattern/join.hpp"

namespace tessera::container {
namespace {

using base::Result;
using pattern::ByteSet;

constexpr int64_t kCopyBytes = int64_t{1} << 20;

// What the map says of one allocation.
struct Held {
  std::vector<map::Piece> visible;
  std::vector<map::Piece> replicas;
};
using HeldByAllocation = std::map<map::AllocationId, Held>;

HeldByAllocation held_by(const Contents& contents) {
  HeldByAllocation held;
  contents.map.for_each(
      [&](const map::Piece& piece) { held[piece.allocation].visible.push_back(piece); });
  contents.map.for_each_replica(
      [&](const map::Piece& piece) { held[piece.allocation].replicas.push_back(piece); });
  return held;
}

// The places of an allocation that are in use.
Result<ByteSet> places_of(const Held& held) {
  std::vector<pattern::Run> runs;
  std::vector<ByteSet> sets;
  for (const auto* pieces : {&held.visible, &held.replicas}) {
    for (const map::Piece& piece : *pieces) {
      if (piece.pairs.shape().is_run()) {
        runs.push_back({piece.pairs.at()[1], piece.pairs.size()});
        continue;
      }
      TESSERA_TRY(ByteSet places, ByteSet::of(pattern::side(piece.pairs, 1)));
      sets.push_back(std::move(places));
    }
  }
  TESSERA_TRY(ByteSet places, map::set_of_runs(std::move(runs)));
  sets.push_back(std::move(places));
  return map::unite_all(std::move(sets), {});
}

// Copies from one container to another.
class Copy {
 public:
  Copy(port::File& from, const Contents& old, port::File& to, const CompactionProgress& progress)
      : old_(old), to_(to), progress_(progress), reader_(from, reader_options(old)) {
    contents_.block_bytes = old.block_bytes;
    contents_.size = old.size;
    contents_.views = old.views;
    contents_.attributes = old.attributes;
  }

  Result<void> run(int64_t begin) {
    const HeldByAllocation held = held_by(old_);
    std::map<map::AllocationId, ByteSet> places;
    for (const auto& [id, what] : held) {
      TESSERA_TRY(places[id], used_places(id, what));
      total_ += places[id].size();
    }
    for (const auto& [id, what] : held) {
      TESSERA_TRY(begin, copy_allocation(id, what, places[id], begin));
    }
    TESSERA_TRY(contents_.map,
                map::FileMap::of(visible_, replicas_, old_.map.epoch_max(), map::Origin::kChecked));
    return to_.sync();
  }

  [[nodiscard]] const Contents& contents() const { return contents_; }
  [[nodiscard]] int64_t bytes() const { return total_; }

 private:
  static BlockReaderOptions reader_options(const Contents& old) {
    BlockReaderOptions options;
    options.block_bytes = old.block_bytes;
    options.logical_bytes = [&old](map::AllocationId id, Interval places) {
      return logical_bytes(old, id, places);
    };
    return options;
  }

  // All places where those in use are too irregular to tell.
  [[nodiscard]] Result<ByteSet> used_places(map::AllocationId id, const Held& held) const {
    auto places = places_of(held);
    if (places || places.error().code != base::Code::kTooComplex) return places;
    return ByteSet::of(Interval{0, old_.find(id)->place.length()});
  }

  // Answers where the next one begins.
  Result<int64_t> copy_allocation(map::AllocationId id, const Held& held, const ByteSet& places,
                                  int64_t begin) {
    const int64_t end = begin + base::ceil_div(places.size(), old_.block_bytes) * old_.block_bytes;
    AllocationWriter writer(to_, {begin, end}, old_.block_bytes);
    TESSERA_TRY_VOID(copy_bytes(*old_.find(id), places.ascending(), writer));
    TESSERA_TRY_VOID(writer.flush());
    Allocation allocation = writer.allocation();
    allocation.id = contents_.next_id();
    allocation.manager = old_.find(id)->manager;
    TESSERA_TRY_VOID(move_pieces(held.visible, places, allocation.id, visible_));
    TESSERA_TRY_VOID(move_pieces(held.replicas, places, allocation.id, replicas_));
    contents_.add(std::move(allocation));
    return end;
  }

  // Places that are in use stay in their order, so what was one run is one.
  static Result<void> move_pieces(const std::vector<map::Piece>& pieces, const ByteSet& places,
                                  map::AllocationId id, std::vector<map::Piece>& moved) {
    TESSERA_TRY(const pattern::Pattern packed, pattern::Pattern::run({{0}}, places.size()));
    TESSERA_TRY(const pattern::Join moves, pattern::join(places.ascending(), packed));
    for (const map::Piece& piece : pieces) {
      pattern::Join pairs;
      if (piece.pairs.shape().is_run()) {
        pattern::Point<2> at = piece.pairs.at();
        at[1] = places.ascending().offset_of(at[1]);
        TESSERA_TRY(pairs, pattern::Join::run(at, piece.pairs.size()));
      } else {
        TESSERA_TRY(pairs, pattern::match(pattern::swapped(piece.pairs), moves));
      }
      moved.push_back({id, piece.epoch, std::move(pairs)});
    }
    return {};
  }

  Result<void> copy_bytes(const Allocation& from, const pattern::Pattern& places,
                          AllocationWriter& writer) {
    for (int64_t at = 0; at < places.size(); at += kCopyBytes) {
      const Interval stream = {at, std::min(places.size(), at + kCopyBytes)};
      memory_.resize(static_cast<size_t>(stream.length()));
      TESSERA_TRY_VOID(reader_.read_places(from, places.clip(stream), memory_));
      TESSERA_TRY_VOID(writer.append(memory_));
      done_ += stream.length();
      if (progress_) progress_(done_, total_);
    }
    return {};
  }

  const Contents& old_;
  port::File& to_;
  const CompactionProgress& progress_;
  BlockReader reader_;
  Contents contents_;
  std::vector<map::Piece> visible_;
  std::vector<map::Piece> replicas_;
  base::Bytes memory_;
  int64_t done_ = 0;
  int64_t total_ = 0;
};

Result<CompactionReport> copy_to(port::File& from, port::File& to,
                                 const CompactionProgress& progress) {
  TESSERA_TRY(Container old, Container::open(from));
  TESSERA_TRY(const Contents contents, old.read_contents());
  CompactionReport report;
  TESSERA_TRY(report.bytes_before, from.size());
  TESSERA_TRY(Container fresh, Container::create_successor(to, old.superblock()));
  Copy copy(from, contents, to, progress);
  // The blob of the empty state is in the way; the one that counts goes to the end.
  TESSERA_TRY_VOID(copy.run(fresh.space().end()));
  TESSERA_TRY_VOID(fresh.commit(copy.contents()));
  // Both superblocks are to be durable before the name leads to them.
  TESSERA_TRY_VOID(to.sync());
  report.bytes_copied = copy.bytes();
  TESSERA_TRY(report.bytes_after, to.size());
  return report;
}

}  // namespace

Result<CompactionReport> compact(port::Disk& disk, const std::string& path,
                                 const CompactionOptions& options) {
  TESSERA_TRY(const std::unique_ptr<port::File> from, disk.open(path, port::Access::kRead));
  TESSERA_TRY(const auto fresh, disk.make_fresh(path));
  TESSERA_TRY(const CompactionReport report, copy_to(*from, fresh->file(), options.progress));
  TESSERA_TRY_VOID(options.publish ? options.publish(*fresh)
                                   : fresh->publish(port::Existing::kReplace));
  TESSERA_TRY_VOID(disk.sync_directory(port::directory_of(path)));
  return report;
}

}  // namespace tessera::container
