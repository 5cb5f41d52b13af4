#include "tessera/mpiio/shared_numbers.hpp"

#include "tessera/mpiio/fault.hpp"
#include "tessera/port/process_team.hpp"

namespace tessera::mpiio {

base::Result<int64_t> TeamNumber::fetch_add(int64_t by) { return team_.fetch_add(index_, by); }

base::Result<int64_t> TeamNumber::load() { return team_.load(index_); }

base::Result<void> TeamNumber::store(int64_t value) {
  team_.store(index_, value);
  return {};
}

base::Result<std::shared_ptr<NumberWindow>> NumberWindow::make(MPI_Comm communicator, int numbers) {
  std::shared_ptr<NumberWindow> made(new NumberWindow);
  int rank = 0;
  PMPI_Comm_rank(communicator, &rank);
  const MPI_Aint bytes = rank == 0 ? static_cast<MPI_Aint>(sizeof(int64_t)) * numbers : 0;
  if (PMPI_Win_allocate(bytes, sizeof(int64_t), MPI_INFO_NULL, communicator, &made->memory_,
                        &made->window_) != MPI_SUCCESS) {
    return fault(MPI_ERR_IO, "make the window of the numbers that ranks share");
  }
  PMPI_Win_set_errhandler(made->window_, MPI_ERRORS_RETURN);
  PMPI_Win_lock_all(MPI_MODE_NOCHECK, made->window_);
  for (int i = 0; rank == 0 && i < numbers; ++i) {
    TESSERA_TRY([[maybe_unused]] const int64_t before, made->apply(i, 0, MPI_REPLACE));
  }
  PMPI_Barrier(communicator);
  return made;
}

NumberWindow::~NumberWindow() {
  if (window_ == MPI_WIN_NULL) return;
  PMPI_Win_unlock_all(window_);
  PMPI_Win_free(&window_);
}

base::Result<int64_t> NumberWindow::apply(int index, int64_t value, MPI_Op operation) {
  int64_t before = 0;
  const bool done = PMPI_Fetch_and_op(&value, &before, MPI_INT64_T, 0, index, operation, window_) ==
                        MPI_SUCCESS &&
                    PMPI_Win_flush(0, window_) == MPI_SUCCESS;
  if (!done) return fault(MPI_ERR_IO, "reach a number that ranks share, on the first rank");
  return before;
}

base::Result<int64_t> WindowNumber::fetch_add(int64_t by) {
  return window_->apply(index_, by, MPI_SUM);
}

base::Result<void> WindowNumber::store(int64_t value) {
  TESSERA_TRY([[maybe_unused]] const int64_t before, window_->apply(index_, value, MPI_REPLACE));
  return {};
}

}  // namespace tessera::mpiio
