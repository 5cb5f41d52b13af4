// MPI_Wait, MPI_Test and their relatives: they complete background accesses on their way.
//
// Programs without a background access pay one load of a counter.
#include <algorithm>

#include "tessera/mpiio/native.hpp"
#include "tessera/mpiio/requests.hpp"

namespace tessera::mpiio {

namespace {

constexpr int64_t kPauseNs = 200'000;

using Shared = std::shared_ptr<Background>;

// The accesses behind an array of requests, as long as it; null where there is none.
std::vector<Shared> find_all(int count, const MPI_Request* requests) {
  std::vector<Shared> found(static_cast<size_t>(std::max(count, 0)));
  for (size_t i = 0; i < found.size(); ++i) found[i] = find_background(requests[i]);
  return found;
}

bool any_of(const std::vector<Shared>& found) {
  return std::any_of(found.begin(), found.end(), [](const Shared& one) { return one != nullptr; });
}

const Background* first_of(const std::vector<Shared>& found) {
  const auto one = std::find_if(found.begin(), found.end(), [](const Shared& b) { return !!b; });
  return one == found.end() ? nullptr : one->get();
}

// Raises the errors of accesses that completed; `indices` are their places, or all where it is
// null. Sets the errors of the statuses and answers MPI_ERR_IN_STATUS if there was one.
int raise_all(const std::vector<Shared>& found, const int* indices, int count, int code,
              MPI_Status* statuses) {
  bool failed = false;
  for (int i = 0; i < count; ++i) {
    const auto place = static_cast<size_t>(indices == nullptr ? i : indices[i]);
    const int error = found[place] ? raise_error(*found[place]) : MPI_SUCCESS;
    if (statuses != MPI_STATUSES_IGNORE && code == MPI_SUCCESS) statuses[i].MPI_ERROR = error;
    failed = failed || error != MPI_SUCCESS;
  }
  return failed && code == MPI_SUCCESS ? MPI_ERR_IN_STATUS : code;
}

int raise_one(const Shared& found, int code) {
  return found && code == MPI_SUCCESS ? raise_error(*found) : code;
}

}  // namespace

}  // namespace tessera::mpiio

using namespace tessera::mpiio;  // NOLINT: the functions below are the program's

extern "C" {

int MPI_Wait(MPI_Request* request, MPI_Status* status) {
  if (!any_background()) return TESSERA_NATIVE(MPI_Wait)(request, status);
  const auto found = find_background(*request);
  if (found) wait_for(*found);
  return raise_one(found, TESSERA_NATIVE(MPI_Wait)(request, status));
}

int MPI_Test(MPI_Request* request, int* flag, MPI_Status* status) {
  if (!any_background()) return TESSERA_NATIVE(MPI_Test)(request, flag, status);
  const auto found = find_background(*request);
  complete_finished();
  const int code = TESSERA_NATIVE(MPI_Test)(request, flag, status);
  return *flag != 0 ? raise_one(found, code) : code;
}

int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
  if (!any_background()) return TESSERA_NATIVE(MPI_Waitall)(count, requests, statuses);
  const auto found = find_all(count, requests);
  for (const auto& one : found) {
    if (one) wait_for(*one);
  }
  const int code = TESSERA_NATIVE(MPI_Waitall)(count, requests, statuses);
  return any_of(found) ? raise_all(found, nullptr, count, code, statuses) : code;
}

int MPI_Testall(int count, MPI_Request requests[], int* flag, MPI_Status statuses[]) {
  if (!any_background()) return TESSERA_NATIVE(MPI_Testall)(count, requests, flag, statuses);
  const auto found = find_all(count, requests);
  complete_finished();
  const int code = TESSERA_NATIVE(MPI_Testall)(count, requests, flag, statuses);
  if (*flag == 0 || !any_of(found)) return code;
  return raise_all(found, nullptr, count, code, statuses);
}

int MPI_Testany(int count, MPI_Request requests[], int* indx, int* flag, MPI_Status* status) {
  if (!any_background()) {
    return TESSERA_NATIVE(MPI_Testany)(count, requests, indx, flag, status);
  }
  const auto found = find_all(count, requests);
  complete_finished();
  const int code = TESSERA_NATIVE(MPI_Testany)(count, requests, indx, flag, status);
  if (*flag == 0 || *indx == MPI_UNDEFINED) return code;
  return raise_one(found[static_cast<size_t>(*indx)], code);
}

int MPI_Waitany(int count, MPI_Request requests[], int* indx, MPI_Status* status) {
  if (!any_background()) return TESSERA_NATIVE(MPI_Waitany)(count, requests, indx, status);
  const auto found = find_all(count, requests);
  if (!any_of(found)) return TESSERA_NATIVE(MPI_Waitany)(count, requests, indx, status);
  for (;;) {
    int flag = 0;
    const int code = MPI_Testany(count, requests, indx, &flag, status);
    if (flag != 0 || code != MPI_SUCCESS) return code;
    wait_briefly(*first_of(found), kPauseNs);
  }
}

int MPI_Testsome(int count, MPI_Request requests[], int* outcount, int indices[],
                 MPI_Status statuses[]) {
  if (!any_background()) {
    return TESSERA_NATIVE(MPI_Testsome)(count, requests, outcount, indices, statuses);
  }
  const auto found = find_all(count, requests);
  complete_finished();
  const int code = TESSERA_NATIVE(MPI_Testsome)(count, requests, outcount, indices, statuses);
  if (*outcount == MPI_UNDEFINED || *outcount == 0 || !any_of(found)) return code;
  return raise_all(found, indices, *outcount, code, statuses);
}

int MPI_Waitsome(int count, MPI_Request requests[], int* outcount, int indices[],
                 MPI_Status statuses[]) {
  if (!any_background()) {
    return TESSERA_NATIVE(MPI_Waitsome)(count, requests, outcount, indices, statuses);
  }
  const auto found = find_all(count, requests);
  if (!any_of(found)) {
    return TESSERA_NATIVE(MPI_Waitsome)(count, requests, outcount, indices, statuses);
  }
  for (;;) {
    const int code = MPI_Testsome(count, requests, outcount, indices, statuses);
    if (*outcount != 0 || code != MPI_SUCCESS) return code;
    wait_briefly(*first_of(found), kPauseNs);
  }
}

int MPI_Request_get_status(MPI_Request request, int* flag, MPI_Status* status) {
  if (any_background()) complete_finished();
  return TESSERA_NATIVE(MPI_Request_get_status)(request, flag, status);
}

}  // extern "C"

TESSERA_ALSO_PMPI(MPI_Wait);
TESSERA_ALSO_PMPI(MPI_Test);
TESSERA_ALSO_PMPI(MPI_Waitall);
TESSERA_ALSO_PMPI(MPI_Testall);
TESSERA_ALSO_PMPI(MPI_Testany);
TESSERA_ALSO_PMPI(MPI_Waitany);
TESSERA_ALSO_PMPI(MPI_Testsome);
TESSERA_ALSO_PMPI(MPI_Waitsome);
TESSERA_ALSO_PMPI(MPI_Request_get_status);
