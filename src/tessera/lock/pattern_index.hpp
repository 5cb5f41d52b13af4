// PatternIndex: claims as compressed patterns (lock_index.hpp, kPatterns).
//
// Most claims on a file are of one kind: the same stride, each process at another place of the
// period. Whether two such claims can meet is decided by what their first bytes leave when divided
// by the stride; those that leave the same and differ in the rows lie in one lane, by their spans.
// Claims of other strides, single runs and irregular ones are found by their spans. What is found
// so is tested exactly.
// Thread safety: as LockIndex.
#pragma once

#include <map>
#include <unordered_map>
#include <vector>

#include "tessera/lock/lock_index.hpp"

namespace tessera::lock {

class PatternIndex final : public LockIndex {
 public:
  void insert(Ticket ticket, const Claim& claim) override;
  void erase(Ticket ticket) override;
  [[nodiscard]] std::optional<Ticket> latest_conflict(const Claim& claim,
                                                      Ticket before) const override;
  [[nodiscard]] size_t memory_bytes() const override;
  [[nodiscard]] std::unique_ptr<LockIndex> another() const override {
    return std::make_unique<PatternIndex>();
  }

 private:
  // The bytes of one period that a claim may touch: [begin, begin + length), begin < stride. Where
  // that passes the end of the period it goes on at its beginning.
  struct Residue {
    int64_t begin = 0;
    int64_t length = 0;
    friend auto operator<=>(const Residue&, const Residue&) = default;
  };

  // Claims of one residue, by their spans.
  struct Lane {
    Residue residue;
    SpanTree spans;
  };

  // Claims of one stride.
  struct Stride {
    std::map<Residue, Ticket> numbers;  // of lanes
    std::vector<Lane> lanes;
    std::vector<Ticket> free;
    SpanTree residues;  // of lanes, with their numbers
    SpanTree spans;     // of all claims

    Lane& lane_of(Residue residue, int64_t stride);
    void drop_lane(Residue residue, int64_t stride);
  };

  // Claims of one mode.
  struct Half {
    std::map<int64_t, Stride> strides;
    SpanTree others;
  };

  struct Search;

  [[nodiscard]] static int64_t stride_of(const Claim& claim);
  [[nodiscard]] static Residue residue_of(const Claim& claim, int64_t stride);
  void search_half(const Half& half, Search& search) const;
  void search_stride(int64_t length, const Stride& stride, Search& search) const;
  [[nodiscard]] bool overlap(const Claim& claim, Ticket ticket) const;

  std::unordered_map<Ticket, Claim> claims_;
  ByMode<Half> halves_;
};

}  // namespace tessera::lock
