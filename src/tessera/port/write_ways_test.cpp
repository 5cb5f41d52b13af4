#include "tessera/port/write_ways.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "tessera/base/aligned_bytes.hpp"
#include "tessera/base/bytes.hpp"
#include "tessera/port/plain_file.hpp"
#include "tessera/port/test_directory.hpp"

namespace tessera::port {
namespace {

constexpr int64_t kPieceBytes = int64_t{256} << 10;
constexpr OpenMode kNew = {.read = true, .write = true, .create = true};

base::AlignedBytes piece_of(int64_t number) {
  return base::AlignedBytes(static_cast<size_t>(kPieceBytes),
                            static_cast<std::byte>(number % 251 + 1));
}

TEST(WriteWays, SuitsOneLargeRunAtPages) {
  base::AlignedBytes memory = piece_of(0);
  const auto suit = [&](int64_t offset, size_t begin, size_t bytes) {
    const iovec run = {memory.data() + begin, bytes};
    return WriteWays::suit(offset, {&run, 1});
  };
  EXPECT_TRUE(suit(0, 0, memory.size()));
  EXPECT_TRUE(suit(8192, 4096, memory.size() - 4096));
  EXPECT_FALSE(suit(512, 0, memory.size()));
  EXPECT_FALSE(suit(0, 16, memory.size() - 4096));
  EXPECT_FALSE(suit(0, 0, memory.size() - 1));
  EXPECT_FALSE(suit(0, 0, 4096));
  const std::vector<iovec> two(2, iovec{memory.data(), memory.size()});
  EXPECT_FALSE(WriteWays::suit(0, two));
}

// By both ways, as if memory was slow; and a write that suits neither, across two pieces.
TEST(WriteWays, FilesHaveTheSameBytesByWhicheverWay) {
  const TestDirectory directory;
  const auto file = PlainFile::open(directory.path("file"), kNew).value();
  SharedWriteChoice choice;
  file->choose_write_ways(choice);
  base::Bytes expected;
  const auto write = [&](int64_t offset, base::ByteView bytes) {
    expected.resize(std::max(expected.size(), static_cast<size_t>(offset) + bytes.size()));
    std::copy(bytes.begin(), bytes.end(), expected.begin() + offset);
    return file->write_at(offset, bytes).bytes == std::ssize(bytes);
  };
  constexpr int64_t kPieces = 16;
  for (int64_t number = 0; number < kPieces; ++number) {
    if (number == kPieces / 2) {
      choice.with([](WriteChoice& made) {
        made.took(WriteWay::kThroughMemory, WriteChoice::kFirstTrialBytes, int64_t{1} << 40);
        EXPECT_EQ(made.next(), WriteWay::kAround);
      });
    }
    ASSERT_TRUE(write(number * kPieceBytes, piece_of(number)));
  }
  ASSERT_TRUE(write(kPieceBytes - 2, base::Bytes(5, std::byte{255})));
  base::Bytes read(expected.size() + 1);
  EXPECT_EQ(file->read_at(0, read).bytes, std::ssize(expected));
  read.pop_back();
  EXPECT_TRUE(base::equal(read, expected));
}

}  // namespace
}  // namespace tessera::port
