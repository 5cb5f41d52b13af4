// Requests: accesses that go on while the program computes.
//
// A background access is executed by a worker thread, which makes no call of MPI, whatever level of
// threads the program asked for. To the program it is a generalized request. Completing one needs a
// call of MPI, which the program's own waits and tests make: they are interposed, look first which
// jobs have finished, complete those, and then go on in the MPI.
//   (R1) A job has all it needs when it is submitted and touches nothing of the file that changes.
//   (R2) A request is completed once, after its job is done, by a thread of the program.
//   (R3) Nonblocking collective accesses meet nobody: each rank moves its own bytes, so that no
//        order of calls can block (MPI allows any).
// Errors of a background access are raised on the file when the request is waited for.
// Thread safety: everything, if MPI was initialised for several threads.
#pragma once

#include <mpi.h>

#include <memory>
#include <vector>

#include "tessera/mpiio/access.hpp"

namespace tessera::mpiio {

// One access in the background.
class Background;

// Starts an access; the code for the program. The request is MPI_REQUEST_NULL after an error.
int start_access(OpenFile& file, const Access& asked, const Buffer& buffer, MPI_Request* request);

// Returns when no job works on the file any more.
void wait_for_jobs(OpenFile& file);

// Whether there may be any background access; if not, waits and tests are the MPI's business alone.
[[nodiscard]] bool any_background();

// The access behind a request; null for other requests.
[[nodiscard]] std::shared_ptr<Background> find_background(MPI_Request request);

// Completes the requests of all jobs that are done.
void complete_finished();
// Waits for the job of an access, and completes what is done.
void wait_for(const Background& background);
// Waits for the job at most so long.
void wait_briefly(const Background& background, int64_t nanoseconds);

// Raises the error of an access whose request the program has seen complete; MPI_SUCCESS if there
// is none.
int raise_error(const Background& background);

// Ends the worker after all jobs, and completes what the program never waited for. For
// MPI_Finalize.
void end_requests();

}  // namespace tessera::mpiio
