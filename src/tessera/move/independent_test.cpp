#include "tessera/move/independent.hpp"

#include <gtest/gtest.h>

#include <cerrno>

#include "tessera/move/test_moves.hpp"
#include "tessera/move/test_watched.hpp"
#include "tessera/port/posix_disk.hpp"
#include "tessera/port/sim_disk.hpp"
#include "tessera/port/test_directory.hpp"

namespace tessera::move {
namespace {

using model::Case;
using model::Chance;
using model::Contents;
using model::WatchedFile;
using model::WatchedLocks;
using pattern::model::rounds;
using pattern::model::seed;
using pattern::model::seed_note;
using pattern::model::uniform;

using model::kFileEnd;

using Execute = Transfer (*)(const Move&, Context&);

Transfer execute_direct_runs(const Move& move, Context& context) {
  if (move.file.runs() <= 1) return execute_direct(move, context);
  const Move first = move.clip(move.file.run_at(0));
  Transfer done = execute_direct(first, context);
  if (!done || done.bytes < first.size()) return done;
  Transfer rest = execute_direct_runs(move.clip({first.size(), move.size()}), context);
  return {first.size() + rest.bytes, std::move(rest.status)};
}

Transfer execute_mapped_or_list(const Move& move, Context& context) {
  return can_map(context.file) ? execute_mapped(move, context) : execute_list(move, context);
}

struct Way {
  const char* name;
  Execute execute;
};
constexpr Way kWays[] = {{"direct", execute_direct_runs},
                         {"list", execute_list},
                         {"sieve", execute_sieve},
                         {"mapped", execute_mapped_or_list},
                         {"independent", execute_independent}};

// Costs that differ from case to case, so that islands of every width and every choice occur.
Costs random_costs(Chance& chance) {
  Costs costs;
  const double gap = static_cast<double>(uniform(chance, 0, 40));
  costs.read_byte_ns = costs.write_byte_ns = 1;
  costs.request_ns = gap;
  costs.listed_ns = static_cast<double>(uniform(chance, 0, 40));
  costs.lock_ns = 0;
  return costs;
}

// Runs a move with everything that an engine needs.
struct Bench {
  explicit Bench(Chance& chance) : costs(random_costs(chance)) {}

  Transfer run(const Way& way, const Move& move, port::File& file) {
    Context context{file, locks, hints, costs, {}, {}, {}};
    Transfer done = way.execute(move, context);
    choice = context.choice;
    EXPECT_TRUE(locks.held().empty());
    return done;
  }

  WatchedLocks locks;
  Hints hints;
  Costs costs;
  Choice choice;
};

Contents written(port::Disk& disk, const std::string& path, const Contents& contents) {
  auto file = disk.create(path).value();
  EXPECT_TRUE(file->write_at(0, contents));
  return contents;
}

Contents contents_of(port::File& file) {
  Contents contents(static_cast<size_t>(file.size().value()));
  EXPECT_TRUE(file.read_at(0, contents));
  return contents;
}

// What a random move does on a disk, against the oracle.
void check_read(Chance& chance, const Way& way, port::Disk& disk, const std::string& path) {
  const Contents contents =
      written(disk, path, model::random_contents(chance, uniform(chance, 0, kFileEnd)));
  auto file = disk.open(path, port::Access::kRead).value();
  Case test = model::random_case(chance, Direction::kRead, kFileEnd);
  const int64_t bytes = model::readable(test.move, static_cast<int64_t>(contents.size()));
  const Contents expected = model::after_read(test, contents, bytes);
  const Transfer done = Bench(chance).run(way, test.move, *file);
  EXPECT_TRUE(done);
  EXPECT_EQ(done.bytes, bytes);
  EXPECT_EQ(test.memory, expected);
}

void check_write(Chance& chance, const Way& way, port::Disk& disk, const std::string& path) {
  const Contents contents =
      written(disk, path, model::random_contents(chance, uniform(chance, 0, kFileEnd)));
  auto file = disk.open(path, port::Access::kReadWrite).value();
  const Case test = model::random_case(chance, Direction::kWrite, kFileEnd);
  const Transfer done = Bench(chance).run(way, test.move, *file);
  EXPECT_TRUE(done);
  EXPECT_EQ(done.bytes, test.move.size());
  EXPECT_EQ(contents_of(*file), model::after_write(test, contents, test.move.size()));
}

class Engines : public testing::TestWithParam<Way> {};

TEST_P(Engines, MoveWhatTheOracleMoves) {
  Chance chance(seed());
  for (int round = 0; round < rounds(2000) && !HasFailure(); ++round) {
    SCOPED_TRACE(seed_note(round));
    port::SimDisk disk;
    if (uniform(chance, 0, 3) == 0) disk.set_attempt_max(uniform(chance, 1, 20));
    check_read(chance, GetParam(), disk, "read");
    check_write(chance, GetParam(), disk, "write");
  }
}

TEST_P(Engines, MoveTheSameOnTheMachinesFiles) {
  const port::TestDirectory directory;
  port::PosixDisk disk;
  Chance chance(seed());
  for (int round = 0; round < rounds(100) && !HasFailure(); ++round) {
    SCOPED_TRACE(seed_note(round));
    const std::string path = directory.path(std::to_string(round));
    check_read(chance, GetParam(), disk, path + "r");
    check_write(chance, GetParam(), disk, path + "w");
  }
}

// (V2) After an error the count says how much of the stream was moved.
TEST_P(Engines, CountHonestlyWhenAReadFails) {
  Chance chance(seed());
  for (int round = 0; round < rounds(2000) && !HasFailure(); ++round) {
    SCOPED_TRACE(seed_note(round));
    port::SimDisk disk;
    const Contents contents = written(disk, "file", model::random_contents(chance, kFileEnd));
    auto file = disk.open("file", port::Access::kRead).value();
    Case test = model::random_case(chance, Direction::kRead, kFileEnd);
    disk.set_attempt_max(uniform(chance, 1, 60));
    disk.fail_operation(static_cast<uint64_t>(uniform(chance, 1, 12)), EIO);
    const Case before = test;
    const Transfer done = Bench(chance).run(GetParam(), test.move, *file);
    EXPECT_LE(done.bytes, test.move.size());
    EXPECT_EQ(!done, done.bytes < test.move.size());
    if (!done) {
      EXPECT_EQ(done.status.error().errno_value, EIO);
    }
    EXPECT_EQ(test.memory, model::after_read(before, contents, done.bytes));
  }
}

TEST_P(Engines, CountHonestlyWhenAWriteFails) {
  Chance chance(seed());
  for (int round = 0; round < rounds(2000) && !HasFailure(); ++round) {
    SCOPED_TRACE(seed_note(round));
    port::SimDisk disk;
    const Contents contents =
        written(disk, "file", model::random_contents(chance, uniform(chance, 0, kFileEnd)));
    auto file = disk.open("file", port::Access::kReadWrite).value();
    const Case test = model::random_case(chance, Direction::kWrite, kFileEnd);
    disk.set_attempt_max(uniform(chance, 1, 60));
    const bool full = uniform(chance, 0, 1) == 0;
    if (full) {
      disk.set_capacity(uniform(chance, 0, kFileEnd));
    } else {
      disk.fail_operation(static_cast<uint64_t>(uniform(chance, 1, 12)), EIO);
    }
    const Transfer done = Bench(chance).run(GetParam(), test.move, *file);
    EXPECT_EQ(!done, done.bytes < test.move.size());
    if (!done) {
      EXPECT_EQ(done.status.error().errno_value, full ? ENOSPC : EIO);
    }
    // A piece that ended in a gap behind the old end leaves zeros there.
    const Contents now = disk.image().files.at("file");
    Contents expected = model::after_write(test, contents, done.bytes);
    EXPECT_GE(now.size(), expected.size());
    expected.resize(now.size());
    EXPECT_EQ(now, expected);
    EXPECT_LE(static_cast<int64_t>(now.size()),
              std::max(static_cast<int64_t>(contents.size()), test.move.file.span().end));
  }
}

TEST_P(Engines, RewriteOnlyUnderALock) {
  Chance chance(seed());
  for (int round = 0; round < rounds(2000) && !HasFailure(); ++round) {
    SCOPED_TRACE(seed_note(round));
    Bench bench(chance);
    const Case test = model::random_case(chance, Direction::kWrite, kFileEnd);
    const Contents before = model::random_contents(chance, uniform(chance, 0, kFileEnd));
    WatchedFile file(before, bench.locks);
    file.readable = uniform(chance, 0, 4) > 0;
    for (const auto& place : pattern::model::positions(test.move.file)) {
      file.wanted.at(static_cast<size_t>(place[0])) = true;
    }
    const Transfer done = bench.run(GetParam(), test.move, file);
    EXPECT_TRUE(done);
    EXPECT_EQ(done.bytes, test.move.size());
    EXPECT_EQ(file.contents, model::after_write(test, before, test.move.size()));
  }
}

INSTANTIATE_TEST_SUITE_P(Independent, Engines, testing::ValuesIn(kWays),
                         [](const auto& each) { return std::string(each.param.name); });

Pattern run(int64_t at, int64_t length) { return Pattern::run({{at}}, length).value(); }

Pattern strided(int64_t at, int64_t length, int64_t stride, int64_t count) {
  return pattern::repeat(run(at, length), count, {{stride}}).value();
}

Move write_of(const Pattern& file, std::byte* base) {
  return {Direction::kWrite, file, run(0, file.size()), base};
}

// One request for each half megabyte of a run, however memory lies.
TEST(List, ShortRunsOfMemoryArePackedIntoLargeTransfers) {
  constexpr int64_t kBytes = int64_t{2} << 20;
  constexpr uint64_t kRequestsMax = 4;
  port::SimDisk disk;
  auto file = disk.create("file").value();
  WatchedLocks locks;
  const Hints hints;
  const Costs costs;
  Context context{*file, locks, hints, costs, {}, {}, {}};
  Contents memory(2 * kBytes, std::byte{7});
  const Pattern pieces = strided(0, 64, 128, kBytes / 64);
  for (const Direction direction : {Direction::kWrite, Direction::kRead}) {
    const uint64_t before = disk.operation_count();
    const Move move = {direction, run(1000, kBytes), pieces, memory.data()};
    EXPECT_EQ(execute_direct(move, context).bytes, kBytes);
    EXPECT_LE(disk.operation_count() - before, kRequestsMax);
  }
}

TEST(Sieve, LocksEachPieceThatItRewritesAndNoOther) {
  WatchedLocks locks;
  const Hints hints = Hints::parse({"", {}, {{"ind_wr_buffer_size", "4096"}}}).value();
  const Costs costs;
  port::SimDisk disk;
  auto file = disk.create("file").value();
  Context context{*file, locks, hints, costs, {}, {}, {}};
  Contents memory(20'000, std::byte{7});
  const Transfer done = execute_sieve(write_of(strided(0, 8, 16, 1024), memory.data()), context);
  EXPECT_TRUE(done);
  EXPECT_EQ(done.bytes, 8192);
  EXPECT_EQ(locks.taken, 4);
  EXPECT_EQ(file->size().value(), 16 * 1024 - 8);
  EXPECT_TRUE(execute_sieve(write_of(run(0, 20'000), memory.data()), context));
  EXPECT_EQ(locks.taken, 4);
}

TEST(Sieve, ALockThatIsRefusedIsAnError) {
  WatchedLocks locks;
  locks.denied = true;
  const Hints hints;
  const Costs costs;
  port::SimDisk disk;
  auto file = disk.create("file").value();
  Context context{*file, locks, hints, costs, {}, {}, {}};
  Contents memory(64);
  const Transfer done = execute_sieve(write_of(strided(0, 8, 16, 4), memory.data()), context);
  EXPECT_FALSE(done);
  EXPECT_EQ(done.bytes, 0);
  EXPECT_EQ(done.status.error().errno_value, ENOLCK);
  EXPECT_EQ(file->size().value(), 0);
}

}  // namespace
}  // namespace tessera::move
