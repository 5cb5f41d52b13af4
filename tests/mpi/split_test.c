/* Split collectives: begin, something else, end. */
#include "suite.h"

enum { kInts = 64 };

static void fill(int* data, int seed) {
  for (int i = 0; i < kInts; ++i) data[i] = seed * 100000 + check_rank * 1000 + i;
}

static void split_explicit(void) {
  MPI_File file = check_create(check_path("dat"));
  CHECK_OK(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
  int data[kInts], found[kInts];
  fill(data, 1);
  MPI_Status status;
  MPI_Offset at = check_rank * kInts;
  CHECK_OK(MPI_File_write_at_all_begin(file, at, data, kInts, MPI_INT));
  CHECK_OK(MPI_File_write_at_all_end(file, data, &status));
  CHECK_COUNT(status, MPI_INT, kInts);
  memset(found, 0xff, sizeof found);
  CHECK_OK(MPI_File_read_at_all_begin(file, at, found, kInts, MPI_INT));
  CHECK_OK(MPI_File_read_at_all_end(file, found, &status));
  CHECK_COUNT(status, MPI_INT, kInts);
  CHECK_BYTES(found, data, sizeof data);
  CHECK_OK(MPI_File_close(&file));
}

static void split_individual(void) {
  MPI_File file = check_create(check_path("dat"));
  MPI_Datatype column;
  MPI_Type_create_resized(MPI_INT, 0, 4 * (MPI_Aint)check_size, &column);
  MPI_Type_commit(&column);
  CHECK_OK(MPI_File_set_view(file, 4 * check_rank, MPI_INT, column, "native", MPI_INFO_NULL));
  int data[kInts], found[kInts];
  fill(data, 2);
  MPI_Status status;
  for (int part = 0; part < 2; ++part) {
    CHECK_OK(MPI_File_write_all_begin(file, data + part * kInts / 2, kInts / 2, MPI_INT));
    CHECK_OK(MPI_File_write_all_end(file, data + part * kInts / 2, &status));
    CHECK_COUNT(status, MPI_INT, kInts / 2);
  }
  MPI_Offset position = -1;
  CHECK_OK(MPI_File_get_position(file, &position));
  CHECK_EQ(position, kInts);
  CHECK_OK(MPI_File_seek(file, 0, MPI_SEEK_SET));
  memset(found, 0xff, sizeof found);
  CHECK_OK(MPI_File_read_all_begin(file, found, kInts, MPI_INT));
  CHECK_OK(MPI_File_read_all_end(file, found, &status));
  CHECK_COUNT(status, MPI_INT, kInts);
  CHECK_BYTES(found, data, sizeof data);
  MPI_Type_free(&column);
  CHECK_OK(MPI_File_close(&file));
}

static void split_ordered(void) {
  MPI_File file = check_create(check_path("dat"));
  CHECK_OK(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
  int data[kInts], found[kInts];
  fill(data, 3);
  int count = kInts - check_rank;
  MPI_Status status;
  CHECK_OK(MPI_File_write_ordered_begin(file, data, count, MPI_INT));
  CHECK_OK(MPI_File_write_ordered_end(file, data, &status));
  CHECK_COUNT(status, MPI_INT, count);
  check_barrier();
  MPI_Offset position = -1;
  CHECK_OK(MPI_File_get_position_shared(file, &position));
  CHECK_EQ(position, kInts * check_size - check_size * (check_size - 1) / 2);
  check_barrier();
  CHECK_OK(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
  memset(found, 0xff, sizeof found);
  CHECK_OK(MPI_File_read_ordered_begin(file, found, count, MPI_INT));
  CHECK_OK(MPI_File_read_ordered_end(file, found, &status));
  CHECK_COUNT(status, MPI_INT, count);
  CHECK_BYTES(found, data, 4 * (size_t)count);
  CHECK_OK(MPI_File_close(&file));
}

/* Independent access and messages go on between begin and end. */
static void split_overlaps(void) {
  MPI_File file = check_create(check_path("dat"));
  int data[kInts], mark = 7 + check_rank, left = -1;
  fill(data, 4);
  MPI_Status status;
  MPI_Offset at = 4 * check_rank * kInts;
  CHECK_OK(MPI_File_write_at_all_begin(file, at, data, kInts, MPI_INT));
  MPI_Offset mark_at = 4 * (check_size * kInts + check_rank);
  CHECK_OK(MPI_File_write_at(file, mark_at, &mark, 1, MPI_INT, &status));
  CHECK_COUNT(status, MPI_INT, 1);
  MPI_Sendrecv(&mark, 1, MPI_INT, (check_rank + 1) % check_size, 0, &left, 1, MPI_INT,
               (check_rank + check_size - 1) % check_size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  CHECK_OK(MPI_File_write_at_all_end(file, data, &status));
  CHECK_COUNT(status, MPI_INT, kInts);
  CHECK_EQ(left, 7 + (check_rank + check_size - 1) % check_size);
  CHECK_OK(MPI_File_close(&file));
}

static void split_end_of_file(void) {
  const char* path = check_path("dat");
  int data[10] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  check_make_file(path, data, sizeof data);
  MPI_File file = check_open(MPI_COMM_WORLD, path, MPI_MODE_RDONLY);
  int found[20];
  MPI_Status status;
  CHECK_OK(MPI_File_read_at_all_begin(file, 4 * check_rank, found, 20, MPI_INT));
  CHECK_OK(MPI_File_read_at_all_end(file, found, &status));
  CHECK_COUNT(status, MPI_INT, 10 - check_rank);
  CHECK_EQ(found[0], check_rank);
  CHECK_OK(MPI_File_close(&file));
}

/* One split collective at a time, and an end needs its own begin. */
static void split_errors(void) {
  MPI_File file = check_create(check_path("dat"));
  int data[kInts], other[kInts];
  fill(data, 5);
  MPI_Status status;
  CHECK_ANY_ERROR(MPI_File_write_all_end(file, data, &status));
  CHECK_ANY_ERROR(MPI_File_read_ordered_end(file, data, &status));
  MPI_Offset at = 4 * check_rank * kInts;
  CHECK_OK(MPI_File_write_at_all_begin(file, at, data, kInts, MPI_INT));
  CHECK_ANY_ERROR(MPI_File_read_all_begin(file, other, kInts, MPI_INT));
  CHECK_OK(MPI_File_write_at_all_end(file, data, &status));
  CHECK_COUNT(status, MPI_INT, kInts);
  CHECK_OK(MPI_File_close(&file));
}

const struct Subtest split_subtests[] = {
    {"split_explicit", split_explicit, CHECK_ALWAYS},
    {"split_individual", split_individual, CHECK_ALWAYS},
    {"split_ordered", split_ordered, CHECK_ALWAYS},
    {"split_overlaps", split_overlaps, CHECK_ALWAYS},
    {"split_end_of_file", split_end_of_file, CHECK_ALWAYS},
    {"split_errors", split_errors, CHECK_ALWAYS},
    {0},
};
