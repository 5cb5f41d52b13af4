// The room that object files keep for the contents of their next commit.
#include "tessera/cache/contents_room.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <string>

#include "tessera/cache/linear_file.hpp"
#include "tessera/cache/object_file.hpp"
#include "tessera/container/checker.hpp"
#include "tessera/port/guarded.hpp"
#include "tessera/port/seeded_random.hpp"
#include "tessera/port/self_team.hpp"
#include "tessera/port/sim_disk.hpp"
#include "tessera/port/thread_team.hpp"

namespace tessera::cache {
namespace {

using base::Bytes;
using move::Direction;
using move::Move;
using pattern::Pattern;

// A file that can reserve space, and knows what was reserved.
class ReservableFile final : public port::File {
 public:
  explicit ReservableFile(port::File& file) : File("reservable"), file_(file) {}

  base::Result<void> truncate(int64_t size) override { return file_.truncate(size); }
  base::Result<int64_t> size() override { return file_.size(); }
  base::Result<void> sync() override { return file_.sync(); }
  base::Result<void> reserve_range(int64_t begin, int64_t end) override {
    reserved_.with([&](auto& reserved) { reserved.push_back({begin, end}); });
    return {};
  }
  [[nodiscard]] bool has_reserved(Interval bytes) const {
    return reserved_.with([&](const auto& reserved) {
      return std::any_of(reserved.begin(), reserved.end(), [&](Interval one) {
        return one.begin <= bytes.begin && bytes.end <= one.end;
      });
    });
  }
  [[nodiscard]] int64_t reserved_bytes() const {
    return reserved_.with([](const auto& reserved) {
      int64_t bytes = 0;
      for (const Interval& one : reserved) bytes += one.length();
      return bytes;
    });
  }

 protected:
  Attempt read_some(int64_t offset, std::span<const iovec> memory) override {
    const port::Transfer read = file_.read_at(
        offset, {static_cast<std::byte*>(memory.front().iov_base), memory.front().iov_len});
    return {read.bytes, 0};
  }
  Attempt write_some(int64_t offset, std::span<const iovec> memory) override {
    const port::Transfer written = file_.write_at(
        offset, {static_cast<std::byte*>(memory.front().iov_base), memory.front().iov_len});
    return {written.bytes, 0};
  }

 private:
  port::File& file_;
  mutable port::Guarded<std::vector<Interval>> reserved_;
};

class ContentsRoomTest : public ::testing::Test {
 protected:
  std::unique_ptr<ObjectFile> open(port::File& file) {
    ObjectFileOptions options;
    options.write = true;
    options.create = true;
    port::SeededRandom ids(7);
    return ObjectFile::open(file, ranks_, ids, options).value();
  }
  static port::Transfer write(ObjectFile& objects, int64_t at, const std::string& text) {
    LinearFile linear(objects);
    return linear.write_at(at, base::bytes_of(text));
  }

  port::SimDisk disk_ = {};
  std::unique_ptr<port::File> file_ = disk_.create("o").value();
  port::SelfTeam team_ = {};
  OwnNumbers numbers_ = {};
  Ranks ranks_ = {team_, &team_, numbers_, true};
};

// Also of contents much longer than those of the commit before.
TEST_F(ContentsRoomTest, IsReservedBeforeBytesAreWritten) {
  ReservableFile file(*file_);
  const auto objects = open(file);
  for (const int64_t writes : {int64_t{1}, int64_t{3000}, int64_t{1}, int64_t{5000}}) {
    for (int64_t i = 0; i < writes; ++i) ASSERT_TRUE(write(*objects, i * i * 7, "x"));
    ASSERT_TRUE(objects->commit());
    const Interval blob = container::Container::open(file).value().superblock().blob;
    EXPECT_TRUE(file.has_reserved(blob)) << blob.begin << " to " << blob.end;
  }
  ASSERT_TRUE(objects->close());
  EXPECT_TRUE(container::check(*file_).value().sound());
}

// (ROOM-2): none of the ranks has heard of what the others write at the same moment, and each for
// itself would do with little room. What they place and do not write is no longer counted.
TEST(ContentsRoomOfRanks, IsReservedForAllWhoWriteAtOnce) {
  constexpr int kRanks = 64;
  constexpr int64_t kBytes = int64_t{1} << 20;
  for (const bool on_one_node : {true, false}) {
    port::SimDisk disk;
    const auto inner = disk.create("o").value();
    ReservableFile file(*inner);
    OwnNumbers numbers;
    port::run_team(kRanks, [&](port::Team& team) {
      ObjectFileOptions options;
      options.write = true;
      options.create = true;
      port::SeededRandom ids(7);
      port::Team* const common = on_one_node ? &team : nullptr;
      const Ranks ranks = {team, common, numbers, team.rank() == 0};
      const auto objects = ObjectFile::open(file, ranks, ids, options).value();
      Bytes bytes(kBytes, static_cast<std::byte>(team.rank()));
      Move move;
      move.direction = Direction::kWrite;
      move.file = Pattern::run({{2 * kBytes * team.rank()}}, kBytes).value();
      move.memory = Pattern::run({{0}}, kBytes).value();
      move.base = bytes.data();
      const auto given_up = objects->place(move);
      const auto placed = objects->place(move);
      ASSERT_TRUE(given_up && placed);
      objects->give_back(*given_up);
      ASSERT_TRUE(team.barrier());
      ObjectFile::WriteTerms terms;
      terms.placed = &*placed;
      EXPECT_TRUE(objects->write(move, terms));
      ASSERT_TRUE(objects->close());
    });
    const Interval blob = container::Container::open(*inner).value().superblock().blob;
    EXPECT_TRUE(file.has_reserved(blob)) << blob.begin << " to " << blob.end;
    EXPECT_LT(file.reserved_bytes(), 16 * blob.length());
    EXPECT_TRUE(container::check(*inner).value().sound());
  }
}

TEST_F(ContentsRoomTest, WritesThatFailNeedNoneForLater) {
  const auto objects = open(*file_);
  ASSERT_TRUE(write(*objects, 0, "first"));
  const int64_t counted = Numbers(numbers_).contents.load().value();
  for (int i = 0; i < 1000; ++i) {
    disk_.fail_operation(1, ENOSPC);
    EXPECT_FALSE(write(*objects, 100 * i, std::string(100000, 'x')));
  }
  EXPECT_LT(Numbers(numbers_).contents.load().value(), counted + 10000);
  ASSERT_TRUE(objects->commit());
  EXPECT_EQ(objects->size().value(), 5);
}

}  // namespace
}  // namespace tessera::cache
