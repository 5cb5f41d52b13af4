// ThreadTeam: a team of threads of one process, for tests of engines between ranks of one node.
//
// ThreadExchange with memory from the heap, so that sanitizers see every access of every rank. As
// there, ranks that call different functions get an error, and a rank that leaves makes the calls
// of the others fail. Thread safety: each rank's team belongs to one thread.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "tessera/port/forwarding_team.hpp"

namespace tessera::port {

class ThreadTeam final : public ForwardingTeam {
 public:
  // The teams of `size` ranks, by rank. Requires size > 0.
  static std::vector<std::unique_ptr<ThreadTeam>> make_group(int size);

  [[nodiscard]] base::Result<std::span<std::byte>> common_memory(int64_t bytes) override;

 private:
  using Memory = base::Bytes;

  ThreadTeam(std::unique_ptr<Exchange> exchange, std::shared_ptr<Memory> memory)
      : ForwardingTeam(std::move(exchange)), memory_(std::move(memory)) {}

  const std::shared_ptr<Memory> memory_;
  size_t seen_ = 0;  // the size of the memory as this rank knows it
};

// Runs the function once for each rank, each in a thread, and returns when all have returned. A
// rank leaves the team when its function returns.
void run_team(int size, const std::function<void(Team&)>& rank_main);

}  // namespace tessera::port
