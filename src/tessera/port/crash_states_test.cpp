#include "tessera/port/crash_states.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <set>

#include "tessera/port/seeded_random.hpp"
#include "tessera/port/sim_disk.hpp"
#include "tessera/port/test_seed.hpp"

namespace tessera::port {
namespace {

using base::bytes_of;
using base::text_of;

// "name=content" of all files in one line, runs of equal bytes written once with their length.
std::string describe(const DiskImage& image) {
  std::string text;
  for (const auto& [path, content] : image.files) {
    text += (text.empty() ? "" : " ") + path + "=";
    for (size_t begin = 0, end = 0; begin < content.size(); begin = end) {
      while (end < content.size() && content[end] == content[begin]) ++end;
      const char letter =
          content[begin] == std::byte{0} ? '0' : std::to_integer<char>(content[begin]);
      text += letter;
      if (end - begin > 1) text += std::to_string(end - begin);
    }
  }
  return text;
}

using States = std::set<std::string>;

// All states at the last crash point.
States last_states(const SimDisk& disk) {
  const CrashStates crash(disk.log());
  States states;
  EXPECT_TRUE(crash.for_each(100000, [&](const CrashState& state) {
    if (state.point + 1 == crash.points()) states.insert(describe(state.image));
  }));
  return states;
}

class CrashStatesOfOneFile : public ::testing::Test {
 protected:
  CrashStatesOfOneFile() : file_(disk_.create("f").value()) { disk_.settle(); }

  void write(int64_t offset, size_t count, char letter) {
    EXPECT_TRUE(file_->write_at(offset, bytes_of(std::string(count, letter))));
  }

  SimDisk disk_;
  std::unique_ptr<File> file_;
};

TEST_F(CrashStatesOfOneFile, C1SyncedBytesAreThere) {
  write(0, 3, 'a');
  ASSERT_TRUE(file_->sync());
  EXPECT_EQ(last_states(disk_), (States{"f=a3"}));
}

TEST_F(CrashStatesOfOneFile, C2UnsyncedWritesAreThereInAnySubset) {
  write(0, 2, 'a');
  write(2, 2, 'b');
  EXPECT_EQ(last_states(disk_),
            (States{"f=", "f=02", "f=a2", "f=04", "f=02b2", "f=a202", "f=a2b2"}));
}

TEST_F(CrashStatesOfOneFile, C2LaterWritesMayArriveBeforeEarlierOnes) {
  write(0, 4, 'a');
  ASSERT_TRUE(file_->sync());
  write(0, 1, 'b');
  write(1, 1, 'c');
  EXPECT_EQ(last_states(disk_), (States{"f=a4", "f=ba3", "f=aca2", "f=bca2"}));
}

TEST_F(CrashStatesOfOneFile, C3WritesTearBetweenSectorsOfTheFile) {
  write(0, 1024, 'a');
  ASSERT_TRUE(file_->sync());
  write(500, 24, 'b');
  EXPECT_EQ(last_states(disk_),
            (States{"f=a1024", "f=a500b12a512", "f=a512b12a500", "f=a500b24a500"}));
}

TEST_F(CrashStatesOfOneFile, C4TruncatesAreWhole) {
  write(0, 4, 'a');
  ASSERT_TRUE(file_->sync());
  ASSERT_TRUE(file_->truncate(1));
  EXPECT_EQ(last_states(disk_), (States{"f=a4", "f=a"}));
}

TEST_F(CrashStatesOfOneFile, C5AFailedSyncLosesItsBytesForGood) {
  write(0, 1, 'a');
  disk_.fail_operation(1, EIO);
  ASSERT_FALSE(file_->sync());
  write(1, 1, 'b');
  ASSERT_TRUE(file_->sync());
  EXPECT_EQ(last_states(disk_), (States{"f=ab", "f=0b"}));
}

TEST_F(CrashStatesOfOneFile, EveryPointIsVisited) {
  write(0, 1, 'a');
  ASSERT_TRUE(file_->sync());
  write(0, 1, 'b');
  std::set<std::pair<size_t, std::string>> states;
  const auto visited = CrashStates(disk_.log()).for_each(100, [&](const CrashState& state) {
    states.emplace(state.point, describe(state.image));
  });
  const std::set<std::pair<size_t, std::string>> expected = {
      {0, "f="}, {1, "f="}, {1, "f=0"}, {1, "f=a"}, {2, "f=a"}, {3, "f=a"}, {3, "f=b"}};
  EXPECT_EQ(states, expected);
  EXPECT_EQ(visited.value(), 7U);
}

TEST_F(CrashStatesOfOneFile, TooManyStatesAreReportedNotVisited) {
  write(0, size_t{100} * 512, 'a');
  uint64_t visits = 0;
  const auto visited =
      CrashStates(disk_.log()).for_each(1000, [&](const CrashState&) { ++visits; });
  ASSERT_FALSE(visited);
  EXPECT_EQ(visited.error().code, base::Code::kTooComplex);
  EXPECT_EQ(visits, 1000U);
}

TEST(CrashStates, C1NamesNeedTheirDirectorysSync) {
  SimDisk disk;
  const auto file = disk.create("f").value();
  ASSERT_TRUE(file->write_at(0, bytes_of("a")));
  ASSERT_TRUE(file->sync());
  EXPECT_EQ(last_states(disk), (States{"", "f=a"}));
  ASSERT_TRUE(disk.sync_directory(""));
  EXPECT_EQ(last_states(disk), (States{"f=a"}));
  ASSERT_TRUE(disk.remove("f"));
  EXPECT_EQ(last_states(disk), (States{"", "f=a"}));
}

TEST(CrashStates, C4RenamesAreAtomicAlsoBetweenDirectories) {
  SimDisk disk;
  ASSERT_TRUE(disk.make_directory("d"));
  ASSERT_TRUE(disk.create("a").value()->write_at(0, bytes_of("a")));
  ASSERT_TRUE(disk.create("d/b").value()->write_at(0, bytes_of("b")));
  disk.settle();
  ASSERT_TRUE(disk.rename("a", "d/b"));
  const States either = {"a=a d/b=b", "d/b=a"};
  EXPECT_EQ(last_states(disk), either);
  ASSERT_TRUE(disk.sync_directory("d"));
  EXPECT_EQ(last_states(disk), either);
  ASSERT_TRUE(disk.sync_directory(""));
  EXPECT_EQ(last_states(disk), (States{"d/b=a"}));
}

TEST(CrashStates, AFileIsLostWithTheDirectoryThatHoldsIt) {
  SimDisk disk;
  ASSERT_TRUE(disk.make_directory("d"));
  const auto file = disk.create("d/f").value();
  ASSERT_TRUE(disk.sync_directory("d"));
  EXPECT_EQ(last_states(disk), (States{"", "d/f="}));
  ASSERT_TRUE(disk.sync_directory("/"));
  EXPECT_EQ(last_states(disk), (States{"d/f="}));
}

// The usual way to replace a file; each step can be left out to see that the states find it.
struct Replace {
  bool sync_file = true;
  bool sync_directory = true;
};

States replace_states(Replace how) {
  SimDisk disk;
  EXPECT_TRUE(disk.create("f").value()->write_at(0, bytes_of("old")));
  disk.settle();
  const auto file = disk.create("f.new").value();
  EXPECT_TRUE(file->write_at(0, bytes_of("new")));
  if (how.sync_file) {
    EXPECT_TRUE(file->sync());
  }
  EXPECT_TRUE(disk.rename("f.new", "f"));
  if (how.sync_directory) {
    EXPECT_TRUE(disk.sync_directory(""));
  }
  const size_t done = disk.log_size();

  States states;
  EXPECT_TRUE(CrashStates(disk.log()).for_each(10000, [&](const CrashState& state) {
    states.insert((state.point < done ? "before " : "after ") +
                  std::string(text_of(state.image.files.at("f"))));
  }));
  return states;
}

TEST(CrashStates, ReplacingAFileIsSafeOnlyWithBothSyncs) {
  EXPECT_EQ(replace_states({}), (States{"before old", "before new", "after new"}));
  EXPECT_TRUE(replace_states({.sync_directory = false}).contains("after old"));
  const States unsynced = replace_states({.sync_file = false});
  EXPECT_TRUE(unsynced.contains("after "));
  EXPECT_TRUE(unsynced.contains(std::string("after \0\0\0", 9)));
}

// Random operations in a universe of two names and a few bytes.
void run_randomly(SimDisk& disk, Random& random, int steps) {
  std::unique_ptr<File> file;
  for (int i = 0; i < steps; ++i) {
    const std::string name = random.chance(1, 2) ? "a" : "b";
    const auto offset = static_cast<int64_t>(random.uniform(3));
    switch (random.uniform(7)) {
      case 0:
        if (auto created = disk.create(name)) file = *std::move(created);
        break;
      case 1:
        static_cast<void>(disk.remove(name));
        break;
      case 2:
        static_cast<void>(disk.rename(name, name == "a" ? "b" : "a"));
        break;
      case 3:
        static_cast<void>(disk.sync_directory(""));
        break;
      case 4:
        if (file) static_cast<void>(file->sync());
        break;
      case 5:
        if (file) static_cast<void>(file->truncate(offset));
        break;
      default:
        if (file) static_cast<void>(file->write_at(offset, bytes_of(i % 2 == 0 ? "x" : "yz")));
    }
  }
}

TEST(CrashStates, SamplesAreAmongTheEnumeratedStatesAndFindTheOddOnes) {
  SeededRandom random(test_seed());
  size_t sampled_total = 0;
  size_t states_total = 0;
  for (int round = 0; round < 30; ++round) {
    SimDisk disk;
    run_randomly(disk, random, 8);
    const CrashStates crash(disk.log());
    States all;
    ASSERT_TRUE(crash.for_each(1000000, [&](const CrashState& state) {
      all.insert(std::to_string(state.point) + describe(state.image));
    }));
    States sampled;
    for (int i = 0; i < 500; ++i) {
      const CrashState state = crash.sample(random);
      sampled.insert(std::to_string(state.point) + describe(state.image));
      ASSERT_TRUE(all.contains(std::to_string(state.point) + describe(state.image)));
    }
    sampled_total += sampled.size();
    states_total += all.size();
  }
  EXPECT_GT(sampled_total * 2, states_total);
}

TEST(CrashStates, AllSyncedMeansNothingIsLost) {
  SeededRandom random(test_seed());
  for (int round = 0; round < 50; ++round) {
    SimDisk disk;
    run_randomly(disk, random, 20);
    for (const std::string name : {"a", "b"}) {
      const auto file = disk.open(name, Access::kRead);
      ASSERT_TRUE(!file || (*file)->sync());
    }
    ASSERT_TRUE(disk.sync_directory(""));
    const CrashStates crash(disk.log());
    for (int i = 0; i < 20; ++i) {
      ASSERT_EQ(crash.sample_at(crash.points() - 1, random).image, disk.image());
    }
  }
}

TEST(CrashStates, TheSameSeedGivesTheSameStates) {
  const uint64_t seed = test_seed();
  const auto trace = [&] {
    SeededRandom random(seed);
    SimDisk disk;
    run_randomly(disk, random, 30);
    std::string text;
    for (int i = 0; i < 50; ++i)
      text += describe(CrashStates(disk.log()).sample(random).image) + "\n";
    return text;
  };
  EXPECT_EQ(trace(), trace());
}

}  // namespace
}  // namespace tessera::port
