#include "tessera/container/compaction.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <vector>

#include "tessera/base/checked.hpp"
#include "tessera/container/allocation_writer.hpp"
#include "tessera/container/block_reader.hpp"
#include "tessera/container/container.hpp"
#include "tessera/pattern/join.hpp"

namespace tessera::container {
namespace {

using base::Result;

constexpr int64_t kCopyBytes = int64_t{1} << 20;

// What one manager wrote, in file order.
using PiecesByManager = std::map<int32_t, std::vector<map::Piece>>;

PiecesByManager pieces_of(const Contents& contents) {
  PiecesByManager result;
  contents.map.for_each([&](const map::Piece& piece) {
    result[contents.find(piece.allocation)->manager].push_back(piece);
  });
  for (auto& [manager, pieces] : result) {
    std::sort(pieces.begin(), pieces.end(), [](const map::Piece& a, const map::Piece& b) {
      return a.pairs.at()[0] < b.pairs.at()[0];
    });
  }
  return result;
}

// Copies from one container to another.
class Copy {
 public:
  Copy(port::File& from, const Contents& old, port::File& to)
      : old_(old), to_(to), reader_(from, reader_options(old)) {
    contents_.block_bytes = old.block_bytes;
    contents_.size = old.size;
    contents_.views = old.views;
    contents_.attributes = old.attributes;
  }

  Result<void> run(int64_t begin) {
    for (const auto& [manager, pieces] : pieces_of(old_)) {
      int64_t bytes = 0;
      for (const map::Piece& piece : pieces) bytes += piece.pairs.size();
      const int64_t room = base::ceil_div(bytes, old_.block_bytes) * old_.block_bytes;
      AllocationWriter writer(to_, {begin, begin + room}, old_.block_bytes);
      const map::AllocationId id = contents_.next_id();
      for (const map::Piece& piece : pieces) TESSERA_TRY_VOID(copy(piece, writer, id));
      TESSERA_TRY_VOID(writer.flush());
      Allocation allocation = writer.allocation();
      allocation.id = id;
      allocation.manager = manager;
      contents_.add(std::move(allocation));
      begin += room;
      bytes_ += bytes;
    }
    return to_.sync();
  }

  [[nodiscard]] const Contents& contents() const { return contents_; }
  [[nodiscard]] int64_t bytes() const { return bytes_; }

 private:
  static BlockReaderOptions reader_options(const Contents& old) {
    BlockReaderOptions options;
    options.block_bytes = old.block_bytes;
    options.logical_bytes = [&old](map::AllocationId id, Interval places) {
      return logical_bytes(old, id, places);
    };
    return options;
  }

  Result<void> copy(const map::Piece& piece, AllocationWriter& writer, map::AllocationId id) {
    const Allocation* from = old_.find(piece.allocation);
    const pattern::Pattern places = pattern::side(piece.pairs, 1);
    // One epoch for all: nothing hides anything here, and neighbours can become one mapping.
    TESSERA_TRY_VOID(
        contents_.map.add({pattern::ByteSet::of_ascending(pattern::side(piece.pairs, 0)), id,
                           writer.place(), old_.map.epoch_max()}));
    for (int64_t at = 0; at < places.size(); at += kCopyBytes) {
      const Interval stream = {at, std::min(places.size(), at + kCopyBytes)};
      memory_.resize(static_cast<size_t>(stream.length()));
      TESSERA_TRY_VOID(reader_.read_places(*from, places.clip(stream), memory_));
      TESSERA_TRY_VOID(writer.append(memory_));
    }
    return {};
  }

  const Contents& old_;
  port::File& to_;
  BlockReader reader_;
  Contents contents_;
  base::Bytes memory_;
  int64_t bytes_ = 0;
};

Result<CompactionReport> copy_to(port::File& from, port::File& to) {
  TESSERA_TRY(Container old, Container::open(from));
  TESSERA_TRY(const Contents contents, old.read_contents());
  CompactionReport report;
  TESSERA_TRY(report.bytes_before, from.size());
  TESSERA_TRY(Container fresh, Container::create_successor(to, old.superblock()));
  Copy copy(from, contents, to);
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
                                 const PrepareFile& prepare) {
  const std::string beside = path + ".compact";
  TESSERA_TRY(const std::unique_ptr<port::File> from, disk.open(path, port::Access::kRead));
  if (const auto removed = disk.remove(beside);
      !removed && removed.error().code != base::Code::kNotFound) {
    return base::failure_of(removed);
  }
  TESSERA_TRY(std::unique_ptr<port::File> to, disk.create(beside));
  Result<CompactionReport> report = copy_to(*from, *to);
  to.reset();
  Result<void> renamed = report ? Result<void>() : base::failure_of(report);
  if (renamed && prepare) renamed = prepare(beside);
  if (renamed) renamed = disk.rename(beside, path);
  if (!renamed) {
    static_cast<void>(disk.remove(beside));
    return base::failure_of(renamed);
  }
  TESSERA_TRY_VOID(disk.sync_directory(port::directory_of(path)));
  return report;
}

}  // namespace tessera::container
