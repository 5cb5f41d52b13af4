// SelfExchange: the exchange of a rank that is alone. Every call succeeds at once.
//
// Thread safety: as for Exchange.
#pragma once

#include <utility>

#include "tessera/base/assert.hpp"
#include "tessera/port/exchange.hpp"

namespace tessera::port {

class SelfExchange final : public Exchange {
 public:
  [[nodiscard]] int rank() const override { return 0; }
  [[nodiscard]] int size() const override { return 1; }

  [[nodiscard]] base::Result<void> barrier() override { return {}; }

  [[nodiscard]] base::Result<std::vector<base::Bytes>> all_to_all(
      std::vector<base::Bytes> outgoing) override {
    TESSERA_ASSERT(outgoing.size() == 1);
    return outgoing;
  }

  [[nodiscard]] base::Result<std::vector<base::Bytes>> all_gather(base::Bytes mine) override {
    return std::vector<base::Bytes>{std::move(mine)};
  }

  [[nodiscard]] base::Result<std::vector<base::Bytes>> gather(int root, base::Bytes mine) override {
    TESSERA_ASSERT(root == 0);
    return all_gather(std::move(mine));
  }

  [[nodiscard]] base::Result<base::Bytes> broadcast(int root, base::Bytes value) override {
    TESSERA_ASSERT(root == 0);
    return value;
  }

  [[nodiscard]] base::Result<uint64_t> all_max(uint64_t mine) override { return mine; }
};

}  // namespace tessera::port
