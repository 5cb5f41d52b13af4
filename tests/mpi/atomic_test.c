/* Atomic mode, and what other ranks see after sync. */
#include "suite.h"

enum { kBlocks = 100, kRounds = 20 };

static void atomicity_flag(void) {
  MPI_File file = check_create(check_path("dat"));
  int flag = -1;
  CHECK_OK(MPI_File_get_atomicity(file, &flag));
  CHECK_EQ(flag, 0);
  CHECK_OK(MPI_File_set_atomicity(file, 1));
  CHECK_OK(MPI_File_get_atomicity(file, &flag));
  CHECK(flag != 0);
  /* Atomic mode needs no sync: written before the barrier, read after it. */
  for (int round = 0; round < kRounds; ++round) {
    int value = 100 * round + check_rank, found = -1, next = (check_rank + 1) % check_size;
    CHECK_OK(MPI_File_write_at(file, 4 * check_rank, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
    check_barrier();
    CHECK_OK(MPI_File_read_at(file, 4 * next, &found, 1, MPI_INT, MPI_STATUS_IGNORE));
    CHECK_EQ(found, 100 * round + next);
    check_barrier();
  }
  CHECK_OK(MPI_File_set_atomicity(file, 0));
  CHECK_OK(MPI_File_get_atomicity(file, &flag));
  CHECK_EQ(flag, 0);
  CHECK_OK(MPI_File_close(&file));
}

/* All ints of a span have one value. */
static bool uniform(const int* data, int count) {
  for (int i = 1; i < count; ++i) {
    if (data[i] != data[0]) return false;
  }
  return true;
}

/* All ranks write the same runs, each with its own value; every reader sees one of them. */
static void atomic_overlap(void) {
  MPI_File file = check_create(check_path("dat"));
  CHECK_OK(MPI_File_set_atomicity(file, 1));
  MPI_Datatype spread;
  MPI_Type_vector(kBlocks, 3, 7, MPI_INT, &spread);
  MPI_Type_commit(&spread);
  CHECK_OK(MPI_File_set_view(file, 0, MPI_INT, spread, "native", MPI_INFO_NULL));
  int data[3 * kBlocks], found[3 * kBlocks];
  MPI_Status status;
  CHECK_OK(MPI_File_set_size(file, 4 * (7 * (kBlocks - 1) + 3)));
  check_barrier();
  for (int round = 0; round < kRounds; ++round) {
    for (int i = 0; i < 3 * kBlocks; ++i) data[i] = check_rank + 1;
    CHECK_OK(MPI_File_write_at(file, 0, data, 3 * kBlocks, MPI_INT, &status));
    CHECK_COUNT(status, MPI_INT, 3 * kBlocks);
    CHECK_OK(MPI_File_read_at(file, 0, found, 3 * kBlocks, MPI_INT, &status));
    CHECK_COUNT(status, MPI_INT, 3 * kBlocks);
    CHECK(uniform(found, 3 * kBlocks));
  }
  check_barrier();
  CHECK_OK(MPI_File_write_at_all(file, 0, data, 3 * kBlocks, MPI_INT, &status));
  CHECK_OK(MPI_File_read_at_all(file, 0, found, 3 * kBlocks, MPI_INT, &status));
  CHECK(uniform(found, 3 * kBlocks));
  /* Which rank came last is open; the file that is left is not. */
  check_barrier();
  for (int i = 0; i < 3 * kBlocks; ++i) data[i] = i;
  if (check_rank == 0) CHECK_OK(MPI_File_write_at(file, 0, data, 3 * kBlocks, MPI_INT, &status));
  MPI_Type_free(&spread);
  CHECK_OK(MPI_File_close(&file));
}

/* Posted operations keep atomic mode too. */
static void atomic_posted(void) {
  MPI_File file = check_create(check_path("dat"));
  CHECK_OK(MPI_File_set_atomicity(file, 1));
  static int data[5000], found[5000];
  MPI_Request request;
  for (int round = 0; round < kRounds; ++round) {
    for (int i = 0; i < 5000; ++i) data[i] = check_rank + 1;
    CHECK_OK(MPI_File_iwrite_at(file, 0, data, 5000, MPI_INT, &request));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_File_iread_at(file, 0, found, 5000, MPI_INT, &request));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK(uniform(found, 5000));
  }
  check_barrier();
  for (int i = 0; i < 5000; ++i) data[i] = i;
  if (check_rank == 0) {
    CHECK_OK(MPI_File_write_at(file, 0, data, 5000, MPI_INT, MPI_STATUS_IGNORE));
  }
  CHECK_OK(MPI_File_close(&file));
}

/* Sync, barrier, sync: then all see what was written. */
static void sync_barrier_sync(void) {
  MPI_File file = check_create(check_path("dat"));
  int found[64];
  for (int round = 1; round <= 5; ++round) {
    int value = 1000 * round + check_rank;
    CHECK_OK(MPI_File_write_at(file, 4 * check_rank, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_File_sync(file));
    check_barrier();
    CHECK_OK(MPI_File_sync(file));
    CHECK_OK(MPI_File_read_at(file, 0, found, check_size, MPI_INT, MPI_STATUS_IGNORE));
    for (int r = 0; r < check_size; ++r) CHECK_EQ(found[r], 1000 * round + r);
    check_barrier();
  }
  CHECK_OK(MPI_File_close(&file));
}

/* Neighbours in one block of the file, written with gaps at the same time: nobody's bytes are put
 * back to what they were. */
static void neighbours_survive(void) {
  MPI_File file = check_create(check_path("dat"));
  MPI_Datatype column;
  MPI_Type_create_resized(MPI_INT, 0, 4 * (MPI_Aint)check_size, &column);
  MPI_Type_commit(&column);
  CHECK_OK(MPI_File_set_view(file, 4 * check_rank, MPI_INT, column, "native", MPI_INFO_NULL));
  int data[500], found[500];
  for (int round = 0; round < kRounds; ++round) {
    for (int i = 0; i < 500; ++i) data[i] = 100000 * round + 1000 * check_rank + i;
    CHECK_OK(MPI_File_write_at(file, 0, data, 500, MPI_INT, MPI_STATUS_IGNORE));
    check_barrier();
    CHECK_OK(MPI_File_read_at(file, 0, found, 500, MPI_INT, MPI_STATUS_IGNORE));
    CHECK_BYTES(found, data, sizeof data);
    check_barrier();
  }
  MPI_Type_free(&column);
  CHECK_OK(MPI_File_close(&file));
}

const struct Subtest atomic_subtests[] = {
    {"atomicity_flag", atomicity_flag, CHECK_ALWAYS},
    {"atomic_overlap", atomic_overlap, CHECK_ALWAYS},
    {"atomic_posted", atomic_posted, CHECK_ALWAYS},
    {"sync_barrier_sync", sync_barrier_sync, CHECK_ALWAYS},
    {"neighbours_survive", neighbours_survive, CHECK_ALWAYS},
    {0},
};
