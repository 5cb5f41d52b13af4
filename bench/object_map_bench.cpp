#include "bench/object_map_bench.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <random>
#include <utility>

#include "bench/scratch_folder.hpp"
#include "tessera/base/checked.hpp"
#include "tessera/cache/object_file.hpp"
#include "tessera/container/container.hpp"
#include "tessera/map/map_codec.hpp"
#include "tessera/object/tile_wall.hpp"
#include "tessera/port/plain_file.hpp"
#include "tessera/port/seeded_random.hpp"
#include "tessera/port/self_team.hpp"

namespace tessera::bench {

namespace {

using base::Result;

constexpr object::Wall kTiles{4, 4, 1024, 1024, 0, 0, 4};
constexpr double kTileMapBytesMax = 16 << 10;
constexpr int64_t kObjects = 1'000'000;
constexpr int64_t kWriters = 16;
constexpr int64_t kRunBytesMin = 8;
constexpr int64_t kRunBytesMax = 512;
constexpr double kBytesOfListEntry = 32;  // begin, length, allocation, place

// Puts an allocation for so many bytes behind the others; its checksums are anything.
void add_allocation(container::Contents& contents, int64_t bytes, std::mt19937_64& random) {
  const int64_t block = contents.block_bytes;
  const int64_t begin = contents.allocations.empty() ? container::header_end(block) + block
                                                     : contents.allocations.back().place.end;
  container::Allocation allocation;
  allocation.id = contents.next_id();
  allocation.place = {begin, begin + base::ceil_div(bytes, block) * block};
  allocation.manager = static_cast<int32_t>(contents.allocations.size());
  allocation.checksums.resize(static_cast<size_t>(allocation.place.length() / block));
  for (uint64_t& sum : allocation.checksums) sum = random();
  contents.add(std::move(allocation));
}

Result<container::Contents> tile_contents() {
  std::mt19937_64 random(1);
  container::Contents contents;
  contents.size = kTiles.file_bytes();
  for (int64_t writer = 0; writer < kTiles.readers(); ++writer) {
    const pattern::ByteSet tile = object::reader_view(kTiles, writer);
    add_allocation(contents, tile.size(), random);
    TESSERA_TRY_VOID(contents.map.add({tile, contents.allocations.back().id, 0, 1}));
  }
  return contents;
}

Result<Case> make_tile_map() {
  TESSERA_TRY(const container::Contents contents, tile_contents());
  const auto map_bytes = static_cast<double>(map::encode(contents.map).size());
  Case measured;
  measured.unit = "B";
  measured.kind = Kind::kSize;
  measured.ours = sized("encoded map", map_bytes);
  measured.peers = {
      sized("list of runs", static_cast<double>(contents.map.run_count()) * kBytesOfListEntry)};
  measured.bars = {{Bar::Kind::kAtMost, kTileMapBytesMax}};
  measured.note = fmt::format("{} with the checksums of all blocks",
                              container::encode_contents(contents).size());
  return measured;
}

// Runs of random lengths without gaps, each in an allocation and a place that are random too.
Result<container::Contents> irregular_contents() {
  std::mt19937_64 random(7);
  std::vector<int64_t> ends(static_cast<size_t>(kObjects) + 1);
  std::uniform_int_distribution<int64_t> length(kRunBytesMin, kRunBytesMax);
  for (size_t i = 1; i < ends.size(); ++i) ends[i] = ends[i - 1] + length(random);
  std::vector<size_t> order(static_cast<size_t>(kObjects));
  std::iota(order.begin(), order.end(), size_t{0});
  std::shuffle(order.begin(), order.end(), random);
  container::Contents contents;
  contents.size = ends.back();
  for (int64_t i = 0; i < kWriters; ++i) {
    add_allocation(contents, 2 * contents.size / kWriters, random);
  }
  std::vector<int64_t> filled(static_cast<size_t>(kWriters), 0);
  for (const size_t run : order) {
    const size_t writer = random() % filled.size();
    TESSERA_TRY(auto bytes, pattern::ByteSet::of(pattern::Interval{ends[run], ends[run + 1]}));
    const int64_t size = bytes.size();
    TESSERA_TRY_VOID(
        contents.map.add({std::move(bytes), contents.allocations[writer].id, filled[writer], 1}));
    filled[writer] += size;
  }
  return contents;
}

Result<Case> make_irregular_bytes() {
  TESSERA_TRY(const container::Contents contents, irregular_contents());
  const auto objects = static_cast<double>(kObjects);
  Case measured;
  measured.unit = "B per object";
  measured.kind = Kind::kSize;
  measured.ours =
      sized("encoded map", static_cast<double>(map::encode(contents.map).size()) / objects);
  measured.peers = {sized("list of runs", kBytesOfListEntry)};
  measured.note = fmt::format("{:.1f} B each in memory",
                              static_cast<double>(contents.map.memory_bytes()) / objects);
  return measured;
}

struct Stored {
  ScratchFolder folder;  // outlives the file in it
  std::unique_ptr<port::PlainFile> file;
};

Result<std::shared_ptr<Stored>> store(const container::Contents& contents) {
  TESSERA_TRY(ScratchFolder folder, ScratchFolder::make());
  port::OpenMode mode;
  mode.write = true;
  mode.create = true;
  TESSERA_TRY(auto file, port::PlainFile::open(folder.path() + "/objects", mode));
  port::SeededRandom random(1);
  TESSERA_TRY(auto container, container::Container::create(*file, random, contents.block_bytes));
  TESSERA_TRY_VOID(file->truncate(contents.allocations.back().place.end));
  TESSERA_TRY_VOID(container.commit(contents));
  return std::make_shared<Stored>(Stored{std::move(folder), std::move(file)});
}

Result<double> open_repeatedly(const Stored& stored, int64_t repetitions) {
  const double start = now_ns();
  for (int64_t i = 0; i < repetitions; ++i) {
    port::SelfTeam team;
    cache::OwnNumbers numbers;
    port::SeededRandom random(1);
    TESSERA_TRY(const auto opened,
                cache::ObjectFile::open(*stored.file, {team, &team, numbers, true}, random, {}));
    TESSERA_TRY(const int64_t size, opened->size());
    keep(size);
  }
  return now_ns() - start;
}

Result<Case> make_irregular_open() {
  TESSERA_TRY(const container::Contents contents, irregular_contents());
  TESSERA_TRY(const auto stored, store(contents));
  Case measured;
  measured.unit = "ms";
  measured.unit_ns = 1e6;
  measured.ours = {"open",
                   [stored](int64_t repetitions) { return open_repeatedly(*stored, repetitions); }};
  measured.note = "read, check and decode the map and the checksums";
  return measured;
}

}  // namespace

std::vector<CaseMaker> object_map_cases() {
  const std::string group = "object files: maps";
  return {{"map of a 4x4 tile write of 4096x4096 ints", group, make_tile_map},
          {"map of 1,000,000 irregular objects", group, make_irregular_bytes},
          {"open with 1,000,000 irregular objects", group, make_irregular_open}};
}

}  // namespace tessera::bench
