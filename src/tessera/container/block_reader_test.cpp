#include "tessera/container/block_reader.hpp"

#include <gtest/gtest.h>

#include "tessera/container/allocation_writer.hpp"
#include "tessera/container/test_object_file.hpp"
#include "tessera/pattern/cursor.hpp"
#include "tessera/port/seeded_random.hpp"
#include "tessera/port/sim_disk.hpp"
#include "tessera/port/test_seed.hpp"

namespace tessera::container {
namespace {

constexpr int64_t kBegin = int64_t{1} << 20;

// One allocation, and its bytes as they should be.
class BlockReaderTest : public ::testing::Test {
 protected:
  void fill(int64_t bytes, int64_t block) {
    block_ = block;
    file_ = disk_.create("f" + std::to_string(files_++)).value();
    const int64_t room = base::ceil_div(bytes, block) * block;
    AllocationWriter writer(*file_, {kBegin, kBegin + room}, block);
    bytes_.resize(static_cast<size_t>(bytes));
    random_.fill(bytes_);
    // Appended in pieces of all sizes, with a flush here and there.
    for (size_t at = 0; at < bytes_.size();) {
      const uint64_t most = random_.chance(1, 4) ? 600'000 : 3 * static_cast<uint64_t>(block);
      const size_t count = std::min(bytes_.size() - at, random_.uniform(most) + 1);
      ASSERT_EQ(writer.place(), static_cast<int64_t>(at));
      ASSERT_TRUE(writer.append(base::ByteView(bytes_).subspan(at, count)));
      at += count;
      if (random_.chance(1, 4)) {
        ASSERT_TRUE(writer.flush());
      }
    }
    ASSERT_TRUE(writer.flush());
    allocation_ = writer.allocation();
    ASSERT_EQ(allocation_.place.length(), room);
    bytes_.resize(static_cast<size_t>(room));  // zeros fill up the last block
  }

  [[nodiscard]] int64_t size() const { return static_cast<int64_t>(bytes_.size()); }
  BlockReader reader(bool verify) { return {*file_, {block_, verify, {}}}; }

  // A pattern of places, ascending or not.
  pattern::Pattern random_places() {
    const auto length =
        static_cast<int64_t>(1 + random_.uniform(random_.chance(1, 5) ? 70'000 : 40));
    const auto gap = static_cast<int64_t>(1 + random_.uniform(random_.chance(1, 3) ? 9'000 : 60));
    const auto begin = static_cast<int64_t>(random_.uniform(static_cast<uint64_t>(size() / 2)));
    const int64_t count = std::max<int64_t>(1, (size() - begin) / (length + gap));
    if (begin + length > size()) return {};
    const bool backwards = random_.chance(1, 3);
    const int64_t stride = length + gap;
    const int64_t first = backwards ? begin + (count - 1) * stride : begin;
    const auto run = pattern::Pattern::run({{first}}, length).value();
    return pattern::repeat(run, count, {{backwards ? -stride : stride}}).value();
  }

  void expect_places(BlockReader& from, const pattern::Pattern& places) {
    base::Bytes memory(static_cast<size_t>(places.size()));
    ASSERT_TRUE(from.read_places(allocation_, places, memory));
    base::Bytes expected;
    for (const pattern::Piece<1>& run : pattern::expand(places)) {
      const auto begin = bytes_.begin() + run.at[0];
      expected.insert(expected.end(), begin, begin + run.length);
    }
    ASSERT_TRUE(memory == expected);
  }

  void expect_list(BlockReader& from) {
    std::vector<PlacedMemory> pieces;
    base::Bytes memory(bytes_.size());
    for (int64_t at = 0; at < size();) {
      const auto length =
          static_cast<int64_t>(random_.uniform(random_.chance(1, 9) ? 90'000 : 900));
      const int64_t end = std::min(size(), at + length);
      pieces.push_back(
          {at, std::span(memory).subspan(static_cast<size_t>(at), static_cast<size_t>(end - at))});
      at = end + static_cast<int64_t>(random_.uniform(random_.chance(1, 9) ? 90'000 : 900));
    }
    ASSERT_TRUE(from.read_list(allocation_, pieces));
    for (const PlacedMemory& piece : pieces) {
      ASSERT_TRUE(base::equal(
          piece.memory,
          base::ByteView(bytes_).subspan(static_cast<size_t>(piece.place), piece.memory.size())));
    }
  }

  port::SeededRandom random_{port::test_seed()};
  port::SimDisk disk_;
  int files_ = 0;
  std::unique_ptr<port::File> file_;
  int64_t block_ = 0;
  Allocation allocation_;
  base::Bytes bytes_;
};

TEST_F(BlockReaderTest, ReadsWhatWasAppended) {
  for (int round = 0; round < 40; ++round) {
    const int64_t block = int64_t{512} << random_.uniform(random_.chance(1, 4) ? 12 : 6);
    fill(static_cast<int64_t>(1 + random_.uniform(1'500'000)), block);
    for (const bool verify : {true, false}) {
      BlockReader from = reader(verify);
      for (int i = 0; i < 20; ++i) {
        const auto place = static_cast<int64_t>(random_.uniform(bytes_.size()));
        const size_t most = std::min(bytes_.size() - static_cast<size_t>(place),
                                     random_.chance(1, 2) ? bytes_.size() : size_t{5000});
        base::Bytes memory(random_.uniform(most + 1));
        ASSERT_TRUE(from.read(allocation_, place, memory));
        ASSERT_TRUE(base::equal(
            memory, base::ByteView(bytes_).subspan(static_cast<size_t>(place), memory.size())));
        expect_places(from, random_places());
      }
      expect_list(from);
      EXPECT_EQ(from.counts().blocks_verified > 0, verify);
      EXPECT_EQ(from.counts().blocks_reread, 0);
    }
  }
}

TEST_F(BlockReaderTest, LongRunsComeInFewTransfersWhereThatIsAskedFor) {
  fill(4 << 20, 16384);
  for (const auto& [transfer_bytes, transfers] :
       {std::pair{kTransferBytes, 16}, {kRemoteTransferBytes, 1}, {int64_t{1} << 20, 4}}) {
    BlockReader from(*file_, {block_, true, {}, transfer_bytes});
    base::Bytes memory(bytes_.size());
    ASSERT_TRUE(from.read(allocation_, 0, memory));
    EXPECT_EQ(memory, bytes_);
    EXPECT_EQ(from.counts().transfers, transfers);
    EXPECT_EQ(from.counts().blocks_verified, size() / block_);
  }
}

TEST_F(BlockReaderTest, RaggedEndsComeWithTheRestFromOtherMachines) {
  fill(1 << 20, 4096);
  BlockReaderOptions far;
  far.block_bytes = block_;
  far.transfer_bytes = 512 << 10;
  far.piece_bytes = 100'000;
  for (const int64_t begin : {int64_t{0}, int64_t{1}, block_ - 1, block_}) {
    for (const int64_t end : {size(), size() - 1, size() - block_ + 1, begin + 512 * 1024,
                              begin + 512 * 1024 + 1, begin + 80'000}) {
      BlockReader from(*file_, far);
      base::Bytes memory(static_cast<size_t>(end - begin));
      ASSERT_TRUE(from.read(allocation_, begin, memory));
      EXPECT_TRUE(base::equal(
          memory, base::ByteView(bytes_).subspan(static_cast<size_t>(begin), memory.size())));
      const int64_t blocks = base::ceil_div(end, block_) - begin / block_;
      EXPECT_EQ(from.counts().blocks_verified, blocks);
      const int64_t inner = end / block_ * block_ - base::ceil_div(begin, block_) * block_;
      EXPECT_EQ(from.counts().transfers, base::ceil_div(inner, far.transfer_bytes));
    }
  }
  base::Bytes memory(bytes_.size() - 2);
  for (const int64_t place : {int64_t{0}, block_, size() - 1}) {
    const std::byte good = bytes_[static_cast<size_t>(place)];
    const std::byte bad = good ^ std::byte{1};
    ASSERT_TRUE(file_->write_at(kBegin + place, {&bad, 1}));
    BlockReader from(*file_, far);
    EXPECT_EQ(from.read(allocation_, 1, memory).error().code, base::Code::kIntegrity);
    ASSERT_TRUE(file_->write_at(kBegin + place, {&good, 1}));
  }
}

// Many readers at once are too large for the caches, whatever one of them reads.
TEST_F(BlockReaderTest, WhatIsTooLargeForTheCachesIsTheSame) {
  fill(3'000'000, 16384);
  for (const size_t shift : {size_t{0}, size_t{1}, size_t{16}}) {
    BlockReaderOptions options;
    options.block_bytes = block_;
    options.companions = 1 << 20;
    BlockReader from(*file_, options);
    base::Bytes memory(bytes_.size() + shift);
    const std::span<std::byte> there = std::span(memory).subspan(shift);
    ASSERT_TRUE(from.read(allocation_, 0, there));
    EXPECT_TRUE(base::equal(there, bytes_));
    ASSERT_TRUE(from.read(allocation_, 7, there.first(2'000'000)));
    EXPECT_TRUE(base::equal(there.first(2'000'000), base::ByteView(bytes_).subspan(7, 2'000'000)));
    EXPECT_EQ(from.counts().blocks_reread, 0);
  }
}

// A file that is in memory, too: blocks come from there, and only those that are no good there are
// fetched.
class TouchedBlocksTest : public BlockReaderTest {
 protected:
  void SetUp() override {
    fill(1'000'000, 16384);
    memory_ = bytes_;
  }

  BlockReader touching(bool touches) {
    BlockReaderOptions options;
    options.block_bytes = block_;
    options.companions = 1 << 20;
    options.touch = [this, touches](Interval part, const auto& body) {
      if (touches) body(memory_.data() + (part.begin - kBegin));
      return touches;
    };
    return {*file_, options};
  }

  void expect_all(BlockReader& from) {
    base::Bytes read(bytes_.size());
    ASSERT_TRUE(from.read(allocation_, 0, read));
    EXPECT_TRUE(read == bytes_);
  }

  base::Bytes memory_;
};

TEST_F(TouchedBlocksTest, GoodBlocksNeedNoTransfer) {
  ASSERT_TRUE(file_->truncate(0));
  BlockReader from = touching(true);
  expect_all(from);
  EXPECT_EQ(from.counts().blocks_verified, size() / block_);
  EXPECT_EQ(from.counts().blocks_reread, 0);
}

TEST_F(TouchedBlocksTest, BadBlocksAreFetched) {
  for (const size_t at : {size_t{0}, size_t{500'000}, bytes_.size() - 1}) {
    memory_[at] ^= std::byte{1};
  }
  BlockReader from = touching(true);
  expect_all(from);
  EXPECT_EQ(from.counts().blocks_reread, 3);
}

TEST_F(TouchedBlocksTest, WhatIsBadEverywhereIsDamage) {
  memory_[500'000] ^= std::byte{1};
  ASSERT_TRUE(file_->write_at(kBegin + 500'000, {&memory_[500'000], 1}));
  BlockReader from = touching(true);
  const auto read = from.read(allocation_, 0, memory_);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, base::Code::kIntegrity);
  EXPECT_NE(read.error().context.find("block 30 of allocation 0"), std::string::npos);
}

TEST_F(TouchedBlocksTest, WhatCannotBeTouchedIsFetched) {
  BlockReader from = touching(false);
  expect_all(from);
}

TEST_F(BlockReaderTest, DamageIsToldByNameWhateverIsReadOfTheBlock) {
  fill(300'000, 4096);
  std::byte bad = bytes_[50'000] ^ std::byte{1};
  ASSERT_TRUE(file_->write_at(kBegin + 50'000, {&bad, 1}));
  BlockReader from(*file_, {block_, true, [](map::AllocationId, Interval places) {
                              return "logical " + std::to_string(places.begin);
                            }});
  base::Bytes memory(300'000);
  for (const auto& [place, length] : {std::pair{int64_t{0}, 300'000},
                                      {49'200, 1},
                                      {49'152, 4096},
                                      {40'000, 20'000},
                                      {53'247, 1}}) {
    const auto read =
        from.read(allocation_, place, std::span(memory).first(static_cast<size_t>(length)));
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().code, base::Code::kIntegrity);
    EXPECT_NE(read.error().context.find("block 12 of allocation 0"), std::string::npos);
    EXPECT_NE(read.error().context.find("logical 49152"), std::string::npos);
  }
  EXPECT_EQ(from.counts().blocks_reread, 5);
  EXPECT_FALSE(from.read_places(allocation_, test_set(0, 8, 10'000, 16).ascending(),
                                std::span(memory).first(80'000)));
  // Neighbours are whole.
  EXPECT_TRUE(from.read(allocation_, 53'248, std::span(memory).first(9000)));
  EXPECT_TRUE(from.read(allocation_, 0, std::span(memory).first(49'152)));
}

TEST_F(BlockReaderTest, AFileThatEndsTooEarlyIsDamage) {
  fill(100'000, 4096);
  ASSERT_TRUE(file_->truncate(kBegin + 50'000));
  base::Bytes memory(100'000);
  for (const bool verify : {true, false}) {
    BlockReader from = reader(verify);
    EXPECT_EQ(from.read(allocation_, 0, memory).error().code, base::Code::kIntegrity);
    EXPECT_TRUE(from.read(allocation_, 0, std::span(memory).first(40'000)));
  }
}

// A file whose first answer for a byte is wrong: the reader met a write in flight.
TEST_F(BlockReaderTest, ABlockInFlightIsReadAgain) {
  class Flaky final : public port::File {
   public:
    explicit Flaky(port::File& inner) : File(inner.path()), inner_(inner) {}
    base::Result<void> truncate(int64_t size) override { return inner_.truncate(size); }
    base::Result<int64_t> size() override { return inner_.size(); }
    base::Result<void> sync() override { return inner_.sync(); }

   protected:
    Attempt read_some(int64_t offset, std::span<const iovec> memory) override {
      auto* begin = static_cast<std::byte*>(memory.front().iov_base);
      const auto read = inner_.read_at(offset, {begin, memory.front().iov_len});
      if (!std::exchange(done_, true)) begin[100] ^= std::byte{1};
      return {read.bytes, 0};
    }
    Attempt write_some(int64_t, std::span<const iovec>) override { return {0, EBADF}; }

   private:
    port::File& inner_;
    bool done_ = false;
  };
  fill(20'000, 4096);
  Flaky flaky(*file_);
  BlockReader from(flaky, {block_, true, {}});
  base::Bytes memory(20'000);
  ASSERT_TRUE(from.read(allocation_, 0, memory));
  EXPECT_TRUE(base::equal(memory, base::ByteView(bytes_).first(20'000)));
  EXPECT_EQ(from.counts().blocks_reread, 1);
}

}  // namespace
}  // namespace tessera::container
