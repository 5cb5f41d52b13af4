#include "tessera/remap/remap.hpp"

#include <cerrno>

#include "tessera/cache/object_file.hpp"
#include "tessera/container/compaction.hpp"
#include "tessera/object/tile_wall.hpp"
#include "tessera/port/crash_states.hpp"
#include "tessera/port/seeded_random.hpp"
#include "tessera/port/self_exchange.hpp"
#include "tessera/port/self_team.hpp"
#include "tessera/port/shared_number.hpp"
#include "tessera/port/sim_disk.hpp"
#include "tessera/port/test_seed.hpp"
#include "tessera/port/thread_exchange.hpp"
#include "tessera/remap/remap_test_support.hpp"

namespace tessera::remap {
namespace {

using base::Result;
using test::expect_bytes;
using test::kBlock;
using test::packed;
using test::random_text;
using test::uniform;

struct Case {
  std::vector<Consumer> consumers;
  RemapOptions options;
  int ranks = 1;
};

// Every rank opens the source by itself.
Result<RemapReport> run(port::Disk& disk, const Case& test) {
  std::vector<std::optional<Result<RemapReport>>> results(static_cast<size_t>(test.ranks));
  port::run_ranks(test.ranks, [&](port::Exchange& exchange) {
    auto& result = results[static_cast<size_t>(exchange.rank())];
    port::SeededRandom random(1);
    const auto file = disk.open("/in", port::Access::kRead);
    if (!file) return result.emplace(base::failure_of(file)), void();
    const auto source = open_source(**file);
    if (!source) return result.emplace(base::failure_of(source)), void();
    result.emplace(remap({exchange, **source, disk, random, "/out"}, test.consumers, test.options));
  });
  for (const auto& result : results) {
    if (!*result) return *result;
  }
  return *results.front();
}

// Random writes through a cache's object file, of two commits; answers what it holds.
std::string write_object_file(port::Disk& disk, test::Engine& engine, int64_t size) {
  const auto file = disk.create("/in").value();
  port::SelfTeam team;
  cache::OwnNumbers numbers;
  port::SeededRandom random(2);
  cache::ObjectFileOptions options;
  options.write = options.create = true;
  auto objects = cache::ObjectFile::open(*file, {team, &team, numbers, true}, random, options);
  EXPECT_TRUE(objects);
  std::string text(static_cast<size_t>(size), '\0');
  for (int commit = 0; commit < 2; ++commit) {
    for (int64_t i = uniform(engine, 0, 6); i > 0; --i) {
      const ByteSet set = test::random_view(engine, size).within({0, size});
      std::string bytes = random_text(engine, set.size());
      move::Move moved;
      moved.direction = move::Direction::kWrite;
      moved.base = reinterpret_cast<std::byte*>(bytes.data());
      moved.file = set.ascending();
      moved.memory = pattern::Pattern::run({{0}}, set.size()).value();
      EXPECT_TRUE((*objects)->write(moved));
      pattern::scatter(reinterpret_cast<std::byte*>(text.data()), moved.base, set.ascending());
    }
    EXPECT_TRUE((*objects)->set_size(size));
    EXPECT_TRUE((*objects)->commit());
  }
  return text;
}

// Random writes over "/out" and its text, by two jobs.
void write_anew(port::Disk& disk, test::Engine& engine, std::string& text) {
  for (int job = 0; job < 2; ++job) {
    const auto file = disk.open("/out", port::Access::kReadWrite).value();
    port::SelfTeam team;
    cache::OwnNumbers numbers;
    port::SeededRandom random(3);
    cache::ObjectFileOptions options;
    options.write = true;
    auto objects = cache::ObjectFile::open(*file, {team, &team, numbers, true}, random, options);
    ASSERT_TRUE(objects);
    const ByteSet set = test::random_view(engine, std::ssize(text)).within({0, std::ssize(text)});
    std::string bytes = random_text(engine, set.size());
    move::Move moved;
    moved.direction = move::Direction::kWrite;
    moved.base = reinterpret_cast<std::byte*>(bytes.data());
    moved.file = set.ascending();
    moved.memory = pattern::Pattern::run({{0}}, set.size()).value();
    ASSERT_TRUE((*objects)->write(moved));
    pattern::scatter(reinterpret_cast<std::byte*>(text.data()), moved.base, set.ascending());
    ASSERT_TRUE((*objects)->commit());
  }
}

void expect_layout(port::Disk& disk, const Case& test, const std::string& text) {
  const auto file = disk.open("/out", port::Access::kRead).value();
  expect_bytes(*file, text);
  const auto contents = container::Container::open(*file)->read_contents().value();
  const bool replicated = test.options.plan.sharing == Sharing::kReplicated;
  for (const Consumer& consumer : test.consumers) {
    const ByteSet bytes = consumer.bytes.within({0, contents.size});
    if (bytes.empty() || !replicated) continue;
    const auto whole = contents.map.find_whole(bytes, 0);
    ASSERT_TRUE(whole);  // (X3)
    EXPECT_EQ(test::read_part(*file, contents, *whole), packed(text, bytes));
  }
  // One consumer's own allocation is one run.
  for (const container::Allocation& allocation : contents.allocations) {
    const auto at = std::find_if(
        test.consumers.begin(), test.consumers.end(),
        [&](const Consumer& consumer) { return consumer.process == allocation.manager; });
    if (at == test.consumers.end() || !replicated) continue;
    const auto own = contents.map.find_whole(at->bytes.within({0, contents.size}), allocation.id);
    ASSERT_TRUE(own);
    EXPECT_EQ(own->allocation, allocation.id);
    EXPECT_EQ(own->places.runs(), 1);
  }
}

TEST(Remap, LaysAnyFileOutForAnyViews) {
  const uint64_t seed = port::test_seed();
  test::Engine engine(seed);
  for (int round = 0; round < pattern::model::rounds(250); ++round) {
    SCOPED_TRACE("TESSERA_SEED=" + std::to_string(seed) + " round " + std::to_string(round));
    port::SimDisk disk;
    const int64_t size =
        uniform(engine, 0, 1) == 0 ? uniform(engine, 1, 200) : uniform(engine, 200, 9000);
    std::string text;
    if (uniform(engine, 0, 1) == 0) {
      text = random_text(engine, size);
      test::write_text(disk, "/in", text);
    } else {
      text = write_object_file(disk, engine, size);
    }
    Case test;
    test.consumers = test::random_consumers(engine, size);
    test.ranks = static_cast<int>(uniform(engine, 1, 4));
    test.options.block_bytes = kBlock << uniform(engine, 0, 2);
    test.options.fill.window_bytes = uniform(engine, 1, 3000);
    test.options.fill.piece_bytes_max = test.options.block_bytes << uniform(engine, 0, 8);
    test.options.plan.sharing = uniform(engine, 0, 2) == 0 ? Sharing::kOnce : Sharing::kReplicated;
    test.options.direct = uniform(engine, 0, 1) == 0;
    if (uniform(engine, 0, 1) == 0) test.options.pieces.large_shelf_bytes = 0;
    if (uniform(engine, 0, 1) == 0) test.options.pieces.small_file_bytes = 0;
    const auto report = run(disk, test);
    ASSERT_TRUE(report) << report.error().message();
    EXPECT_EQ(report->stored_bytes, size + report->extra_bytes);
    expect_layout(disk, test, text);
    EXPECT_EQ(disk.list("/").value(), (std::vector<std::string>{"in", "out"}));
    if (HasFailure()) return;
  }
}

TEST(Remap, LeavesTheRestOutWhereAskedTo) {
  port::SimDisk disk;
  test::write_text(disk, "/in", std::string(3000, 'x'));
  Case test;
  test.consumers = {{0, ByteSet::of({100, 200}).value()}, {1, ByteSet::of({1000, 1100}).value()}};
  test.options.block_bytes = kBlock;
  test.options.plan.keep_rest = false;
  const auto report = run(disk, test);
  ASSERT_TRUE(report) << report.error().message();
  EXPECT_EQ(report->stored_bytes, 200);
  std::string expected(3000, '\0');
  expected.replace(100, 100, 100, 'x').replace(1000, 100, 100, 'x');
  expect_bytes(*disk.open("/out", port::Access::kRead).value(), expected);
}

TEST(Remap, AFileMayTakeItsOwnPlace) {
  port::SimDisk disk;
  test::Engine engine(1);
  const std::string text = write_object_file(disk, engine, 5000);
  const auto file = disk.open("/in", port::Access::kRead).value();
  const auto source = open_source(*file).value();
  port::SelfExchange alone;
  port::SeededRandom random(1);
  const std::vector<Consumer> consumers = {{4, ByteSet::of({0, 5000}).value()}};
  RemapOptions options;
  options.block_bytes = kBlock;
  ASSERT_TRUE(remap({alone, *source, disk, random, "/in"}, consumers, options));
  const auto again = disk.open("/in", port::Access::kRead).value();
  expect_bytes(*again, text);
  const auto contents = container::Container::open(*again)->read_contents().value();
  ASSERT_EQ(contents.allocations.size(), 1U);
  EXPECT_EQ(contents.allocations.front().manager, 4);
}

// How many runs of the container hold the bytes of each consumer.
std::vector<int64_t> runs_of(const container::Contents& contents, const Case& test) {
  std::vector<int64_t> runs;
  for (const Consumer& consumer : test.consumers) {
    const ByteSet bytes = consumer.bytes.within({0, contents.size});
    runs.push_back(0);
    if (const auto whole = contents.map.find_whole(bytes, 0)) {
      runs.back() = whole->places.runs();
      continue;
    }
    const map::Found found = contents.map.find(bytes).value();
    for (const map::Part& part : found.parts) runs.back() += part.places.runs();
  }
  return runs;
}

int64_t stored_in(const container::Contents& contents) {
  int64_t bytes = 0;
  for (const auto& allocation : contents.allocations) {
    bytes += contents.map.live_bytes(allocation.id);
  }
  return bytes;
}

container::Contents contents_in(port::Disk& disk, const std::string& path) {
  const auto file = disk.open(path, port::Access::kRead).value();
  return container::Container::open(*file)->read_contents().value();
}

// (COMPACT-1): copies stay, and what is one run stays one, also if parts were written anew since.
TEST(Remap, CompactionKeepsTheLayout) {
  const uint64_t seed = port::test_seed();
  test::Engine engine(seed);
  for (int round = 0; round < pattern::model::rounds(100); ++round) {
    SCOPED_TRACE("TESSERA_SEED=" + std::to_string(seed) + " round " + std::to_string(round));
    port::SimDisk disk;
    std::string text = random_text(engine, uniform(engine, 200, 9000));
    test::write_text(disk, "/in", text);
    Case test;
    test.consumers = test::random_consumers(engine, std::ssize(text));
    test.options.block_bytes = kBlock;
    ASSERT_TRUE(run(disk, test));
    if (uniform(engine, 0, 1) == 0) write_anew(disk, engine, text);
    const container::Contents before = contents_in(disk, "/out");
    ASSERT_TRUE(container::compact(disk, "/out"));
    const container::Contents after = contents_in(disk, "/out");
    expect_bytes(*disk.open("/out", port::Access::kRead).value(), text);
    EXPECT_EQ(stored_in(after), stored_in(before));
    const auto runs_before = runs_of(before, test);
    const auto runs_after = runs_of(after, test);
    for (size_t i = 0; i < runs_before.size(); ++i) EXPECT_LE(runs_after[i], runs_before[i]);
    EXPECT_EQ(after.views.size(), before.views.size());
    if (HasFailure()) return;
  }
}

// Figures 4 to 8: three writers of a row each, four tiles that overlap.
TEST(Remap, TheWallOfThePaper) {
  const object::Wall& wall = object::kPaperExample;
  port::SimDisk disk;
  std::string text;
  for (int64_t i = 0; i < wall.file_bytes(); ++i) text += static_cast<char>('0' + i % 75);
  test::write_text(disk, "/in", text);
  Case test;
  for (const ByteSet& view : object::reader_views(wall)) {
    test.consumers.push_back({static_cast<int32_t>(test.consumers.size()), view});
  }
  test.options.block_bytes = kBlock;
  test.options.fill.window_bytes = 60;
  test.ranks = 3;
  const auto report = run(disk, test);
  ASSERT_TRUE(report) << report.error().message();
  EXPECT_EQ(report->size_bytes, 180);
  EXPECT_EQ(report->stored_bytes, 320);  // figure 8: four sections of 80 bytes
  EXPECT_EQ(report->extra_bytes, 140);
  expect_layout(disk, test, text);
  const auto file = disk.open("/out", port::Access::kRead).value();
  const auto contents = container::Container::open(*file)->read_contents().value();
  ASSERT_EQ(contents.allocations.size(), 4U);
  const auto row = [&](int64_t begin) { return text.substr(static_cast<size_t>(begin), 40); };
  for (int64_t reader = 0; reader < 4; ++reader) {
    const int64_t corner = reader % 2 * 20 + reader / 2 * 60;
    const container::Allocation& section = contents.allocations[static_cast<size_t>(reader)];
    std::string bytes(80, '\0');
    ASSERT_TRUE(file->read_at(section.place.begin,
                              {reinterpret_cast<std::byte*>(bytes.data()), bytes.size()}));
    EXPECT_EQ(bytes, row(corner) + row(corner + 60));
    EXPECT_EQ(section.manager, static_cast<int32_t>(reader));
  }
}

// What a source and a target hold after whatever happened: the source is as it was, the target
// whole or absent, or what it was before.
void expect_safe(port::Disk& disk, const std::string& text, bool existed) {
  const auto in = disk.open("/in", port::Access::kRead);
  ASSERT_TRUE(in);
  base::Bytes bytes(text.size() + 1);
  const port::Transfer read = (*in)->read_at(0, bytes);
  ASSERT_TRUE(read && read.bytes == std::ssize(text));
  EXPECT_EQ(base::text_of({bytes.data(), text.size()}), text);
  const auto out = disk.open("/out", port::Access::kRead);
  ASSERT_TRUE(out || !existed);
  if (!out) return;
  const int64_t size = (*out)->size().value();
  if (existed && size == 3) return;
  expect_bytes(**out, text, true);
}

Case small_case(test::Engine& engine, int64_t size) {
  Case test;
  while (test.consumers.empty()) test.consumers = test::random_consumers(engine, size);
  test.options.block_bytes = kBlock;
  test.options.fill.window_bytes = 700;
  return test;
}

TEST(Remap, AnOperationThatFailsHarmsNothing) {
  const uint64_t seed = port::test_seed();
  test::Engine engine(seed);
  for (const int error : {EIO, ENOSPC, EACCES}) {
    const std::string text = random_text(engine, 2500);
    Case test = small_case(engine, 2500);
    test.ranks = error == ENOSPC ? 1 : 3;
    const bool existed = error == ENOSPC;
    int failed = 0;
    for (uint64_t nth = 1;; ++nth) {
      SCOPED_TRACE("TESSERA_SEED=" + std::to_string(seed) + " operation " + std::to_string(nth));
      port::SimDisk disk;
      test::write_text(disk, "/in", text);
      if (existed) test::write_text(disk, "/out", "old");
      const uint64_t before = disk.operation_count();
      disk.fail_operation(nth, error);
      const auto report = run(disk, test);
      const uint64_t used = disk.operation_count() - before;
      if (used < nth) break;  // nothing was struck
      failed += report ? 0 : 1;
      expect_safe(disk, text, existed);
      // Nothing is left of what failed, but where removing it was what failed.
      const auto names = disk.list("/").value();
      EXPECT_LE(names.size(), nth < used ? 2U : 3U);
      if (HasFailure()) return;
    }
    EXPECT_GT(failed, 8);
  }
}

TEST(Remap, AFullDiskHarmsNothing) {
  const uint64_t seed = port::test_seed();
  test::Engine engine(seed);
  const std::string text = random_text(engine, 4000);
  Case test = small_case(engine, 4000);
  bool done = false;
  for (int64_t capacity = 4000; !done; capacity += 500) {
    SCOPED_TRACE("TESSERA_SEED=" + std::to_string(seed) + " capacity " + std::to_string(capacity));
    test.ranks = 1 + static_cast<int>(capacity / 500 % 3);
    port::SimDisk disk;
    test::write_text(disk, "/in", text);
    disk.set_capacity(capacity);
    const auto report = run(disk, test);
    expect_safe(disk, text, false);
    done = report.has_value();
    if (!report) {
      EXPECT_EQ(report.error().errno_value, ENOSPC) << report.error().message();
      EXPECT_EQ(disk.list("/").value(), std::vector<std::string>{"in"});
    }
    if (HasFailure()) return;
  }
}

TEST(Remap, ACrashAtAnyPointLeavesTheOldOrTheNewFile) {
  const uint64_t seed = port::test_seed();
  test::Engine engine(seed);
  const std::string text = random_text(engine, 1500);
  const Case test = small_case(engine, 1500);
  port::SimDisk disk;
  test::write_text(disk, "/in", text);
  test::write_text(disk, "/out", "old");
  disk.settle();
  ASSERT_TRUE(run(disk, test));
  port::SeededRandom random(seed);
  const port::CrashStates states(disk.log());
  int fresh = 0;
  for (int i = 0; i < pattern::model::rounds(300); ++i) {
    SCOPED_TRACE("TESSERA_SEED=" + std::to_string(seed) + " state " + std::to_string(i));
    port::SimDisk after(states.sample(random).image);
    expect_safe(after, text, true);
    fresh += after.open("/out", port::Access::kRead).value()->size().value() > 3 ? 1 : 0;
    if (HasFailure()) return;
  }
  EXPECT_GT(fresh, 0);
}

}  // namespace
}  // namespace tessera::remap
