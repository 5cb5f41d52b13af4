// BlockIndex: a bit for each block that a claim touches (lock_index.hpp, kBlocks).
//
// Two claims meet if the words of their bits have one in common, over the blocks that both span.
// Claims that span more blocks than a bound are taken as all of them.
// Thread safety: as LockIndex.
#pragma once

#include <unordered_map>
#include <vector>

#include "tessera/lock/lock_index.hpp"

namespace tessera::lock {

class BlockIndex final : public LockIndex {
 public:
  // Requires block_bytes > 0.
  explicit BlockIndex(int64_t block_bytes);

  void insert(Ticket ticket, const Claim& claim) override;
  void erase(Ticket ticket) override;
  [[nodiscard]] std::optional<Ticket> latest_conflict(const Claim& claim,
                                                      Ticket before) const override;
  [[nodiscard]] size_t memory_bytes() const override;
  [[nodiscard]] std::unique_ptr<LockIndex> another() const override {
    return std::make_unique<BlockIndex>(block_bytes_);
  }

 private:
  // Bit i of word w stands for block 64 * (span.begin / 64 + w) + i. No words: all of the span.
  struct Blocks {
    Interval span;  // in blocks
    std::vector<uint64_t> words;
    Mode mode;
  };

  [[nodiscard]] Blocks blocks_of(const Claim& claim) const;
  [[nodiscard]] static bool meet(const Blocks& a, const Blocks& b);

  const int64_t block_bytes_;
  std::unordered_map<Ticket, Blocks> claims_;
  ByMode<SpanTree> spans_;
};

}  // namespace tessera::lock
