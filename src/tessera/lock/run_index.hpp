// RunIndex: claims expanded to runs, in balanced trees (lock_index.hpp, kRuns).
//
// Thread safety: as LockIndex.
#pragma once

#include <unordered_map>

#include "tessera/lock/lock_index.hpp"

namespace tessera::lock {

class RunIndex final : public LockIndex {
 public:
  void insert(Ticket ticket, const Claim& claim) override;
  void erase(Ticket ticket) override;
  [[nodiscard]] std::optional<Ticket> latest_conflict(const Claim& claim,
                                                      Ticket before) const override;
  [[nodiscard]] size_t memory_bytes() const override;
  [[nodiscard]] std::unique_ptr<LockIndex> another() const override {
    return std::make_unique<RunIndex>();
  }

 private:
  std::unordered_map<Ticket, Claim> claims_;
  ByMode<SpanTree> runs_;
};

}  // namespace tessera::lock
