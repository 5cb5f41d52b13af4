/* Individual file pointers: the eight data procedures, seeking, positions. */
#include "suite.h"

enum Way { kPlain, kAll, kPosted, kPostedAll, kWays };

static int write_way(enum Way way, MPI_File file, const void* data, int count, MPI_Status* status) {
  MPI_Request request = MPI_REQUEST_NULL;
  int code;
  switch (way) {
    case kPlain:
      return MPI_File_write(file, data, count, MPI_INT, status);
    case kAll:
      return MPI_File_write_all(file, data, count, MPI_INT, status);
    case kPosted:
      code = MPI_File_iwrite(file, data, count, MPI_INT, &request);
      break;
    default:
      code = MPI_File_iwrite_all(file, data, count, MPI_INT, &request);
  }
  return check_wait(code, &request, status);
}

static int read_way(enum Way way, MPI_File file, void* data, int count, MPI_Status* status) {
  MPI_Request request = MPI_REQUEST_NULL;
  int code;
  switch (way) {
    case kPlain:
      return MPI_File_read(file, data, count, MPI_INT, status);
    case kAll:
      return MPI_File_read_all(file, data, count, MPI_INT, status);
    case kPosted:
      code = MPI_File_iread(file, data, count, MPI_INT, &request);
      break;
    default:
      code = MPI_File_iread_all(file, data, count, MPI_INT, &request);
  }
  return check_wait(code, &request, status);
}

static void expect_position(MPI_File file, long long expected) {
  MPI_Offset position = -1;
  CHECK_OK(MPI_File_get_position(file, &position));
  CHECK_EQ(position, expected);
}

/* A column each; every way continues where the last one ended. */
static void pointer_ways(void) {
  MPI_File file = check_create(check_path("dat"));
  MPI_Datatype column;
  MPI_Type_create_resized(MPI_INT, 0, 4 * (MPI_Aint)check_size, &column);
  MPI_Type_commit(&column);
  CHECK_OK(MPI_File_set_view(file, 4 * check_rank, MPI_INT, column, "native", MPI_INFO_NULL));
  int data[100], found[100];
  for (int i = 0; i < 100; ++i) data[i] = 1000 * check_rank + i;
  MPI_Status status;
  int at = 0;
  for (int way = 0; way < kWays; ++way) {
    CHECK_OK(write_way((enum Way)way, file, data + at, 10 + way, &status));
    CHECK_COUNT(status, MPI_INT, 10 + way);
    at += 10 + way;
    expect_position(file, at);
  }
  CHECK_OK(MPI_File_seek(file, 0, MPI_SEEK_SET));
  at = 0;
  for (int way = kWays - 1; way >= 0; --way) {
    CHECK_OK(read_way((enum Way)way, file, found + at, 10 + way, &status));
    CHECK_COUNT(status, MPI_INT, 10 + way);
    at += 10 + way;
    expect_position(file, at);
  }
  CHECK_BYTES(found, data, 4 * (size_t)at);
  MPI_Type_free(&column);
  CHECK_OK(MPI_File_close(&file));
}

/* A posted operation moves the pointer at once, by what was asked. */
static void pointer_moves_when_posted(void) {
  MPI_File file = check_create(check_path("dat"));
  CHECK_OK(MPI_File_set_view(file, 400 * check_rank, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
  int data[100], found[100];
  for (int i = 0; i < 100; ++i) data[i] = 1000 * check_rank + i;
  MPI_Request requests[10];
  for (int i = 0; i < 10; ++i) {
    CHECK_OK(MPI_File_iwrite(file, data + 10 * i, 10, MPI_INT, &requests[i]));
    expect_position(file, 10 * (i + 1));
  }
  CHECK_OK(MPI_Waitall(10, requests, MPI_STATUSES_IGNORE));
  CHECK_OK(MPI_File_seek(file, 0, MPI_SEEK_SET));
  for (int i = 0; i < 10; ++i) {
    CHECK_OK(MPI_File_iread(file, found + 10 * i, 10, MPI_INT, &requests[i]));
    expect_position(file, 10 * (i + 1));
  }
  CHECK_OK(MPI_Waitall(10, requests, MPI_STATUSES_IGNORE));
  CHECK_BYTES(found, data, sizeof data);
  CHECK_OK(MPI_File_close(&file));
}

static void pointer_seek(void) {
  const char* path = check_path("dat");
  unsigned char data[100];
  check_fill(data, sizeof data, 1);
  check_make_file(path, data, sizeof data);
  MPI_File file = check_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR);
  CHECK_OK(MPI_File_seek(file, 10, MPI_SEEK_SET));
  expect_position(file, 10);
  CHECK_OK(MPI_File_seek(file, 5, MPI_SEEK_CUR));
  expect_position(file, 15);
  CHECK_OK(MPI_File_seek(file, -15, MPI_SEEK_CUR));
  expect_position(file, 0);
  CHECK_OK(MPI_File_seek(file, 0, MPI_SEEK_END));
  expect_position(file, 100);
  CHECK_OK(MPI_File_seek(file, -1, MPI_SEEK_END));
  unsigned char found = 0;
  CHECK_OK(MPI_File_read(file, &found, 1, MPI_BYTE, MPI_STATUS_IGNORE));
  CHECK_EQ(found, data[99]);
  CHECK_OK(MPI_File_seek(file, 50, MPI_SEEK_END));
  expect_position(file, 150);
  CHECK_OK(MPI_File_close(&file));
  CHECK_FILE(path, data, sizeof data);
}

static void pointer_seek_errors(void) {
  MPI_File file = check_create(check_path("dat"));
  CHECK_OK(MPI_File_seek(file, 7, MPI_SEEK_SET));
  CHECK_ERROR(MPI_File_seek(file, -1, MPI_SEEK_SET), MPI_ERR_ARG);
  CHECK_ERROR(MPI_File_seek(file, -8, MPI_SEEK_CUR), MPI_ERR_ARG);
  CHECK_ERROR(MPI_File_seek(file, -1, MPI_SEEK_END), MPI_ERR_ARG);
  CHECK_ERROR(MPI_File_seek(file, 0, 12345), MPI_ERR_ARG);
  expect_position(file, 7);
  CHECK_OK(MPI_File_close(&file));
}

/* The end of a file in a view is the first etype that begins after its last byte. */
static void pointer_seek_end_in_view(void) {
  const char* path = check_path("dat");
  MPI_Datatype tile, block;
  MPI_Type_contiguous(2, MPI_INT, &block);
  MPI_Type_create_resized(block, 0, 20, &tile);
  MPI_Type_commit(&tile);
  /* Etypes begin at 4, 8, 24, 28, 44, ... */
  static const int kSizes[][2] = {{4, 0},  {5, 1},  {8, 1},  {12, 2}, {13, 2},
                                  {24, 2}, {25, 3}, {28, 3}, {32, 4}, {44, 4}};
  MPI_File file = check_create(path);
  CHECK_OK(MPI_File_set_view(file, 4, MPI_INT, tile, "native", MPI_INFO_NULL));
  for (size_t i = 0; i < sizeof kSizes / sizeof *kSizes; ++i) {
    check_barrier();
    CHECK_OK(MPI_File_set_size(file, kSizes[i][0]));
    CHECK_OK(MPI_File_seek(file, 0, MPI_SEEK_END));
    expect_position(file, kSizes[i][1]);
  }
  MPI_Type_free(&tile);
  MPI_Type_free(&block);
  CHECK_OK(MPI_File_close(&file));
}

/* A read that meets the end reports what was read. */
static void pointer_end_of_file(void) {
  const char* path = check_path("dat");
  int data[25], found[100];
  for (int i = 0; i < 25; ++i) data[i] = 3 * i;
  check_make_file(path, data, sizeof data);
  MPI_File file = check_open(MPI_COMM_WORLD, path, MPI_MODE_RDONLY);
  CHECK_OK(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
  MPI_Status status;
  for (int way = 0; way < kWays; ++way) {
    CHECK_OK(MPI_File_seek(file, 5, MPI_SEEK_SET));
    CHECK_OK(read_way((enum Way)way, file, found, 100, &status));
    CHECK_COUNT(status, MPI_INT, 20);
    CHECK_BYTES(found, data + 5, 80);
    CHECK_OK(MPI_File_seek(file, 25, MPI_SEEK_SET));
    CHECK_OK(read_way((enum Way)way, file, found, 1, &status));
    CHECK_COUNT(status, MPI_INT, 0);
  }
  CHECK_OK(MPI_File_close(&file));
}

/* Interleaved ints of all ranks make a new file grow; whoever extends it, no other rank's bytes may
 * be lost. Many short-lived files, since that is a matter of microseconds. */
static void grow_once(int round, MPI_Datatype column) {
  if (check_rank == 0) MPI_File_delete(check_path("dat"), MPI_INFO_NULL);
  check_barrier();
  MPI_File file = check_create(check_path("dat"));
  CHECK_OK(MPI_File_set_view(file, 4 * check_rank, MPI_INT, column, "native", MPI_INFO_NULL));
  int data[64], found[64] = {0};
  for (int i = 0; i < 64; ++i) data[i] = 64 * check_rank + i + 1;
  for (int half = 0; half < 2; ++half) {
    CHECK_OK(round % 2 == 0
                 ? MPI_File_write(file, data + 32 * half, 32, MPI_INT, MPI_STATUS_IGNORE)
                 : MPI_File_write_all(file, data + 32 * half, 32, MPI_INT, MPI_STATUS_IGNORE));
  }
  check_barrier();
  CHECK_OK(MPI_File_read_at(file, 0, found, 64, MPI_INT, MPI_STATUS_IGNORE));
  CHECK_BYTES(found, data, sizeof data);
  CHECK_OK(MPI_File_close(&file));
}

static void pointer_grows_together(void) {
  MPI_Datatype column;
  MPI_Type_create_resized(MPI_INT, 0, 4 * (MPI_Aint)check_size, &column);
  MPI_Type_commit(&column);
  const int rounds = check_preloaded() ? 200 : 1;
  for (int round = 0; round < rounds; ++round) grow_once(round, column);
  MPI_Type_free(&column);
}

const struct Subtest pointer_subtests[] = {
    {"pointer_ways", pointer_ways, CHECK_ALWAYS},
    {"pointer_moves_when_posted", pointer_moves_when_posted, CHECK_ALWAYS},
    {"pointer_seek", pointer_seek, CHECK_ALWAYS},
    {"pointer_seek_errors", pointer_seek_errors, CHECK_ALWAYS},
    {"pointer_seek_end_in_view", pointer_seek_end_in_view, CHECK_ALWAYS},
    {"pointer_end_of_file", pointer_end_of_file, CHECK_ALWAYS},
    {"pointer_grows_together", pointer_grows_together, CHECK_ALWAYS},
    {0},
};
