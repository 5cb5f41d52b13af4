// MpiExchange: an exchange on a communicator.
//
// Messages of any size, also beyond 2 GiB (sent in pieces); empty ones are not sent. A call of MPI
// that fails is an error of the exchange (E3), though MPI alone decides whether the other ranks of
// a broken communicator return. The communicator belongs to us: no other traffic, errors returned.
// Thread safety: as Exchange.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tessera/port/exchange.hpp"

namespace tessera::mpiio {

class MpiExchange final : public port::Exchange {
 public:
  static constexpr int64_t kPieceBytes = int64_t{1} << 29;

  // Requires an intracommunicator that outlives it and whose error handler is MPI_ERRORS_RETURN. A
  // message of MPI carries at most `piece_bytes`, the same on all ranks and at most kPieceBytes.
  explicit MpiExchange(MPI_Comm communicator, int64_t piece_bytes = kPieceBytes);

  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return size_; }
  [[nodiscard]] base::Result<void> barrier() override;
  [[nodiscard]] base::Result<std::vector<base::Bytes>> all_to_all(
      std::vector<base::Bytes> outgoing) override;
  [[nodiscard]] base::Result<std::vector<base::Bytes>> all_gather(base::Bytes mine) override;
  [[nodiscard]] base::Result<std::vector<base::Bytes>> gather(int root, base::Bytes mine) override;
  [[nodiscard]] base::Result<base::Bytes> broadcast(int root, base::Bytes value) override;
  [[nodiscard]] base::Result<uint64_t> all_max(uint64_t mine) override;

 private:
  using Messages = std::vector<base::Bytes>;

  [[nodiscard]] base::Result<void> usable() const;
  // Keeps the first failure, which all later calls answer.
  [[nodiscard]] base::Result<void> checked(int code, const char* function);
  // Moves outgoing[r] to each rank r and fills incoming[r], which has the right size, from there.
  [[nodiscard]] base::Result<void> transfer(Messages& outgoing, Messages& incoming);
  [[nodiscard]] base::Result<void> post(std::span<std::byte> message, int peer, bool sends);
  [[nodiscard]] base::Result<void> broadcast_pieces(int root, base::Bytes& value);

  MPI_Comm communicator_;
  int64_t piece_bytes_;
  int rank_ = 0;
  int size_ = 1;
  std::vector<MPI_Request> requests_;  // of the transfer under way
  std::optional<base::Error> broken_;
  std::vector<Messages> abandoned_;  // of a transfer that failed: MPI may still touch them
};

}  // namespace tessera::mpiio
