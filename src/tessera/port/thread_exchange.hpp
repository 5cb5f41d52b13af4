// ThreadExchange: ranks as threads of one process, for tests of collective code.
//
// Threads wait on a condition variable and never spin, so that many ranks run on few cores. It
// watches over the rules that MPI leaves to luck: ranks that call different functions (E1) all get
// an error that names both, and a rank that leaves makes the calls of the others fail (E3).
// Thread safety: each rank's exchange belongs to one thread; the ranks may run in any threads.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "tessera/port/exchange.hpp"

namespace tessera::port {

class ThreadExchange final : public Exchange {
 public:
  // The exchanges of `size` ranks, by rank. Requires size > 0.
  static std::vector<std::unique_ptr<ThreadExchange>> make_group(int size);

  // The rank leaves: calls of others that still need it fail.
  ~ThreadExchange() override;
  ThreadExchange(const ThreadExchange&) = delete;
  ThreadExchange& operator=(const ThreadExchange&) = delete;

  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override;
  [[nodiscard]] base::Result<void> barrier() override;
  [[nodiscard]] base::Result<std::vector<base::Bytes>> all_to_all(
      std::vector<base::Bytes> outgoing) override;
  [[nodiscard]] base::Result<std::vector<base::Bytes>> all_gather(base::Bytes mine) override;
  [[nodiscard]] base::Result<std::vector<base::Bytes>> gather(int root, base::Bytes mine) override;
  [[nodiscard]] base::Result<base::Bytes> broadcast(int root, base::Bytes value) override;
  [[nodiscard]] base::Result<uint64_t> all_max(uint64_t mine) override;

 private:
  class Group;
  struct Round;
  struct Call;

  ThreadExchange(std::shared_ptr<Group> group, int rank) : group_(std::move(group)), rank_(rank) {}
  [[nodiscard]] base::Result<std::shared_ptr<Round>> meet(const Call& call,
                                                          std::vector<base::Bytes> given);

  const std::shared_ptr<Group> group_;
  const int rank_;
};

// Runs the function once for each rank, each in a thread, and returns when all have returned. A
// rank leaves the exchange when its function returns.
void run_ranks(int size, const std::function<void(Exchange&)>& rank_main);

}  // namespace tessera::port
