// ProcessTeam: a team of processes of one machine, over a memory file and futexes.
//
// The founder makes an anonymous memory file and tells its address to the others by whatever means
// they have (MPI, at open); they open it through the founder's process. It has no name, so nothing
// is left behind whoever dies (M3). A waiting rank looks for the others for some microseconds, then
// sleeps in the kernel; while it waits it calls `idle` about every millisecond, so that a library
// that needs polling (MPI) makes progress meanwhile.
//
// Every collective call is one stream of bytes from each rank, in chunks of one mailbox:
//   (P1) A chunk costs one barrier. Ranks write their mailboxes of this round, meet, and read those
//        of the others; the next round uses the other set of mailboxes. A rank that writes a set
//        again has met all others once more since they read it. A round in which no rank has
//        a payload is over when they have met: no mailbox is read.
//   (P2) All ranks of a round have called the same function with the same root, or it fails on all
//        of them (E1).
// A rank that leaves makes later calls of the others fail (E3). A process that was killed cannot
// say so: its launcher ends the job, as for every MPI program. A child of fork() is not of the
// team; there the copy may only be destroyed.
// Thread safety: as Team; counters from any thread.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "tessera/port/memory_file.hpp"
#include "tessera/port/shared_barrier.hpp"
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

  // Rank 0 founds it. Requires 1 <= size <= kRanksMax; `idle` may be empty.
  static constexpr int kRanksMax = 4096;
  [[nodiscard]] static base::Result<std::unique_ptr<ProcessTeam>> found(int size, Idle idle);
  // The others join it, each as another rank, while the founder keeps its own. Fails where this
  // process may not open the founder's files, as in another container.
  [[nodiscard]] static base::Result<std::unique_ptr<ProcessTeam>> join(const TeamAddress& address,
                                                                       int rank, Idle idle);
  // The rank leaves.
  ~ProcessTeam() override;
  ProcessTeam(const ProcessTeam&) = delete;
  ProcessTeam& operator=(const ProcessTeam&) = delete;

  // Founder only.
  [[nodiscard]] TeamAddress address() const;

  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return size_; }
  // One barrier each for contributions of up to some hundred bytes, then one for each 64 KiB of the
  // largest contribution.
  [[nodiscard]] base::Result<void> barrier() override;
  [[nodiscard]] base::Result<std::vector<base::Bytes>> all_to_all(
      std::vector<base::Bytes> outgoing) override;
  [[nodiscard]] base::Result<std::vector<base::Bytes>> all_gather(base::Bytes mine) override;
  [[nodiscard]] base::Result<std::vector<base::Bytes>> listen() override;
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
  struct Slot;
  struct Layout;
  struct Call;
  class Stream;
  // The part of a stream that a rank wants.
  struct Part {
    uint64_t begin = 0;
    uint64_t end = 0;
  };
  // Which part of the stream of `from` is wanted, seen from its first chunk.
  using Wanted = std::function<Part(int from, base::ByteView first_chunk, uint64_t total)>;

  ProcessTeam(int rank, int size, Idle idle);
  [[nodiscard]] base::Result<void> map(MemoryFile file);
  [[nodiscard]] Header& header() const;
  [[nodiscard]] Slot& slot(uint64_t round, int rank) const;
  [[nodiscard]] std::span<std::byte> large_slot(uint64_t round, int rank) const;
  // A round that all ranks have come to.
  struct Met {
    uint64_t round = 0;
    bool has_payload = true;  // of any rank
  };
  [[nodiscard]] base::Result<Met> meet(const Call& call, const Stream& mine, uint64_t chunk);
  [[nodiscard]] base::Result<void> check_calls(uint64_t round, const Call& call);
  [[nodiscard]] base::Failure broken();
  [[nodiscard]] base::ByteView chunk_of(uint64_t round, int from, uint64_t chunk) const;
  [[nodiscard]] base::Result<std::vector<base::Bytes>> swap_streams(const Call& call,
                                                                    const Stream& mine,
                                                                    const Wanted& wanted);
  [[nodiscard]] base::Result<std::vector<base::Bytes>> take_streams(const Call& call,
                                                                    const Stream& mine,
                                                                    const Wanted& wanted,
                                                                    uint64_t round);
  [[nodiscard]] static Part everything(int from, base::ByteView first_chunk, uint64_t total);

  const int rank_;
  const int size_;
  const pid_t process_;
  // Ranks that tell each other something are expected at once. A barrier stands between pieces of
  // work: whoever has finished leaves its core to the others, and is woken to be there in time.
  const SharedBarrier::WaitPolicy awake_;
  const SharedBarrier::WaitPolicy asleep_;
  MemoryFile file_;
  Mapping meeting_place_;  // header and mailboxes
  Mapping window_;         // what common_memory() gives
  uint64_t rounds_ = 0;    // begun so far
  std::optional<base::Error> failed_;
  uint64_t token_ = 0;
};

}  // namespace tessera::port
