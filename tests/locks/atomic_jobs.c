/* One of several jobs that use a file at the same time in atomic mode: atomic_jobs FILE JOB ROUNDS
 * [self]. Every rank writes the same interleaved runs, each time with a value of its own, and reads
 * them back: all values read must be equal, whoever wrote them. With "self" each rank opens the
 * file by itself. Prints the reads that were not whole; the exit code is 1 if there were any. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kRuns = 400, kInts = 3, kStride = 7, kCount = kRuns * kInts };

static void must(int code, const char* what) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(code, text, &length);
  fprintf(stderr, "%s: %.*s\n", what, length, text);
  MPI_Abort(MPI_COMM_WORLD, 2);
}

static int is_whole(const int* data) {
  for (int i = 1; i < kCount; ++i) {
    if (data[i] != data[0]) return 0;
  }
  return 1;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc < 4) MPI_Abort(MPI_COMM_WORLD, 2);
  const int job = atoi(argv[2]), rounds = atoi(argv[3]);
  const int alone = argc > 4 && strcmp(argv[4], "self") == 0;
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_File file;
  must(MPI_File_open(alone ? MPI_COMM_SELF : MPI_COMM_WORLD, argv[1], MPI_MODE_RDWR, MPI_INFO_NULL,
                     &file),
       "open");
  must(MPI_File_set_atomicity(file, 1), "set atomicity");
  MPI_Datatype spread;
  MPI_Type_vector(kRuns, kInts, kStride, MPI_INT, &spread);
  MPI_Type_commit(&spread);
  must(MPI_File_set_view(file, 0, MPI_INT, spread, "native", MPI_INFO_NULL), "set view");
  static int data[kCount], found[kCount];
  int torn = 0;
  for (int round = 0; round < rounds; ++round) {
    for (int i = 0; i < kCount; ++i) data[i] = (job * 100 + rank) * 100000 + round;
    must(MPI_File_write_at(file, 0, data, kCount, MPI_INT, MPI_STATUS_IGNORE), "write");
    must(MPI_File_read_at(file, 0, found, kCount, MPI_INT, MPI_STATUS_IGNORE), "read");
    torn += !is_whole(found);
  }
  MPI_Type_free(&spread);
  must(MPI_File_close(&file), "close");
  int all = 0;
  MPI_Allreduce(&torn, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("job %d: %d torn\n", job, all);
  MPI_Finalize();
  return all > 0;
}
