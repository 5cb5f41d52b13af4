#include "tessera/remap/share_writer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "tessera/base/checksum.hpp"
#include "tessera/port/test_seed.hpp"
#include "tessera/remap/remap_test_support.hpp"

namespace tessera::remap {
namespace {

using pattern::model::uniform;

// Remembers what it is given, and when.
class RecordedFile final : public port::File {
 public:
  RecordedFile() : File("recorded") {}

  [[nodiscard]] base::Result<void> truncate(int64_t size) override {
    bytes.resize(static_cast<size_t>(size));
    return {};
  }
  [[nodiscard]] base::Result<int64_t> size() override { return std::ssize(bytes); }
  [[nodiscard]] base::Result<void> sync() override { return {}; }

  base::Bytes bytes;
  std::vector<Interval> writes;

 protected:
  Attempt read_some(int64_t, std::span<const iovec>) override { return {0, EIO}; }
  Attempt write_some(int64_t offset, std::span<const iovec> memory) override {
    const iovec& part = memory.front();
    const int64_t end = offset + static_cast<int64_t>(part.iov_len);
    if (std::ssize(bytes) < end) bytes.resize(static_cast<size_t>(end));
    std::memcpy(bytes.data() + offset, part.iov_base, part.iov_len);
    writes.push_back({offset, end});
    return {end - offset, 0};
  }
};

// A file, what is wanted of it, and who has which part.
struct Shares {
  explicit Shares(test::Engine& engine)
      : text(test::random_text(engine, uniform(engine, 1, 9000))) {
    const auto size = std::ssize(text);
    plan = make_plan(size, test::random_consumers(engine, size)).value();
    block_bytes = test::kBlock << uniform(engine, 0, 1);
    piece_bytes = block_bytes << uniform(engine, 0, 3);
    layout = layout_of(plan, block_bytes * uniform(engine, 0, 20), block_bytes);
    share.begin = uniform(engine, 0, size - 1);
    share.end = uniform(engine, share.begin + 1, size);
  }

  std::string text;
  Plan plan;
  Layout layout;
  Interval share;
  int64_t block_bytes = 0;
  int64_t piece_bytes = 0;
};

void write_windows(test::Engine& engine, const Shares& shares, ShareWriter& writer) {
  for (Interval window = {shares.share.begin, 0}; window.begin < shares.share.end;
       window.begin = window.end) {
    window.end = std::min(shares.share.end, window.begin + uniform(engine, 1, 1500));
    const auto* memory = reinterpret_cast<const std::byte*>(shares.text.data()) + window.begin;
    ASSERT_TRUE(writer.write(window, memory));
  }
  ASSERT_TRUE(writer.finish());
}

// The places of a shelf that are whole blocks of the share, in the file.
Interval whole_blocks(const Shares& shares, size_t shelf) {
  const pattern::Pattern& bytes = shares.plan.shelves[shelf].bytes.ascending();
  const int64_t block = shares.block_bytes;
  const int64_t first = (bytes.offset_of(shares.share.begin) + block - 1) / block * block;
  const int64_t last = bytes.offset_of(shares.share.end) / block * block;
  const int64_t room = shares.layout.rooms[shelf].begin;
  return {room + first, room + std::max(first, last)};
}

// All pieces between two multiples of their size, or cut by an end of the whole blocks.
std::set<std::pair<int64_t, int64_t>> expected_pieces(const Shares& shares) {
  std::set<std::pair<int64_t, int64_t>> pieces;
  for (size_t shelf = 0; shelf < shares.plan.shelves.size(); ++shelf) {
    const Interval whole = whole_blocks(shares, shelf);
    for (int64_t at = whole.begin; at < whole.end;) {
      const int64_t end = (at / shares.piece_bytes + 1) * shares.piece_bytes;
      pieces.insert({at, std::min(whole.end, end)});
      at = end;
    }
  }
  return pieces;
}

TEST(ShareWriter, W1PiecesEndAtMultiplesOfTheirSizeInTheFile) {
  const uint64_t seed = port::test_seed();
  test::Engine engine(seed);
  for (int round = 0; round < pattern::model::rounds(300); ++round) {
    SCOPED_TRACE("TESSERA_SEED=" + std::to_string(seed) + " round " + std::to_string(round));
    const Shares shares(engine);
    RecordedFile file;
    port::WriteGate gate;
    ShareWriter writer(file, gate, shares.plan, shares.layout, shares.share, shares.piece_bytes);
    write_windows(engine, shares, writer);
    std::set<std::pair<int64_t, int64_t>> pieces;
    for (const Interval& one : file.writes) {
      EXPECT_TRUE(pieces.insert({one.begin, one.end}).second);
    }
    EXPECT_EQ(pieces, expected_pieces(shares));
    if (testing::Test::HasFailure()) return;
  }
}

TEST(ShareWriter, W2SumsAreThoseOfTheBlocksInTheFile) {
  const uint64_t seed = port::test_seed();
  test::Engine engine(seed);
  for (int round = 0; round < pattern::model::rounds(300); ++round) {
    SCOPED_TRACE("TESSERA_SEED=" + std::to_string(seed) + " round " + std::to_string(round));
    const Shares shares(engine);
    RecordedFile file;
    port::WriteGate gate;
    ShareWriter writer(file, gate, shares.plan, shares.layout, shares.share, shares.piece_bytes);
    write_windows(engine, shares, writer);
    int64_t described = 0;
    for (const BlockSums& sums : writer.sums()) {
      int64_t at = shares.layout.rooms[sums.shelf].begin + sums.first_block * shares.block_bytes;
      for (const uint64_t sum : sums.sums) {
        const auto block =
            base::ByteView(file.bytes)
                .subspan(static_cast<size_t>(at), static_cast<size_t>(shares.block_bytes));
        ASSERT_EQ(base::checksum(block), sum);
        at += shares.block_bytes;
      }
      described += std::ssize(sums.sums) * shares.block_bytes;
    }
    for (const Fragment& one : writer.fragments()) described += std::ssize(one.bytes);
    EXPECT_EQ(described, writer.taken_bytes());
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace tessera::remap
