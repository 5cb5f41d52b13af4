// ProcessTeam: a team of processes of one machine, over a memory file and futexes.
//
// The founder makes an anonymous memory file and tells its address to the others by whatever means
// they have (MPI, at open); they open it through the founder's process. It has no name, so nothing
// is left behind whoever dies (M3). A waiting rank spins for a few microseconds where there are as
// many cores as ranks, then sleeps in the kernel; while it waits it calls `idle` about every
// millisecond, so that a library that needs polling (MPI) makes progress meanwhile.
// A rank that leaves makes later calls of the others fail (E3). A process that was killed cannot say
// so: its launcher ends the job, as for every MPI program.
// Thread safety: as Team.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "tessera/port/team.hpp"

namespace tessera::port {

// Where a team can be joined; plain bytes, to be sent.
struct TeamAddress {
  int64_t process = 0;
  int64_t descriptor = -1;
  uint64_t token = 0;  // in the memory: whoever finds another one there has reached something else
};

class ProcessTeam final : public Team {
 public:
  using Idle = std::function<void()>;

  // Rank 0 founds it. Requires size >= 1; `idle` may be empty.
  [[nodiscard]] static base::Result<std::unique_ptr<ProcessTeam>> found(int size, Idle idle);
  // The others join it, each as another rank, while the founder keeps its own.
  [[nodiscard]] static base::Result<std::unique_ptr<ProcessTeam>> join(const TeamAddress& address,
                                                                       int rank, Idle idle);
  ~ProcessTeam() override;
  ProcessTeam(const ProcessTeam&) = delete;
  ProcessTeam& operator=(const ProcessTeam&) = delete;

  // Founder only.
  [[nodiscard]] TeamAddress address() const;

  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return size_; }
  [[nodiscard]] base::Result<void> barrier() override;
  [[nodiscard]] base::Result<std::vector<base::Bytes>> all_to_all(
      std::vector<base::Bytes> outgoing) override;
  [[nodiscard]] base::Result<std::vector<base::Bytes>> all_gather(base::Bytes mine) override;
  [[nodiscard]] base::Result<std::vector<base::Bytes>> gather(int root, base::Bytes mine) override;
  [[nodiscard]] base::Result<base::Bytes> broadcast(int root, base::Bytes value) override;
  [[nodiscard]] base::Result<uint64_t> all_max(uint64_t mine) override;
  [[nodiscard]] base::Result<std::span<std::byte>> common_memory(int64_t bytes) override;

  // A counter in the common memory that every rank may change at any time, without the others:
  // `index` < kCounters. It starts at 0.
  static constexpr int kCounters = 64;
  [[nodiscard]] int64_t fetch_add(int index, int64_t by);
  void store(int index, int64_t value);
  [[nodiscard]] int64_t load(int index) const;

 private:
  struct Header;
  class Mapping;
  ProcessTeam(int rank, int size, Idle idle);

  int rank_;
  int size_;
  Idle idle_;
  // (the implementer completes this)
};

}  // namespace tessera::port
