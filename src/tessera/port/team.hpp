// Team: an exchange whose ranks also see common memory; the ranks of one node.
//
// The engines between ranks of one node copy through this memory instead of sending messages. It is
// a team of processes (ProcessTeam), of threads for tests (ThreadTeam), or one rank alone
// (SelfTeam).
//   (M1) The memory of a team is one run of bytes, the same on every rank; only its address
//        differs.
//   (M2) What a rank wrote before a collective call of the team, the others read after it.
//   (M3) Nothing of it outlives the processes: no name in a file system refers to it.
// (E1) to (E4) of exchange.hpp hold. Thread safety: one thread at a time for each rank's team.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "tessera/port/exchange.hpp"

namespace tessera::port {

class Team : public Exchange {
 public:
  // At least `bytes` of common memory; all of it keeps its contents, new bytes are zero.
  // Collective: all ranks ask for the same size. Spans given before are invalid where the memory
  // grew. Fails on every rank alike if one of them cannot map it. Memory that is large enough
  // already is given at once, without meeting the others; (M2) does not count that call. The first
  // touch of a page costs about as much as copying it, so memory stays until the team goes.
  [[nodiscard]] virtual base::Result<std::span<std::byte>> common_memory(int64_t bytes) = 0;
};

}  // namespace tessera::port
