/* Two ranks that write the same bytes of an object file in atomic mode: late_write FILE GO. Rank 1
 * says "writing" and writes; while it is in the middle of that, somebody stops it and makes the
 * file GO, upon which rank 0 writes and says "next". When rank 1 goes on it prints the class and
 * the text of what came of its write. Then both look at the bytes, the first rank also after a sync
 * and after the file was opened again:
 *
 *   0  1  2  3  4  5      numbers of 4 bytes; the first write has ones everywhere
 *   t     t     t         rank 1
 *   h     h               rank 0 */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { kNumbers = 6, kFirst = 1, kTwo = 2, kHundred = 100 };

static int rank_;

static void need(int code, const char* call) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  fprintf(stderr, "%s: %s\n", call, text);
  MPI_Abort(MPI_COMM_WORLD, 1);
}
#define NEED(call) need((call), #call)

static void set_view(MPI_File file, int count) {
  MPI_Datatype spread;
  MPI_Type_vector(count, 1, 2, MPI_INT, &spread);
  MPI_Type_commit(&spread);
  NEED(MPI_File_set_view(file, 0, MPI_INT, spread, "native", MPI_INFO_NULL));
  MPI_Type_free(&spread);
}

static void print_numbers(const char* when, MPI_File file) {
  int numbers[kNumbers] = {0};
  NEED(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
  NEED(MPI_File_read_at_all(file, 0, numbers, kNumbers, MPI_INT, MPI_STATUS_IGNORE));
  /* In one piece: launchers mix what ranks print at a time. */
  char line[128];
  int length = snprintf(line, sizeof(line), "%s, rank %d:", when, rank_);
  for (int i = 0; i < kNumbers; ++i) {
    length += snprintf(line + length, sizeof(line) - (size_t)length, " %d", numbers[i]);
  }
  puts(line);
  fflush(stdout);
}

static void write_late(MPI_File file) {
  int data[] = {kTwo, kTwo, kTwo};
  printf("writing\n");
  fflush(stdout);
  const int code = MPI_File_write_at(file, 0, data, 3, MPI_INT, MPI_STATUS_IGNORE);
  int error_class = 0, length = 0;
  char text[MPI_MAX_ERROR_STRING] = "";
  MPI_Error_class(code, &error_class);
  MPI_Error_string(code, text, &length);
  printf("class %s: %.*s\n", error_class > MPI_ERR_LASTCODE ? "of its own" : "of MPI", length,
         text);
}

static void write_next(MPI_File file, const char* go) {
  const struct timespec nap = {0, 10000000};
  int data[] = {kHundred, kHundred};
  while (access(go, F_OK) != 0) nanosleep(&nap, NULL);
  NEED(MPI_File_write_at(file, 0, data, 2, MPI_INT, MPI_STATUS_IGNORE));
  printf("next\n");
  fflush(stdout);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  if (argc < 3) MPI_Abort(MPI_COMM_WORLD, 2);
  const int first[kNumbers] = {kFirst, kFirst, kFirst, kFirst, kFirst, kFirst};
  MPI_File file;
  NEED(MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL,
                     &file));
  if (rank_ == 0) NEED(MPI_File_write_at(file, 0, first, kNumbers, MPI_INT, MPI_STATUS_IGNORE));
  NEED(MPI_File_sync(file));
  set_view(file, rank_ == 0 ? 2 : 3);
  NEED(MPI_File_set_atomicity(file, 1));
  if (rank_ == 0) {
    write_next(file, argv[2]);
  } else {
    write_late(file);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  print_numbers("seen", file);
  NEED(MPI_File_sync(file));
  NEED(MPI_File_close(&file));
  NEED(MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
  print_numbers("committed", file);
  NEED(MPI_File_close(&file));
  MPI_Finalize();
  return 0;
}
