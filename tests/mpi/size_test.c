/* Sizes: set, preallocate, get; what lies in new and in never written parts. */
#include "suite.h"

/* Called by all ranks; none changes the size before all have seen it. */
static long long size_of(MPI_File file) {
  MPI_Offset size = -1;
  CHECK_OK(MPI_File_get_size(file, &size));
  check_barrier();
  return size;
}

static void set_size(void) {
  const char* path = check_path("dat");
  check_make_file(path, "0123456789", 10);
  MPI_File file = check_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR);
  CHECK_EQ(size_of(file), 10);
  CHECK_OK(MPI_File_seek(file, 7, MPI_SEEK_SET));
  CHECK_OK(MPI_File_set_size(file, 4));
  CHECK_EQ(size_of(file), 4);
  CHECK_OK(MPI_File_set_size(file, 12));
  CHECK_EQ(size_of(file), 12);
  MPI_Offset position = -1;
  CHECK_OK(MPI_File_get_position(file, &position));
  CHECK_EQ(position, 7);
  char found[16] = "################";
  MPI_Status status;
  CHECK_OK(MPI_File_read_at_all(file, 0, found, 16, MPI_CHAR, &status));
  CHECK_COUNT(status, MPI_CHAR, 12);
  CHECK_BYTES(found, "0123\0\0\0\0\0\0\0\0", 12);
  CHECK_ANY_ERROR(MPI_File_set_size(file, -1));
  CHECK_EQ(size_of(file), 12);
  CHECK_OK(MPI_File_close(&file));
}

static void preallocate(void) {
  const char* path = check_path("dat");
  check_make_file(path, "0123456789", 10);
  MPI_File file = check_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR);
  CHECK_OK(MPI_File_preallocate(file, 5));
  CHECK_EQ(size_of(file), 10);
  CHECK_OK(MPI_File_preallocate(file, 100000));
  CHECK_EQ(size_of(file), 100000);
  CHECK_OK(MPI_File_preallocate(file, 0));
  CHECK_EQ(size_of(file), 100000);
  char found[11] = {0};
  CHECK_OK(MPI_File_read_at(file, 0, found, 10, MPI_CHAR, MPI_STATUS_IGNORE));
  CHECK_BYTES(found, "0123456789", 10);
  CHECK_ANY_ERROR(MPI_File_preallocate(file, -5));
  /* What preallocation adds is undefined; make it the same everywhere. */
  CHECK_OK(MPI_File_set_size(file, 10));
  CHECK_OK(MPI_File_close(&file));
  CHECK_FILE(path, "0123456789", 10);
}

/* Sizes are bytes whatever the view. */
static void size_in_view(void) {
  MPI_File file = check_create(check_path("dat"));
  CHECK_OK(MPI_File_set_view(file, 16, MPI_DOUBLE, MPI_DOUBLE, "native", MPI_INFO_NULL));
  double value = 1.5;
  if (check_rank == 0) {
    CHECK_OK(MPI_File_write_at(file, 3, &value, 1, MPI_DOUBLE, MPI_STATUS_IGNORE));
  }
  check_barrier();
  CHECK_EQ(size_of(file), 16 + 4 * 8);
  CHECK_OK(MPI_File_set_size(file, 64));
  CHECK_EQ(size_of(file), 64);
  CHECK_OK(MPI_File_preallocate(file, 80));
  CHECK_EQ(size_of(file), 80);
  CHECK_OK(MPI_File_set_size(file, 72));
  CHECK_OK(MPI_File_close(&file));
}

/* Never written bytes below the end read as zeros, in every mode. */
static void holes(void) {
  MPI_File file = check_create(check_path("dat"));
  int value = check_rank + 1;
  CHECK_OK(
      MPI_File_write_at(file, 100000 * (check_rank + 1), &value, 1, MPI_INT, MPI_STATUS_IGNORE));
  CHECK_OK(MPI_File_sync(file));
  check_barrier();
  CHECK_OK(MPI_File_sync(file));
  static unsigned char found[100004], expected[100004];
  for (int collective = 0; collective < 2; ++collective) {
    memset(found, 7, sizeof found);
    memset(expected, 0, sizeof expected);
    memcpy(expected + 100000, &value, 4);
    if (check_rank > 0) memcpy(expected, &check_rank, 4);
    MPI_Status status;
    MPI_Offset from = 100000 * check_rank;
    CHECK_OK(collective ? MPI_File_read_at_all(file, from, found, 100004, MPI_BYTE, &status)
                        : MPI_File_read_at(file, from, found, 100004, MPI_BYTE, &status));
    CHECK_COUNT(status, MPI_BYTE, 100004);
    CHECK_BYTES(found, expected, sizeof found);
  }
  CHECK_EQ(size_of(file), 100000 * check_size + 4);
  CHECK_OK(MPI_File_close(&file));
}

/* Gaps between runs beyond the old end are zeros too. */
static void holes_between_runs(void) {
  MPI_Datatype column;
  MPI_Type_create_resized(MPI_INT, 0, 8 * (MPI_Aint)check_size, &column);
  MPI_Type_commit(&column);
  int expected[2 * 16 * 20] = {0}, data[20];
  for (int i = 0; i < 20 * check_size; ++i) expected[2 * i] = i % check_size * 100 + i / check_size;
  for (int i = 0; i < 20; ++i) data[i] = 100 * check_rank + i;
  for (int collective = 0; collective < 2; ++collective) {
    const char* path = check_path(collective ? "all" : "each");
    MPI_File file = check_create(path);
    CHECK_OK(MPI_File_set_view(file, 8 * check_rank, MPI_INT, column, "native", MPI_INFO_NULL));
    CHECK_OK(collective ? MPI_File_write_all(file, data, 20, MPI_INT, MPI_STATUS_IGNORE)
                        : MPI_File_write(file, data, 20, MPI_INT, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_File_close(&file));
    CHECK_FILE(path, expected, 4 * (40 * (size_t)check_size - 1));
  }
  MPI_Type_free(&column);
}

/* Writing without bytes changes no size. */
static void zero_size_write(void) {
  MPI_File file = check_create(check_path("dat"));
  MPI_Status status;
  CHECK_OK(MPI_File_write_at(file, 1000, NULL, 0, MPI_INT, &status));
  CHECK_COUNT(status, MPI_INT, 0);
  CHECK_OK(MPI_File_write_at_all(file, 1000, NULL, 0, MPI_INT, &status));
  CHECK_COUNT(status, MPI_INT, 0);
  CHECK_OK(MPI_File_write_all(file, NULL, 0, MPI_INT, &status));
  CHECK_COUNT(status, MPI_INT, 0);
  CHECK_OK(MPI_File_write_ordered(file, NULL, 0, MPI_INT, &status));
  CHECK_COUNT(status, MPI_INT, 0);
  MPI_Datatype nothing;
  MPI_Type_contiguous(0, MPI_INT, &nothing);
  MPI_Type_commit(&nothing);
  CHECK_OK(MPI_File_write_at_all(file, 1000, NULL, 5, nothing, &status));
  CHECK_COUNT(status, MPI_BYTE, 0);
  MPI_Type_free(&nothing);
  CHECK_EQ(size_of(file), 0);
  /* One rank writes, the others take part with nothing. */
  int value = 42;
  int last = check_rank == check_size - 1;
  CHECK_OK(MPI_File_write_at_all(file, 8, &value, last, MPI_INT, &status));
  CHECK_COUNT(status, MPI_INT, last);
  int found = -1;
  CHECK_OK(MPI_File_read_at_all(file, 8, &found, check_rank == 0, MPI_INT, &status));
  CHECK_COUNT(status, MPI_INT, check_rank == 0);
  if (check_rank == 0) CHECK_EQ(found, 42);
  CHECK_OK(MPI_File_close(&file));
}

const struct Subtest size_subtests[] = {
    {"set_size", set_size, CHECK_ALWAYS},
    {"preallocate", preallocate, CHECK_ALWAYS},
    {"size_in_view", size_in_view, CHECK_ALWAYS},
    {"holes", holes, CHECK_ALWAYS},
    {"holes_between_runs", holes_between_runs, CHECK_ALWAYS},
    {"zero_size_write", zero_size_write, CHECK_ALWAYS},
    {0},
};
