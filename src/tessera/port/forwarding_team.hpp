// ForwardingTeam: a team whose ranks meet through another exchange; its base adds the memory.
//
// Thread safety: as Team.
#pragma once

#include <memory>
#include <utility>

#include "tessera/port/team.hpp"

namespace tessera::port {

class ForwardingTeam : public Team {
 public:
  [[nodiscard]] int rank() const override { return exchange_->rank(); }
  [[nodiscard]] int size() const override { return exchange_->size(); }
  [[nodiscard]] base::Result<void> barrier() override { return exchange_->barrier(); }
  [[nodiscard]] base::Result<std::vector<base::Bytes>> all_to_all(
      std::vector<base::Bytes> outgoing) override {
    return exchange_->all_to_all(std::move(outgoing));
  }
  [[nodiscard]] base::Result<std::vector<base::Bytes>> all_gather(base::Bytes mine) override {
    return exchange_->all_gather(std::move(mine));
  }
  [[nodiscard]] base::Result<std::vector<base::Bytes>> gather(int root, base::Bytes mine) override {
    return exchange_->gather(root, std::move(mine));
  }
  [[nodiscard]] base::Result<base::Bytes> broadcast(int root, base::Bytes value) override {
    return exchange_->broadcast(root, std::move(value));
  }
  [[nodiscard]] base::Result<uint64_t> all_max(uint64_t mine) override {
    return exchange_->all_max(mine);
  }

 protected:
  explicit ForwardingTeam(std::unique_ptr<Exchange> exchange) : exchange_(std::move(exchange)) {}

 private:
  const std::unique_ptr<Exchange> exchange_;
};

}  // namespace tessera::port
