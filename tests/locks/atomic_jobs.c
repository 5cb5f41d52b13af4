/* One of several jobs that use a file at the same time in atomic mode: atomic_jobs FILE JOB ROUNDS
 * [world|self|dense|private|pauses]. Every rank writes the same interleaved runs, each time with a
 * value of its own, and reads them back: all values read must be equal, whoever wrote them. With
 * "self" each rank opens the file by itself; with "dense" it also writes what lies between the
 * runs, as one run; with "private" each has runs of its own; with "pauses" nothing is asked for a
 * while after the first round. With 0 rounds it goes on until there is a file FILE.stop. Prints
 * "running" when the first round is over, and the reads that were not whole; the exit code is 1 if
 * there were any. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { kRuns = 400, kInts = 3, kStride = 7, kCount = kRuns * kInts, kSpan = kRuns * kStride };

static void must(int code, const char* what) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(code, text, &length);
  fprintf(stderr, "%s: %.*s\n", what, length, text);
  MPI_Abort(MPI_COMM_WORLD, 2);
}

/* Of what lies between the runs nobody writes a part. */
static int is_whole(const int* data, int dense) {
  for (int run = 0; run < kRuns; ++run) {
    const int* at = data + run * (dense ? kStride : kInts);
    for (int i = 0; i < kInts; ++i) {
      if (at[i] != data[0]) return 0;
    }
    for (int i = kInts; dense && i < kStride; ++i) {
      if (at[i] != data[kInts]) return 0;
    }
  }
  return 1;
}

static int is_over(const char* path, int round, int rounds) {
  if (rounds > 0) return round == rounds;
  static char stop[4096];
  snprintf(stop, sizeof stop, "%s.stop", path);
  int over = access(stop, F_OK) == 0;
  MPI_Bcast(&over, 1, MPI_INT, 0, MPI_COMM_WORLD);
  return over;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc < 4) MPI_Abort(MPI_COMM_WORLD, 2);
  const int job = atoi(argv[2]), rounds = atoi(argv[3]);
  const char* kind = argc > 4 ? argv[4] : "world";
  const int alone = strcmp(kind, "self") == 0, dense = strcmp(kind, "dense") == 0;
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_File file;
  must(MPI_File_open(alone ? MPI_COMM_SELF : MPI_COMM_WORLD, argv[1], MPI_MODE_RDWR, MPI_INFO_NULL,
                     &file),
       "open");
  must(MPI_File_set_atomicity(file, 1), "set atomicity");
  MPI_Datatype spread;
  MPI_Type_vector(kRuns, dense ? kStride : kInts, kStride, MPI_INT, &spread);
  MPI_Type_commit(&spread);
  const int shift = strcmp(kind, "private") == 0 ? rank * kInts * (int)sizeof(int) : 0;
  must(MPI_File_set_view(file, shift, MPI_INT, spread, "native", MPI_INFO_NULL), "set view");
  static int data[kSpan], found[kSpan];
  const int count = dense ? kSpan : kCount;
  int torn = 0;
  for (int round = 0; !is_over(argv[1], round, rounds); ++round) {
    for (int i = 0; i < count; ++i) data[i] = (job * 100 + rank) * 100000 + round % 100000;
    must(MPI_File_write_at(file, 0, data, count, MPI_INT, MPI_STATUS_IGNORE), "write");
    must(MPI_File_read_at(file, 0, found, count, MPI_INT, MPI_STATUS_IGNORE), "read");
    torn += !is_whole(found, dense);
    if (round == 0 && rank == 0) puts("running");
    if (round == 0) fflush(stdout);
    if (round == 0 && strcmp(kind, "pauses") == 0) sleep(4);
  }
  MPI_Type_free(&spread);
  must(MPI_File_close(&file), "close");
  int all = 0;
  MPI_Allreduce(&torn, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("job %d: %d torn\n", job, all);
  MPI_Finalize();
  return all > 0;
}
