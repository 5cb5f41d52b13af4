#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <filesystem>

#include "tessera/move/independent.hpp"
#include "tessera/move/test_watched.hpp"
#include "tessera/pattern/assembler.hpp"
#include "tessera/port/plain_file.hpp"
#include "tessera/port/test_directory.hpp"
#include "tessera/port/test_interrupted_memory.hpp"

namespace tessera::move {
namespace {

using model::Contents;
using model::WatchedLocks;

Pattern run(int64_t at, int64_t length) { return Pattern::run({{at}}, length).value(); }

Pattern strided(int64_t at, int64_t length, int64_t stride, int64_t count) {
  return pattern::repeat(run(at, length), count, {{stride}}).value();
}

Move write_of(const Pattern& file, std::byte* base) {
  return {Direction::kWrite, file, run(0, file.size()), base};
}

Contents contents_of(port::File& file) {
  Contents contents(static_cast<size_t>(file.size().value()));
  EXPECT_TRUE(file.read_at(0, contents));
  return contents;
}

std::unique_ptr<port::PlainFile> plain_file(const std::string& path, const port::OpenMode& mode) {
  return port::PlainFile::open(path, mode).value();
}

// Windows, gaps between windows, memory in one piece and in many: there and back.
TEST(Mapped, MovesThroughManyWindows) {
  const port::TestDirectory directory;
  const auto file = plain_file(directory.path("file"), {.write = true, .create = true});
  WatchedLocks locks;
  const Hints hints;
  const Costs costs;
  Context context{*file, locks, hints, costs, {}, {}, {}};
  pattern::Assembler<1> places;
  places.append(strided(5, 5000, 1'000'003, 100));
  places.append(strided(300'000'001, 5000, 2'000'003, 20));
  const Pattern there = places.finish().value();
  for (const Pattern& memory : {run(0, there.size()), strided(0, 8, 9, there.size() / 8)}) {
    Contents contents(static_cast<size_t>(memory.span().end));
    for (size_t i = 0; i < contents.size(); ++i) contents[i] = static_cast<std::byte>(i * 31 >> 3);
    const Contents original = contents;
    Move move = {Direction::kWrite, there, memory, contents.data()};
    EXPECT_EQ(execute_mapped(move, context).bytes, there.size());
    for (const auto& place : pattern::model::positions(memory)) {
      contents[static_cast<size_t>(place[0])] = std::byte{0};
    }
    move.direction = Direction::kRead;
    EXPECT_EQ(execute_list(move, context).bytes, there.size());
    EXPECT_TRUE(contents == original);
    std::fill(contents.begin(), contents.end(), std::byte{0});
    EXPECT_EQ(execute_mapped(move, context).bytes, there.size());
    for (const auto& place : pattern::model::positions(memory)) {
      const auto at = static_cast<size_t>(place[0]);
      ASSERT_EQ(contents[at], original[at]) << at;
    }
  }
  EXPECT_EQ(file->size().value(), there.span().end);
  EXPECT_EQ(locks.taken, 0);
}

TEST(Mapped, WritesByListWhereTheFileCannotBeRead) {
  const port::TestDirectory directory;
  const std::string path = directory.path("file");
  const auto file = plain_file(path, {.read = false, .write = true, .create = true});
  WatchedLocks locks;
  const Hints hints;
  const Costs costs;
  Context context{*file, locks, hints, costs, {}, {}, {}};
  Contents memory(64, std::byte{7});
  const Transfer done = execute_mapped(write_of(strided(4, 8, 16, 8), memory.data()), context);
  EXPECT_TRUE(done);
  EXPECT_EQ(done.bytes, 64);
  const Contents written = contents_of(*plain_file(path, {}));
  ASSERT_EQ(written.size(), 4U + 7 * 16 + 8);
  for (size_t i = 0; i < written.size(); ++i) {
    EXPECT_EQ(written[i], i >= 4 && (i - 4) % 16 < 8 ? std::byte{7} : std::byte{0}) << i;
  }
}

TEST(Mapped, TellsTheErrorOfTheSystem) {
  const port::TestDirectory directory;
  const std::string path = directory.path("file");
  static_cast<void>(plain_file(path, {.write = true, .create = true}));
  const auto file = plain_file(path, {.read = true});
  WatchedLocks locks;
  const Hints hints;
  const Costs costs;
  Context context{*file, locks, hints, costs, {}, {}, {}};
  Contents memory(64);
  const Transfer done = execute_mapped(write_of(strided(4, 8, 16, 8), memory.data()), context);
  EXPECT_FALSE(done);
  EXPECT_EQ(done.bytes, 0);
  EXPECT_EQ(done.status.error().errno_value, EBADF);
}

// Ranks that store short runs between each other's begin in different places; all their bytes
// arrive.
TEST(Mapped, ShortRunsOfManyRanksAllArrive) {
  constexpr int64_t kRecord = 8;
  constexpr int64_t kCount = 20'011;
  const port::TestDirectory directory;
  for (const int ranks : {1, 3, 64}) {
    const auto file = plain_file(directory.path(std::to_string(ranks)),
                                 {.read = true, .write = true, .create = true});
    if (!file->is_local()) GTEST_SKIP() << "the folder for temporary files is not on a local disk";
    Contents expected(static_cast<size_t>(ranks * kRecord * kCount));
    for (int rank = 0; rank < ranks; ++rank) {
      Contents memory(static_cast<size_t>(kRecord * kCount));
      for (size_t i = 0; i < memory.size(); ++i) {
        memory[i] = static_cast<std::byte>(i * 31 + static_cast<size_t>(rank));
        const auto record = static_cast<int64_t>(i) / kRecord;
        const auto at = (record * ranks + rank) * kRecord + static_cast<int64_t>(i) % kRecord;
        expected[static_cast<size_t>(at)] = memory[i];
      }
      model::WatchedLocks locks;
      const Hints hints;
      const Costs costs;
      Context context = {*file, locks, hints, costs, {}, {}, {}, ranks, rank};
      const Pattern columns = strided(rank * kRecord, kRecord, ranks * kRecord, kCount);
      ASSERT_EQ(execute_mapped(write_of(columns, memory.data()), context).bytes, kRecord * kCount);
    }
    EXPECT_TRUE(contents_of(*file) == expected) << ranks << " ranks";
  }
}

// A cached mapping sees what happens to the file meanwhile, and every write is seen in the
// time of its last change.
TEST(Mapped, ACachedMappingFollowsTheFile) {
  const port::TestDirectory directory;
  const auto file =
      plain_file(directory.path("cached"), {.read = true, .write = true, .create = true});
  if (!file->is_local()) GTEST_SKIP() << "the folder for temporary files is not on a local disk";
  const Pattern columns = strided(3, 8, 64, 1000);
  Contents memory(8000, std::byte{1});
  Contents expected(static_cast<size_t>(columns.span().end), std::byte{0});
  model::WatchedLocks locks;
  const Hints hints;
  const Costs costs;
  Experience experience;
  const auto write = [&](std::byte value) {
    std::fill(memory.begin(), memory.end(), value);
    Context context = {*file, locks, hints, costs, {}, {}};
    context.experience = &experience;
    ASSERT_EQ(execute_mapped(write_of(columns, memory.data()), context).bytes, 8000);
    for (int i = 0; i < 1000; ++i) std::fill_n(expected.begin() + 3 + 64 * i, 8, value);
    ASSERT_TRUE(contents_of(*file) == expected);
  };
  write(std::byte{1});
  EXPECT_TRUE(experience.mapping.holds(columns.span(), Direction::kWrite));
  const std::byte other[] = {std::byte{9}};
  ASSERT_TRUE(file->write_at(20, other));
  expected[20] = std::byte{9};
  write(std::byte{2});
  // Cut, and grown again: what was there is gone.
  ASSERT_TRUE(file->truncate(0));
  std::fill(expected.begin(), expected.end(), std::byte{0});
  write(std::byte{3});
  const auto changed = [&] { return std::filesystem::last_write_time(file->path()); };
  std::filesystem::last_write_time(file->path(), changed() - std::chrono::hours(1));
  const auto before = changed();
  write(std::byte{4});
  EXPECT_GT(changed(), before);
}

// Somebody else has made the file shorter, in the middle of its last page: what is written after
// that is there, also where a mapping was kept.
TEST(Mapped, AWriteAfterTheFileWasCutByOthersIsThere) {
  const port::TestDirectory directory;
  const port::OpenMode mode = {.read = true, .write = true, .create = true};
  const auto file = plain_file(directory.path("cut"), mode);
  const auto other = plain_file(directory.path("cut"), mode);
  if (!file->is_local()) GTEST_SKIP() << "the folder for temporary files is not on a local disk";
  model::WatchedLocks locks;
  const Hints hints;
  const Costs costs;
  Experience experience;
  for (int turn = 1; turn < 20; ++turn) {
    const Pattern columns = strided(3, 8, 64, 40);
    Contents memory(320, static_cast<std::byte>(turn));
    Context context = {*file, locks, hints, costs, {}, {}};
    context.experience = &experience;
    ASSERT_EQ(execute_mapped(write_of(columns, memory.data()), context).bytes, 320);
    // Another rank that writes behind them hides the cut.
    ASSERT_TRUE(other->write_at(5000, base::ByteView(memory).first(1)));
    const Contents found = contents_of(*file);
    for (size_t i = 0; i < 40; ++i) {
      ASSERT_EQ(found[3 + 64 * i], static_cast<std::byte>(turn)) << i;
    }
    ASSERT_TRUE(other->truncate(turn % 5 == 0 ? 0 : 10 * turn));
  }
}

// The same while it is written: the last page is cut after its bytes were stored.
TEST(Mapped, AWriteWhileTheFileIsCutByOthersIsThere) {
  const port::TestDirectory directory;
  const port::OpenMode mode = {.read = true, .write = true, .create = true};
  const auto file = plain_file(directory.path("cut"), mode);
  if (!file->is_local()) GTEST_SKIP() << "the folder for temporary files is not on a local disk";
  model::WatchedLocks locks;
  const Hints hints;
  const Costs costs;
  Context context = {*file, locks, hints, costs, {}, {}};
  // All in one page of the file, and the end of the first page of memory in the middle of it.
  constexpr int64_t kHalf = port::InterruptedMemory::kPage;
  const port::InterruptedMemory memory(directory.path("memory"), std::byte{7},
                                       [&] { ASSERT_TRUE(file->truncate(100)); });
  const Pattern columns = strided(3, 8, 16, 200);
  const Move move = write_of(columns, memory.data() + kHalf - 800);
  EXPECT_EQ(execute_mapped(move, context).bytes, 1600);
  EXPECT_EQ(memory.interruptions(), 1);
  const Contents found = contents_of(*file);
  ASSERT_EQ(std::ssize(found), columns.span().end);
  // The cut was after the first half was written; the second half is there, and so is whatever was
  // written again.
  for (size_t i = 100; i < 200; ++i) ASSERT_EQ(found[3 + 16 * i], std::byte{7}) << i;
}

}  // namespace
}  // namespace tessera::move
