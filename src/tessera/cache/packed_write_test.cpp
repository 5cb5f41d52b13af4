#include "tessera/cache/packed_write.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "tessera/port/plain_file.hpp"
#include "tessera/port/test_directory.hpp"

namespace tessera::cache {
namespace {

using pattern::Interval;

constexpr int64_t kBlock = 4096;
constexpr int64_t kPosition = 3 * kBlock + 100;

// A file that notes what is sent on its way to the disk.
class NotingFile final : public port::File {
 public:
  explicit NotingFile(port::File& inner) : File(inner.path()), inner_(inner) {}

  [[nodiscard]] const std::vector<Interval>& sent() const { return sent_; }

  base::Result<void> truncate(int64_t size) override { return inner_.truncate(size); }
  base::Result<int64_t> size() override { return inner_.size(); }
  base::Result<void> sync() override { return inner_.sync(); }
  void begin_write_back(int64_t offset, int64_t size_bytes) override {
    inner_.begin_write_back(offset, size_bytes);
    sent_.push_back({offset, offset + size_bytes});
  }

 protected:
  Attempt read_some(int64_t offset, std::span<const iovec> memory) override {
    const auto& first = memory.front();
    return {inner_.read_at(offset, {static_cast<std::byte*>(first.iov_base), first.iov_len}).bytes};
  }
  Attempt write_some(int64_t offset, std::span<const iovec> memory) override {
    const auto& first = memory.front();
    return {
        inner_.write_at(offset, {static_cast<std::byte*>(first.iov_base), first.iov_len}).bytes};
  }

 private:
  port::File& inner_;
  std::vector<Interval> sent_;
};

class PackedWriteTest : public testing::Test {
 protected:
  void SetUp() override {
    port::OpenMode mode;
    mode.write = mode.create = true;
    plain_ = port::PlainFile::open(folder_.path("file"), mode).value();
    file_ = std::make_unique<NotingFile>(*plain_);
  }

  // Writes so many bytes and expects to read them.
  void write(int64_t size_bytes, WriteBack write_back) {
    base::Bytes bytes(static_cast<size_t>(size_bytes));
    for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i * 7919 >> 8);
    move::Move move;
    move.direction = move::Direction::kWrite;
    move.file = move.memory = pattern::Pattern::run({{0}}, size_bytes).value();
    move.base = bytes.data();
    std::vector<BlockSum> sums;
    const port::Transfer written = write_packed(*file_, move, kPosition, kBlock, write_back, sums);
    ASSERT_TRUE(written) << written.status.error().message();
    EXPECT_EQ(written.bytes, size_bytes);
    base::Bytes found(bytes.size());
    ASSERT_TRUE(plain_->read_at(kPosition, found));
    EXPECT_EQ(found, bytes);
  }

  port::TestDirectory folder_;
  std::unique_ptr<port::PlainFile> plain_;
  std::unique_ptr<NotingFile> file_;
};

TEST_F(PackedWriteTest, LargeWritesAreSentToTheDiskPieceByPiece) {
  constexpr int64_t kBytes = int64_t{11} << 20;
  write(kBytes, WriteBack::kAtOnce);
  ASSERT_GE(file_->sent().size(), 5U);
  EXPECT_EQ(file_->sent().front().begin, kPosition);
  for (size_t i = 1; i < file_->sent().size(); ++i) {
    EXPECT_EQ(file_->sent()[i].begin, file_->sent()[i - 1].end);
  }
  // A short last piece may be left to the sync.
  EXPECT_GE(file_->sent().back().end, kPosition + kBytes - (int64_t{128} << 10));
}

TEST_F(PackedWriteTest, SmallWritesAreLeftToTheSync) {
  write(20'000, WriteBack::kAtOnce);
  EXPECT_TRUE(file_->sent().empty());
}

TEST_F(PackedWriteTest, WhatIsNotSyncedIsNotSent) {
  write(int64_t{5} << 20, WriteBack::kLater);
  EXPECT_TRUE(file_->sent().empty());
}

}  // namespace
}  // namespace tessera::cache
