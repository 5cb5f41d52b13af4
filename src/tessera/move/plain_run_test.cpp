#include "tessera/move/plain_run.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <random>
#include <vector>

#include "tessera/port/test_directory.hpp"

namespace tessera::move {
namespace {

using Bytes = std::vector<std::byte>;

class PlainRunTest : public ::testing::Test {
 protected:
  Transfer move(Direction direction, int64_t offset, Bytes& memory) {
    return execute_plain({direction, offset, memory}, {*file_, hints_, costs_, experience_});
  }

  // Moves the run until it is copied, or for ever.
  void come_back(Direction direction, int64_t offset, Bytes& memory) {
    for (int i = 0; i < 1000; ++i) {
      ASSERT_EQ(move(direction, offset, memory).bytes, std::ssize(memory));
    }
  }

  bool is_copied(Direction direction, int64_t offset, Bytes& memory) {
    return experience_.mapping.copy({direction, offset, memory});
  }

  const port::TestDirectory directory_;
  const std::unique_ptr<port::PlainFile> file_ =
      port::PlainFile::open(directory_.path("runs"), {.read = true, .write = true, .create = true})
          .value();
  Experience experience_;
  Hints hints_;
  const Costs costs_ = {};
};

// Where the file can be mapped.
TEST_F(PlainRunTest, WhoComesBackCopies) {
  Bytes written(4096, std::byte{1});
  ASSERT_EQ(move(Direction::kWrite, 4096, written).bytes, 4096);
  EXPECT_FALSE(is_copied(Direction::kWrite, 4096, written));
  come_back(Direction::kWrite, 4096, written);
  EXPECT_EQ(is_copied(Direction::kWrite, 4096, written), file_->is_local());
  Bytes read(4096);
  come_back(Direction::kRead, 4096, read);
  EXPECT_EQ(is_copied(Direction::kRead, 4096, read), file_->is_local());
  EXPECT_EQ(read, written);
}

TEST_F(PlainRunTest, HintsKeepItFromBeingMapped) {
  hints_ = Hints::parse({"", {}, {{"tessera_engine", "list"}}}).value();
  Bytes memory(100, std::byte{1});
  come_back(Direction::kWrite, 0, memory);
  EXPECT_FALSE(is_copied(Direction::kWrite, 0, memory));
}

TEST_F(PlainRunTest, WhoGoesOnDoesNot) {
  Bytes memory(512, std::byte{1});
  for (int64_t i = 0; i < 1000; ++i) {
    ASSERT_EQ(move(Direction::kWrite, i * 512, memory).bytes, 512);
  }
  EXPECT_FALSE(is_copied(Direction::kWrite, 999 * 512, memory));
  EXPECT_EQ(file_->size().value(), 512'000);
}

// The end of the file is where it is, however often somebody reads there.
TEST_F(PlainRunTest, ReadsEndAtTheEndOfTheFile) {
  Bytes memory(1000, std::byte{5});
  ASSERT_EQ(move(Direction::kWrite, 0, memory).bytes, 1000);
  Bytes read(2000);
  for (int i = 0; i < 100; ++i) ASSERT_EQ(move(Direction::kRead, 500, read).bytes, 500);
  for (int i = 0; i < 100; ++i) ASSERT_EQ(move(Direction::kRead, 5000, read).bytes, 0);
  // It grows: what is there now is read.
  ASSERT_EQ(move(Direction::kWrite, 1000, memory).bytes, 1000);
  EXPECT_EQ(move(Direction::kRead, 500, read).bytes, 1500);
}

TEST_F(PlainRunTest, AFileThatCannotBeMappedIsMovedAllTheSame) {
  const auto other = port::PlainFile::open(directory_.path("other"),
                                           {.read = false, .write = true, .create = true})
                         .value();
  Bytes memory(100, std::byte{5});
  for (int i = 0; i < 100; ++i) {
    ASSERT_EQ(
        execute_plain({Direction::kWrite, 0, memory}, {*other, hints_, costs_, experience_}).bytes,
        100);
  }
  EXPECT_EQ(other->size().value(), 100);
}

// Runs at few places, so that most of them come back, against a file in memory.
TEST_F(PlainRunTest, ModelOfAFile) {
  std::mt19937_64 random(20261115);
  const auto below = [&](uint64_t end) { return static_cast<int64_t>(random() % end); };
  Bytes model;
  int64_t offset = 0;
  Bytes memory;
  for (int step = 0; step < 20'000; ++step) {
    if (below(30) == 0) {
      offset = below(5) * 1000;
      memory.resize(static_cast<size_t>(below(3000)));
    }
    if (below(300) == 0) {
      // As MPI_File_set_size does.
      experience_.mapping.unsettle();
      model.resize(static_cast<size_t>(below(8000)));
      ASSERT_TRUE(file_->truncate(std::ssize(model)));
    }
    const int64_t end = offset + std::ssize(memory);
    if (below(2) == 0) {
      for (std::byte& byte : memory) byte = static_cast<std::byte>(random());
      ASSERT_EQ(move(Direction::kWrite, offset, memory).bytes, std::ssize(memory));
      if (end > std::ssize(model) && !memory.empty()) model.resize(static_cast<size_t>(end));
      std::copy(memory.begin(), memory.end(), model.begin() + (memory.empty() ? 0 : offset));
    } else {
      const int64_t there = std::max<int64_t>(0, std::min(end, std::ssize(model)) - offset);
      ASSERT_EQ(move(Direction::kRead, offset, memory).bytes, there) << step;
      ASSERT_TRUE(std::equal(memory.begin(), memory.begin() + there,
                             model.begin() + (there == 0 ? 0 : offset)))
          << step;
    }
  }
  Bytes contents(model.size() + 1);
  ASSERT_EQ(file_->read_at(0, contents).bytes, std::ssize(model));
  contents.pop_back();
  EXPECT_EQ(contents, model);
}

TEST_F(PlainRunTest, StoresAreToldToTheTimeOfTheLastChange) {
  Bytes memory(4096, std::byte{1});
  come_back(Direction::kWrite, 0, memory);
  const auto changed = [&] { return std::filesystem::last_write_time(file_->path()); };
  std::filesystem::last_write_time(file_->path(), changed() - std::chrono::hours(1));
  const auto before = changed();
  ASSERT_EQ(move(Direction::kWrite, 0, memory).bytes, 4096);
  EXPECT_EQ(experience_.mapping.unmarked(), file_->is_local());
  ASSERT_TRUE(file_->mark_changed());
  EXPECT_GT(changed(), before);
}

}  // namespace
}  // namespace tessera::move
