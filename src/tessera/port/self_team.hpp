// SelfTeam: the team of a rank that is alone on its node. Every call succeeds at once.
//
// Thread safety: as Team.
#pragma once

#include <memory>

#include "tessera/base/checked.hpp"
#include "tessera/port/forwarding_team.hpp"
#include "tessera/port/self_exchange.hpp"

namespace tessera::port {

class SelfTeam final : public ForwardingTeam {
 public:
  SelfTeam() : ForwardingTeam(std::make_unique<SelfExchange>()) {}

  [[nodiscard]] base::Result<std::span<std::byte>> common_memory(int64_t bytes) override {
    const auto wanted = base::exact_cast<size_t>(bytes);
    if (memory_.size() < wanted) memory_.resize(wanted);
    return std::span<std::byte>(memory_);
  }

 private:
  base::Bytes memory_;
};

}  // namespace tessera::port
