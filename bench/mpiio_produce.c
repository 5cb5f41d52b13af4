/* A producer: computes and writes frame after frame of an object file, and syncs each
 * (mpiio_peer.h). */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/memory.h"
#include "bench/mpiio_peer.h"

enum { kSideMax = 32768, kFramesMax = 1000 };

/* This rank's rows of a frame; every frame has other bytes. */
struct Part {
  MPI_Offset begin; /* in a frame */
  int bytes;
  unsigned char* memory;
};

static void change(const struct Part* part, int64_t frame) {
  for (int i = 0; i < part->bytes; i += 64) {
    const int64_t word = (part->begin + i) * 31 + frame * 1000003;
    memcpy(part->memory + i, &word, part->bytes - i < 8 ? (size_t)(part->bytes - i) : 8);
  }
}

static int write_frames(MPI_File file, const struct Part* part, const struct Production* wanted,
                        double* compute_ns) {
  const MPI_Offset frame_bytes = (MPI_Offset)wanted->side * wanted->side;
  int code = MPI_SUCCESS;
  for (int64_t frame = 0; frame < wanted->frames && code == MPI_SUCCESS; ++frame) {
    *compute_ns += compute(wanted->steps);
    change(part, frame);
    code = MPI_File_write_at_all(file, frame * frame_bytes + part->begin, part->memory, part->bytes,
                                 MPI_BYTE, MPI_STATUS_IGNORE);
    if (code == MPI_SUCCESS) code = MPI_File_sync(file);
  }
  return code;
}

static const char* run_production(const char* path, const struct Part* part,
                                  const struct Production* wanted, double times[2]) {
  MPI_File file;
  double mine[3] = {0, 0, 0}, all[3];
  MPI_Barrier(MPI_COMM_WORLD);
  mine[0] = -now_ns();
  int code =
      MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
  const char* error = agreed(mpi_error_text(code));
  if (error != NULL) return error;
  const char* failed = mpi_error_text(write_frames(file, part, wanted, &mine[2]));
  code = MPI_File_close(&file);
  mine[1] = now_ns();
  MPI_Allreduce(mine, all, 3, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  times[0] = all[0] + all[1];
  times[1] = all[2];
  return agreed(failed != NULL ? failed : mpi_error_text(code));
}

const char* produce(struct Session* session, const struct Production* wanted, double times[2]) {
  if (wanted->side < session->ranks || wanted->side > kSideMax || wanted->frames < 1 ||
      wanted->frames > kFramesMax || wanted->steps < 0)
    return "production out of range";
  const int64_t first = wanted->side * session->rank / session->ranks;
  const int64_t end = wanted->side * (session->rank + 1) / session->ranks;
  struct Part part = {first * wanted->side, (int)((end - first) * wanted->side), NULL};
  part.memory = bench_allocate((size_t)part.bytes);
  const char* error = agreed(part.memory == NULL ? "no memory" : NULL);
  char path[512];
  snprintf(path, sizeof path, "obj:%s/produced", session->folder);
  if (error == NULL) {
    memset(part.memory, session->rank + 1, (size_t)part.bytes);
    if (session->rank == 0) unlink(strchr(path, ':') + 1);
    error = run_production(path, &part, wanted, times);
  }
  free(part.memory);
  return error;
}
