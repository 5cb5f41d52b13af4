// MpiExchange: an exchange on a communicator.
//
// Messages of any size, also beyond 2 GiB (sent in pieces). A call of MPI that fails is an error of
// the exchange (E3). The communicator belongs to us: no other traffic, errors returned.
// Thread safety: as Exchange.
#pragma once

#include <mpi.h>

#include "tessera/port/exchange.hpp"

namespace tessera::mpiio {

class MpiExchange final : public port::Exchange {
 public:
  // Requires an intracommunicator that outlives it and whose error handler is MPI_ERRORS_RETURN.
  explicit MpiExchange(MPI_Comm communicator);

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
  MPI_Comm communicator_;
  int rank_ = 0;
  int size_ = 1;
};

}  // namespace tessera::mpiio
