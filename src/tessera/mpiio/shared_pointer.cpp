#include "tessera/mpiio/shared_pointer.hpp"

#include "tessera/mpiio/fault.hpp"
#include "tessera/port/process_team.hpp"

namespace tessera::mpiio {

base::Result<int64_t> TeamPointer::fetch_add(int64_t by) { return team_.fetch_add(0, by); }

base::Result<int64_t> TeamPointer::load() { return team_.load(0); }

base::Result<void> TeamPointer::store(int64_t value) {
  team_.store(0, value);
  return {};
}

base::Result<std::unique_ptr<WindowPointer>> WindowPointer::make(MPI_Comm communicator) {
  std::unique_ptr<WindowPointer> pointer(new WindowPointer);
  int rank = 0;
  PMPI_Comm_rank(communicator, &rank);
  const MPI_Aint bytes = rank == 0 ? sizeof(int64_t) : 0;
  if (PMPI_Win_allocate(bytes, sizeof(int64_t), MPI_INFO_NULL, communicator, &pointer->memory_,
                        &pointer->window_) != MPI_SUCCESS) {
    return fault(MPI_ERR_IO, "make the window of the shared file pointer");
  }
  PMPI_Win_set_errhandler(pointer->window_, MPI_ERRORS_RETURN);
  PMPI_Win_lock_all(MPI_MODE_NOCHECK, pointer->window_);
  if (rank == 0) TESSERA_TRY_VOID(pointer->store(0));
  PMPI_Barrier(communicator);
  return pointer;
}

WindowPointer::~WindowPointer() {
  if (window_ == MPI_WIN_NULL) return;
  PMPI_Win_unlock_all(window_);
  PMPI_Win_free(&window_);
}

base::Result<int64_t> WindowPointer::fetch_add(int64_t by) { return apply(by, MPI_SUM); }

base::Result<void> WindowPointer::store(int64_t value) {
  TESSERA_TRY([[maybe_unused]] const int64_t before, apply(value, MPI_REPLACE));
  return {};
}

base::Result<int64_t> WindowPointer::apply(int64_t value, MPI_Op operation) {
  int64_t before = 0;
  const bool done =
      PMPI_Fetch_and_op(&value, &before, MPI_INT64_T, 0, 0, operation, window_) == MPI_SUCCESS &&
      PMPI_Win_flush(0, window_) == MPI_SUCCESS;
  if (!done) return fault(MPI_ERR_IO, "reach the shared file pointer on the first rank");
  return before;
}

}  // namespace tessera::mpiio
