/* Views with gaps and views without them, in turn: alternating_views FILE ROUNDS world|self. In
 * each round all ranks write interleaved runs in atomic mode, and then rank 0 reads all of them
 * through a contiguous view: of the same open file ("world"), or of one that it has opened by
 * itself ("self"). What it reads must be of this round. Prints "wrong N, S s": bytes that were not,
 * and how long all rounds took; the exit code is 1 if there were any. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kRuns = 64, kRunBytes = 100 };

static void must(int code, const char* what) {
  if (code == MPI_SUCCESS) return;
  fprintf(stderr, "%s failed\n", what);
  MPI_Abort(MPI_COMM_WORLD, 2);
}

static MPI_File open_atomic(MPI_Comm comm, const char* path) {
  MPI_File file;
  must(MPI_File_open(comm, path, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &file), "open");
  must(MPI_File_set_atomicity(file, 1), "set atomicity");
  return file;
}

static void set_view(MPI_File file, MPI_Offset begin, MPI_Datatype type) {
  must(MPI_File_set_view(file, begin, MPI_BYTE, type, "native", MPI_INFO_NULL), "set view");
}

static long wrong_bytes(MPI_File file, int bytes, char value) {
  char* found = malloc((size_t)bytes);
  memset(found, ~value, (size_t)bytes);
  must(MPI_File_read_at(file, 0, found, bytes, MPI_BYTE, MPI_STATUS_IGNORE), "read");
  long wrong = 0;
  for (int i = 0; i < bytes; ++i) wrong += found[i] != value;
  free(found);
  return wrong;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc < 4) MPI_Abort(MPI_COMM_WORLD, 2);
  const int rounds = atoi(argv[2]), alone = strcmp(argv[3], "self") == 0;
  int rank = 0, ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_File own = MPI_FILE_NULL;
  if (alone && rank == 0) own = open_atomic(MPI_COMM_SELF, argv[1]);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_File file = open_atomic(MPI_COMM_WORLD, argv[1]);
  MPI_Datatype spread;
  MPI_Type_vector(kRuns, kRunBytes, kRunBytes * ranks, MPI_BYTE, &spread);
  MPI_Type_commit(&spread);
  const MPI_Offset begin = (MPI_Offset)rank * kRunBytes;
  static char data[kRuns * kRunBytes];
  long wrong = 0;
  set_view(file, begin, spread);
  const double start = MPI_Wtime();
  for (int round = 0; round < rounds; ++round) {
    memset(data, 1 + round % 100, sizeof data);
    if (!alone) set_view(file, begin, spread);
    must(MPI_File_write_at(file, 0, data, sizeof data, MPI_BYTE, MPI_STATUS_IGNORE), "write");
    MPI_Barrier(MPI_COMM_WORLD);
    if (!alone) set_view(file, 0, MPI_BYTE);
    const int bytes = (int)sizeof data * ranks;
    if (rank == 0) wrong += wrong_bytes(alone ? own : file, bytes, data[0]);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  const double took = MPI_Wtime() - start;
  MPI_Type_free(&spread);
  must(MPI_File_close(&file), "close");
  if (own != MPI_FILE_NULL) must(MPI_File_close(&own), "close");
  if (rank == 0) printf("wrong %ld, %.3f s\n", wrong, took);
  MPI_Finalize();
  return rank == 0 && wrong > 0;
}
