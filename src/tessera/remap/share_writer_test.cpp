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

// Remembers what it is given, and in which parts.
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
    const int64_t block = test::kBlock << uniform(engine, 0, 1);
    piece_bytes = block << uniform(engine, 0, 3);
    layout = layout_of(plan, block * uniform(engine, 0, 20), block);
    share.begin = uniform(engine, 0, size - 1);
    share.end = uniform(engine, share.begin + 1, size);
  }

  std::string text;
  Plan plan;
  Layout layout;
  Interval share;
  int64_t piece_bytes = 0;
};

void write_windows(test::Engine& engine, const Shares& shares, ShareWriter& writer) {
  for (Interval window = {shares.share.begin, 0}; window.begin < shares.share.end;
       window.begin = window.end) {
    window.end = std::min(shares.share.end, window.begin + uniform(engine, 1, 1500));
    const auto* memory = reinterpret_cast<const std::byte*>(shares.text.data()) + window.begin;
    ASSERT_TRUE(writer.write(window, memory));
  }
}

// The places of a shelf that are whole blocks of the share, in the file.
Interval whole_blocks(const Shares& shares, size_t shelf) {
  const pattern::Pattern& bytes = shares.plan.shelves[shelf].bytes.ascending();
  const int64_t block = shares.layout.block_bytes;
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

void expect_pieces(const Shares& shares, const RecordedFile& file) {
  std::set<std::pair<int64_t, int64_t>> pieces;
  for (const Interval& one : file.writes) {
    EXPECT_TRUE(pieces.insert({one.begin, one.end}).second);
  }
  EXPECT_EQ(pieces, expected_pieces(shares));
}

// Whole blocks hold the bytes of their places.
void expect_bytes(const Shares& shares, const RecordedFile& file) {
  for (size_t shelf = 0; shelf < shares.plan.shelves.size(); ++shelf) {
    const pattern::Pattern& bytes = shares.plan.shelves[shelf].bytes.ascending();
    const Interval whole = whole_blocks(shares, shelf);
    const int64_t room = shares.layout.rooms[shelf].begin;
    for (int64_t at = whole.begin; at < whole.end; ++at) {
      const auto from = static_cast<size_t>(bytes.position(at - room)[0]);
      ASSERT_EQ(static_cast<char>(file.bytes[static_cast<size_t>(at)]), shares.text[from]);
    }
  }
}

void expect_sums(const Shares& shares, const RecordedFile& file, const ShareWriter& writer) {
  const int64_t block = shares.layout.block_bytes;
  int64_t described = 0;
  for (const BlockSums& sums : writer.sums()) {
    const int64_t begin = shares.layout.rooms[sums.shelf].begin + sums.first_block * block;
    for (int64_t i = 0; i < std::ssize(sums.sums); ++i) {
      const auto bytes =
          base::ByteView(file.bytes)
              .subspan(static_cast<size_t>(begin + i * block), static_cast<size_t>(block));
      ASSERT_EQ(base::checksum(bytes), sums.sums[static_cast<size_t>(i)]);
    }
    described += std::ssize(sums.sums) * block;
  }
  for (const Fragment& one : writer.fragments()) described += std::ssize(one.bytes);
  EXPECT_EQ(described, writer.taken_bytes());
}

// (W1), (W2), and that pieces end at multiples of their size in the file.
TEST(ShareWriter, WritesEveryWholeBlockOnceAndDescribesAll) {
  const uint64_t seed = port::test_seed();
  test::Engine engine(seed);
  for (int round = 0; round < pattern::model::rounds(300); ++round) {
    SCOPED_TRACE("TESSERA_SEED=" + std::to_string(seed) + " round " + std::to_string(round));
    const Shares shares(engine);
    RecordedFile file;
    ShareWriter writer(file, shares.plan, shares.layout, shares.share, shares.piece_bytes);
    write_windows(engine, shares, writer);
    expect_pieces(shares, file);
    expect_bytes(shares, file);
    expect_sums(shares, file, writer);
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace tessera::remap
