#include "tessera/port/uring_list.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <thread>

#include "tessera/port/plain_file.hpp"
#include "tessera/port/seeded_random.hpp"
#include "tessera/port/test_directory.hpp"
#include "tessera/port/test_seed.hpp"

namespace tessera::port {
namespace {

using base::Bytes;

// On a kernel without rings all of them are the last one.
constexpr RingUse kUses[] = {RingUse::kAutomatic, RingUse::kAlways, RingUse::kApart,
                             RingUse::kNever};

class UringListTest : public ::testing::Test {
 protected:
  std::unique_ptr<PlainFile> make(int64_t size) {
    auto file = PlainFile::open(directory_.path("a"), {.read = true, .write = true, .create = true})
                    .value();
    content_.resize(static_cast<size_t>(size));
    random_.fill(content_);
    EXPECT_TRUE(file->truncate(0));
    EXPECT_TRUE(file->write_at(0, content_));
    return file;
  }

  SeededRandom random_{test_seed()};
  TestDirectory directory_;
  Bytes content_;
};

// Segments with gaps, some of them empty or adjacent, over a memory that is as long as they are.
template <typename Segment>
std::vector<Segment> random_list(Random& random, std::span<std::byte> memory, size_t length_max) {
  std::vector<Segment> list;
  int64_t offset = 0;
  while (!memory.empty()) {
    const size_t length = std::min<size_t>(random.uniform(length_max + 1), memory.size());
    if (random.chance(3, 4)) offset += static_cast<int64_t>(random.uniform(100));
    list.push_back({offset, memory.first(length)});
    memory = memory.subspan(length);
    offset += static_cast<int64_t>(length);
  }
  return list;
}

TEST_F(UringListTest, ListsReadTheSameBytesEitherWay) {
  const auto file = make(4'000'000);
  for (const size_t length_max : {1U, 8U, 200U, 5000U}) {
    Bytes memory(1'000'000 * std::min<size_t>(length_max, 3) / 3);
    const auto list = random_list<ReadSegment>(random_, memory, length_max);
    for (const RingUse use : kUses) {
      file->set_ring_use(use);
      std::fill(memory.begin(), memory.end(), std::byte{0});
      const Transfer transfer = file->read_list(list);
      ASSERT_TRUE(transfer);
      int64_t expected = 0;
      for (const ReadSegment& segment : list) {
        const auto begin = std::min(static_cast<size_t>(segment.offset), content_.size());
        const size_t length = std::min(segment.memory.size(), content_.size() - begin);
        expected += static_cast<int64_t>(length);
        ASSERT_TRUE(base::equal(segment.memory.first(length),
                                base::ByteView(content_).subspan(begin, length)));
        if (length < segment.memory.size()) break;
      }
      ASSERT_EQ(transfer.bytes, expected);
    }
  }
}

TEST_F(UringListTest, PiecesThatFollowEachOtherAreReadTogether) {
  const auto file = make(1'000'000);
  for (const RingUse use : kUses) {
    file->set_ring_use(use);
    for (const int64_t piece_bytes : {int64_t{1000}, int64_t{65536}, int64_t{2'000'000}}) {
      Bytes memory(999'000);
      const Transfer whole = file->read_together(in_pieces(500, memory, piece_bytes));
      EXPECT_TRUE(whole);
      EXPECT_EQ(whole.bytes, 999'000);
      EXPECT_TRUE(base::equal(memory, base::ByteView(content_).subspan(500, memory.size())));
      const Transfer behind = file->read_together(in_pieces(990'000, memory, piece_bytes));
      EXPECT_TRUE(behind);
      EXPECT_EQ(behind.bytes, 10'000);
      EXPECT_TRUE(base::equal(base::ByteView(memory).first(10'000),
                              base::ByteView(content_).subspan(990'000)));
    }
  }
}

TEST_F(UringListTest, ListsWriteTheSameBytesEitherWay) {
  for (const RingUse use : kUses) {
    const auto file = make(100'000);
    file->set_ring_use(use);
    Bytes memory(300'000);
    random_.fill(memory);
    const auto list = random_list<WriteSegment>(random_, memory, 300);
    const Transfer transfer = file->write_list(list);
    ASSERT_TRUE(transfer);
    ASSERT_EQ(transfer.bytes, 300'000);
    for (const WriteSegment& segment : list) {
      const size_t end = static_cast<size_t>(segment.offset) + segment.memory.size();
      content_.resize(std::max(content_.size(), segment.memory.empty() ? 0 : end));
      std::copy(segment.memory.begin(), segment.memory.end(),
                content_.begin() + static_cast<ptrdiff_t>(segment.offset));
    }
    ASSERT_EQ(file->size().value(), static_cast<int64_t>(content_.size()));
    Bytes back(content_.size());
    ASSERT_TRUE(file->read_at(0, back));
    EXPECT_EQ(back, content_);
  }
}

// (R3): where segments overlap the last one stays; where they do not ascend a read that meets the
// end of the file leaves what comes after it alone.
TEST_F(UringListTest, R3TheOrderOfAListIsKept) {
  for (const RingUse use : kUses) {
    const auto file = make(1000);
    file->set_ring_use(use);
    const Bytes ones(10, std::byte{1});
    const Bytes twos(10, std::byte{2});
    std::vector<WriteSegment> writes;
    for (int64_t i = 0; i < 40; ++i) {
      writes.push_back({i * 20, ones});
      writes.push_back({i * 20 + 5, twos});
    }
    EXPECT_EQ(file->write_list(writes).bytes, 800);
    Bytes back(20);
    for (int64_t i = 0; i < 40; ++i) {
      ASSERT_TRUE(file->read_at(i * 20, back));
      EXPECT_EQ(std::count(back.begin(), back.begin() + 5, std::byte{1}), 5);
      EXPECT_EQ(std::count(back.begin() + 5, back.begin() + 15, std::byte{2}), 10);
    }
    Bytes memory(110, std::byte{9});
    std::vector<ReadSegment> reads;
    for (size_t i = 0; i < 10; ++i) {
      // The fifth one reaches over the end.
      const int64_t offset = i == 4 ? 995 : 100 * (9 - static_cast<int64_t>(i));
      reads.push_back({offset, std::span(memory).subspan(i * 10, 10)});
    }
    for (int i = 0; i < 10; ++i) reads.push_back({0, std::span(memory).last(10)});
    const Transfer transfer = file->read_list(reads);
    EXPECT_TRUE(transfer);
    EXPECT_EQ(transfer.bytes, 45);
    EXPECT_EQ(std::count(memory.begin() + 45, memory.end(), std::byte{9}), 65);
  }
}

TEST_F(UringListTest, R1CountsEndAtTheEndOfTheFile) {
  const auto file = make(10'000);
  for (const RingUse use : kUses) {
    file->set_ring_use(use);
    Bytes memory(6000, std::byte{9});
    std::vector<ReadSegment> list;
    for (size_t i = 0; i < 600; ++i) {
      list.push_back({static_cast<int64_t>(i * 25), std::span(memory).subspan(i * 10, 10)});
    }
    // 400 segments of 10 bytes begin before byte 10,000; the last one of them ends before it too.
    const Transfer transfer = file->read_list(list);
    ASSERT_TRUE(transfer);
    EXPECT_EQ(transfer.bytes, 4000);
    EXPECT_EQ(std::count(memory.begin() + 4000, memory.end(), std::byte{9}), 2000);
  }
}

TEST_F(UringListTest, FailuresAreReportedWithWhatMovedBeforeThem) {
  make(10'000);
  const auto reader = PlainFile::open(directory_.path("a"), {}).value();
  const auto writer = PlainFile::open(directory_.path("a"), {.read = false, .write = true}).value();
  Bytes memory(1000);
  std::vector<ReadSegment> reads;
  std::vector<WriteSegment> writes;
  for (size_t i = 0; i < 100; ++i) {
    reads.push_back({static_cast<int64_t>(i * 50), std::span(memory).subspan(i * 10, 10)});
    writes.push_back({static_cast<int64_t>(i * 50), base::ByteView(memory).subspan(i * 10, 10)});
  }
  for (const RingUse use : kUses) {
    reader->set_ring_use(use);
    writer->set_ring_use(use);
    const Transfer read = writer->read_list(reads);
    EXPECT_EQ(read.bytes, 0);
    EXPECT_EQ(read.status.error().errno_value, EBADF);
    const Transfer written = reader->write_list(writes);
    EXPECT_EQ(written.bytes, 0);
    EXPECT_EQ(written.status.error().errno_value, EBADF);
    // A segment in the middle without memory behind it.
    auto broken = reads;
    broken[60].memory = {reinterpret_cast<std::byte*>(8), 10};
    const Transfer partial = reader->read_list(broken);
    EXPECT_EQ(partial.bytes, 600);
    EXPECT_EQ(partial.status.error().errno_value, EFAULT);
  }
}

TEST_F(UringListTest, AFileThatWasClosedIsClosed) {
  auto file = make(10'000);
  file->set_ring_use(RingUse::kAlways);
  Bytes memory(200);
  std::vector<ReadSegment> list;
  for (size_t i = 0; i < 20; ++i) {
    list.push_back({static_cast<int64_t>(i * 50), std::span(memory).subspan(i * 10, 10)});
  }
  ASSERT_TRUE(file->read_list(list));
  const auto other = PlainFile::open(directory_.path("a"), {.write = true}).value();
  ASSERT_TRUE(file->lock_range(0, 1, RangeLock::kShared));
  // Its locks go with it, unless something still has it open.
  file.reset();
  ASSERT_TRUE(other->lock_range(0, 1, RangeLock::kExclusive));
}

TEST_F(UringListTest, ThreadsAndChildrenHaveRingsOfTheirOwn) {
  const auto file = make(100'000);
  const auto read_all = [&](RingUse use) {
    Bytes memory(10'000);
    std::vector<ReadSegment> list;
    for (size_t i = 0; i < 1000; ++i) {
      list.push_back({static_cast<int64_t>(i * 90), std::span(memory).subspan(i * 10, 10)});
    }
    file->set_ring_use(use);
    if (file->read_list(list).bytes != 10'000) return false;
    return std::all_of(list.begin(), list.end(), [&](const ReadSegment& segment) {
      return base::equal(segment.memory,
                         base::ByteView(content_).subspan(static_cast<size_t>(segment.offset), 10));
    });
  };
  ASSERT_TRUE(read_all(RingUse::kAlways));
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) ::_exit(read_all(RingUse::kAlways) ? 0 : 1);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  ASSERT_TRUE(read_all(RingUse::kAlways));
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 10; ++round) EXPECT_TRUE(read_all(RingUse::kAlways));
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_F(UringListTest, WhatIsNotWorthARingIsLeft) {
  const auto file = make(4'000'000);
  Bytes memory(2'000'000);
  const auto list = [&](size_t count, size_t length) {
    std::vector<ReadSegment> segments;
    for (size_t i = 0; i < count; ++i) {
      segments.push_back(
          {static_cast<int64_t>(i * 2 * length), std::span(memory).subspan(i * length, length)});
    }
    return segments;
  };
  const int descriptor = file->descriptor();
  EXPECT_EQ(read_by_ring(descriptor, list(4, 8), RingUse::kAutomatic), 0);
  EXPECT_EQ(read_by_ring(descriptor, list(20, 80'000), RingUse::kAutomatic), 0);
  EXPECT_EQ(read_by_ring(descriptor, list(500, 8), RingUse::kNever), 0);
  const WriteSegment write{0, memory};
  EXPECT_EQ(write_by_ring(descriptor, std::vector<WriteSegment>(100, write), RingUse::kAutomatic),
            0);
  const int64_t expected = ring_available() ? 2048 : 0;
  EXPECT_EQ(read_by_ring(descriptor, list(256, 8), RingUse::kAutomatic), expected);
}

}  // namespace
}  // namespace tessera::port
