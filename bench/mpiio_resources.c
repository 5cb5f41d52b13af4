/* What an operation costs besides time: memory, and the processor while it is under way. */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/memory.h"
#include "bench/mpiio_peer.h"

/* --- memory ------------------------------------------------------------------------------------
 */

struct Resident {
  int64_t now_bytes, peak_bytes, shared_bytes;
};

static struct Resident resident(void) {
  struct Resident found = {0, 0, 0};
  FILE* status = fopen("/proc/self/status", "r");
  if (status == NULL) return found;
  char line[256];
  long long kib;
  while (fgets(line, sizeof line, status) != NULL) {
    if (sscanf(line, "VmRSS: %lld", &kib) == 1) found.now_bytes = kib << 10;
    if (sscanf(line, "VmHWM: %lld", &kib) == 1) found.peak_bytes = kib << 10;
    if (sscanf(line, "RssShmem: %lld", &kib) == 1) found.shared_bytes = kib << 10;
  }
  fclose(status);
  return found;
}

/* Makes VmHWM begin anew at VmRSS. */
static const char* reset_peak(void) {
  const int fd = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);
  if (fd < 0) return "cannot reset the peak of resident memory";
  const int good = write(fd, "5", 1) == 1;
  close(fd);
  return good ? NULL : "cannot reset the peak of resident memory";
}

static int64_t number_in(MPI_Info info, const char* key) {
  char value[MPI_MAX_INFO_VAL + 1];
  int found = 0;
  MPI_Info_get(info, key, MPI_MAX_INFO_VAL, value, &found);
  return found ? strtoll(value, NULL, 10) : 0;
}

static void read_hints(MPI_File file, struct MemoryUse* use) {
  MPI_Info info;
  if (MPI_File_get_info(file, &info) != MPI_SUCCESS) return;
  use->buffer_bytes = number_in(info, "cb_buffer_size");
  use->aggregators = number_in(info, "cb_nodes");
  MPI_Info_free(&info);
}

/* Memory that the ranks share is resident in each of them and exists once: what is still mapped
 * when the operation ends counts 1/ranks in each. Shared memory that was mapped and went again
 * counts whole in each, so this errs on the side of more. */
static int64_t growth(struct Resident before, struct Resident after, int ranks) {
  const int64_t shared = after.shared_bytes - before.shared_bytes;
  const int64_t whole = after.peak_bytes - before.now_bytes;
  return shared > 0 ? whole - shared + shared / ranks : whole;
}

const char* measure_memory(struct Session* session, const struct Request* request,
                           struct MemoryUse* use) {
  memset(use, 0, sizeof *use);
  const char* error = agreed(reset_peak());
  if (error != NULL) return error;
  const struct Resident before = resident();
  MPI_File file;
  error = agreed(mpi_error_text(open_view(session, request, &file)));
  if (error == NULL) error = agreed(mpi_error_text(move_once(session, request, file)));
  if (error != NULL) return error;
  const struct Resident after = resident();
  read_hints(file, use);
  const int64_t mine = growth(before, after, session->ranks);
  MPI_Allreduce(&mine, &use->growth_bytes, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
  return agreed(mpi_error_text(MPI_File_close(&file)));
}

/* --- overlap -----------------------------------------------------------------------------------
 */

/* Confines every thread of this process, those of the MPI and of a preloaded library included. */
static const char* confine(int cores) {
  static cpu_set_t all;
  static int known = 0;
  if (!known) sched_getaffinity(0, sizeof all, &all);
  known = 1;
  if (CPU_COUNT(&all) < cores) return "this process may not use that many cores";
  cpu_set_t some;
  CPU_ZERO(&some);
  for (int cpu = 0; CPU_COUNT(&some) < cores; ++cpu) {
    if (CPU_ISSET(cpu, &all)) CPU_SET(cpu, &some);
  }
  DIR* tasks = opendir("/proc/self/task");
  if (tasks == NULL) return "cannot list the threads";
  for (struct dirent* task; (task = readdir(tasks)) != NULL;) {
    const int tid = atoi(task->d_name);
    if (tid > 0) sched_setaffinity(tid, sizeof some, &some);
  }
  closedir(tasks);
  return NULL;
}

double compute(int64_t steps) {
  static volatile uint64_t sink;
  const double start = now_ns();
  uint64_t value = sink + 1;
  for (int64_t i = 0; i < steps; ++i) value = value * 6364136223846793005u + 1442695040888963407u;
  sink = value;
  return now_ns() - start;
}

static const char* write_beside(MPI_File file, unsigned char* buffer, int64_t size, int64_t steps,
                                double* ns) {
  MPI_Request pending;
  MPI_Status status;
  const double start = now_ns();
  int code = MPI_File_iwrite_at(file, 0, buffer, (int)size, MPI_BYTE, &pending);
  if (steps > 0) compute(steps);
  if (code == MPI_SUCCESS) code = MPI_Wait(&pending, &status);
  *ns = now_ns() - start;
  int count = 0;
  if (code == MPI_SUCCESS) MPI_Get_count(&status, MPI_BYTE, &count);
  if (code == MPI_SUCCESS && count != size) return "the nonblocking write was short";
  return mpi_error_text(code);
}

static const char* overlap_on(MPI_File file, unsigned char* buffer, int64_t size,
                              struct OverlapTimes* times) {
  const int64_t trial = 50 * 1000 * 1000;
  double warm_ns;
  const char* error = write_beside(file, buffer, size, 0, &warm_ns);
  if (error == NULL) error = write_beside(file, buffer, size, 0, &times->io_ns);
  if (error != NULL) return error;
  const double step_ns = compute(trial) / (double)trial;
  const int64_t steps = (int64_t)(times->io_ns / step_ns) + 1;
  times->compute_ns = compute(steps);
  return write_beside(file, buffer, size, steps, &times->both_ns);
}

const char* measure_overlap(struct Session* session, int64_t size_bytes, int cores,
                            struct OverlapTimes* times) {
  if (session->ranks != 1 || size_bytes < 1 || size_bytes > INT32_MAX)
    return "overlap is measured with one rank and less than 2 GiB";
  const char* error = confine(cores);
  if (error != NULL) return error;
  unsigned char* buffer = bench_allocate((size_t)size_bytes);
  if (buffer == NULL) return "no memory";
  char path[512];
  snprintf(path, sizeof path, "%s/overlap", session->folder);
  MPI_File file;
  error = mpi_error_text(
      MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &file));
  if (error == NULL) {
    error = overlap_on(file, buffer, size_bytes, times);
    MPI_File_close(&file);
  }
  unlink(path);
  free(buffer);
  return error;
}
