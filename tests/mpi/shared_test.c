/* The shared file pointer: independent and ordered access, seeking. */
#include <stdlib.h>

#include "suite.h"

enum { kRounds = 8 };

static void expect_shared(MPI_File file, long long expected) {
  MPI_Offset position = -1;
  CHECK_OK(MPI_File_get_position_shared(file, &position));
  CHECK_EQ(position, expected);
  check_barrier();
}

/* Ints 0 to count - 1 each occur once among all the ranks' values. */
static void expect_each_once(const int* mine, int mine_count, int count) {
  int* seen = calloc((size_t)count, sizeof *seen);
  int* all = calloc((size_t)count, sizeof *all);
  for (int i = 0; i < mine_count; ++i) {
    CHECK(mine[i] >= 0 && mine[i] < count);
    if (mine[i] >= 0 && mine[i] < count) ++seen[mine[i]];
  }
  MPI_Allreduce(seen, all, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < count; ++i) CHECK_EQ(all[i], 1);
  free(seen);
  free(all);
}

static int write_one(MPI_File file, const int* value, bool posted, MPI_Status* status) {
  if (!posted) return MPI_File_write_shared(file, value, 1, MPI_INT, status);
  MPI_Request request = MPI_REQUEST_NULL;
  int code = MPI_File_iwrite_shared(file, value, 1, MPI_INT, &request);
  return check_wait(code, &request, status);
}

static int read_one(MPI_File file, int* value, bool posted, MPI_Status* status) {
  if (!posted) return MPI_File_read_shared(file, value, 1, MPI_INT, status);
  MPI_Request request = MPI_REQUEST_NULL;
  int code = MPI_File_iread_shared(file, value, 1, MPI_INT, &request);
  return check_wait(code, &request, status);
}

/* Every rank's records land once, none on another; then every record is read once. Which rank
 * writes where is open, so the file is put into order at the end. */
static void shared_independent(bool posted) {
  MPI_File file = check_create(check_path("dat"));
  CHECK_OK(MPI_File_set_view(file, 8, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
  int count = kRounds * check_size;
  int found[kRounds];
  MPI_Status status;
  for (int i = 0; i < kRounds; ++i) {
    int value = check_rank * kRounds + i;
    CHECK_OK(write_one(file, &value, posted, &status));
    CHECK_COUNT(status, MPI_INT, 1);
  }
  check_barrier();
  expect_shared(file, count);
  CHECK_OK(MPI_File_sync(file));
  CHECK_OK(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
  for (int i = 0; i < kRounds; ++i) {
    found[i] = -1;
    CHECK_OK(read_one(file, &found[i], posted, &status));
    CHECK_COUNT(status, MPI_INT, 1);
  }
  expect_each_once(found, kRounds, count);
  expect_shared(file, count);
  MPI_Offset mine = -1;
  CHECK_OK(MPI_File_get_position(file, &mine));
  CHECK_EQ(mine, 0);
  for (int i = 0; i < kRounds; ++i) found[i] = check_rank * kRounds + i;
  CHECK_OK(MPI_File_write_at_all(file, check_rank * kRounds, found, kRounds, MPI_INT, &status));
  CHECK_OK(MPI_File_close(&file));
}

static void shared_blocking(void) { shared_independent(false); }
static void shared_posted(void) { shared_independent(true); }

/* In rank order, with different counts, some of them zero. */
static void ordered(void) {
  const char* path = check_path("dat");
  MPI_File file = check_create(path);
  CHECK_OK(MPI_File_set_view(file, 4, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
  int data[16], found[16], expected[512] = {0};
  int count = (check_rank * 3) % 5;
  int total = 0, before = 0;
  for (int r = 0; r < check_size; ++r) {
    if (r == check_rank) before = total;
    total += (r * 3) % 5;
  }
  MPI_Status status;
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < count; ++i) data[i] = 1000 * round + before + i;
    for (int i = 0; i < total; ++i) expected[1 + round * total + i] = 1000 * round + i;
    CHECK_OK(MPI_File_write_ordered(file, data, count, MPI_INT, &status));
    CHECK_COUNT(status, MPI_INT, count);
  }
  check_barrier();
  expect_shared(file, 3 * total);
  CHECK_OK(MPI_File_seek_shared(file, total, MPI_SEEK_SET));
  memset(found, 0xff, sizeof found);
  CHECK_OK(MPI_File_read_ordered(file, found, count, MPI_INT, &status));
  CHECK_COUNT(status, MPI_INT, count);
  CHECK_BYTES(found, expected + 1 + total + before, 4 * (size_t)count);
  check_barrier();
  expect_shared(file, 2 * total);
  CHECK_OK(MPI_File_close(&file));
  CHECK_FILE(path, expected, total > 0 ? 4 + 12 * (size_t)total : 0);
}

/* Ordered reads past the end: the first ranks get what there is. */
static void ordered_end_of_file(void) {
  const char* path = check_path("dat");
  int data[5] = {10, 11, 12, 13, 14};
  check_make_file(path, data, sizeof data);
  MPI_File file = check_open(MPI_COMM_WORLD, path, MPI_MODE_RDONLY);
  int found[2] = {-1, -1};
  MPI_Status status;
  CHECK_OK(MPI_File_read_ordered(file, found, 2, MPI_INT, &status));
  int expected = 5 - 2 * check_rank;
  if (expected > 2) expected = 2;
  if (expected < 0) expected = 0;
  CHECK_COUNT(status, MPI_INT, expected);
  for (int i = 0; i < expected; ++i) CHECK_EQ(found[i], 10 + 2 * check_rank + i);
  CHECK_OK(MPI_File_close(&file));
}

static void shared_seek(void) {
  const char* path = check_path("dat");
  check_make_file(path, "0123456789", 10);
  MPI_File file = check_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR);
  expect_shared(file, 0);
  CHECK_OK(MPI_File_seek_shared(file, 4, MPI_SEEK_SET));
  expect_shared(file, 4);
  CHECK_OK(MPI_File_seek_shared(file, 3, MPI_SEEK_CUR));
  expect_shared(file, 7);
  CHECK_OK(MPI_File_seek_shared(file, -2, MPI_SEEK_CUR));
  expect_shared(file, 5);
  CHECK_OK(MPI_File_seek_shared(file, -1, MPI_SEEK_END));
  expect_shared(file, 9);
  CHECK_OK(MPI_File_seek_shared(file, 5, MPI_SEEK_END));
  expect_shared(file, 15);
  CHECK_OK(MPI_File_seek_shared(file, 2, MPI_SEEK_SET));
  char found = 0;
  CHECK_OK(MPI_File_read_ordered(file, &found, 1, MPI_CHAR, MPI_STATUS_IGNORE));
  CHECK_EQ(found, '2' + check_rank);
  CHECK_OK(MPI_File_close(&file));
}

static void shared_seek_errors(void) {
  const char* path = check_path("dat");
  check_make_file(path, "0123456789", 10);
  MPI_File file = check_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR);
  CHECK_OK(MPI_File_seek_shared(file, 5, MPI_SEEK_SET));
  CHECK_ERROR(MPI_File_seek_shared(file, -1, MPI_SEEK_SET), MPI_ERR_ARG);
  CHECK_ERROR(MPI_File_seek_shared(file, -6, MPI_SEEK_CUR), MPI_ERR_ARG);
  CHECK_ERROR(MPI_File_seek_shared(file, -11, MPI_SEEK_END), MPI_ERR_ARG);
  CHECK_ERROR(MPI_File_seek_shared(file, 0, 12345), MPI_ERR_ARG);
  check_barrier();
  expect_shared(file, 5);
  CHECK_OK(MPI_File_close(&file));
}

/* The shared pointer walks through a view with gaps, in etypes of two ints. */
static void shared_in_view(void) {
  const char* path = check_path("dat");
  MPI_File file = check_create(path);
  MPI_Datatype pair, tile, gap;
  MPI_Type_contiguous(2, MPI_INT, &pair);
  MPI_Type_commit(&pair);
  MPI_Type_contiguous(3, pair, &gap);
  MPI_Type_create_resized(gap, 0, 32, &tile);
  MPI_Type_commit(&tile);
  CHECK_OK(MPI_File_set_view(file, 0, pair, tile, "native", MPI_INFO_NULL));
  int data[4];
  for (int i = 0; i < 4; ++i) data[i] = 4 * check_rank + i + 1;
  MPI_Status status;
  CHECK_OK(MPI_File_write_ordered(file, data, 2, pair, &status));
  CHECK_COUNT(status, pair, 2);
  check_barrier();
  expect_shared(file, 2 * check_size);
  CHECK_OK(MPI_File_close(&file));
  int expected[256] = {0};
  int last = 0;
  for (int i = 0; i < 4 * check_size; ++i) {
    last = i / 6 * 8 + i % 6;
    expected[last] = i + 1;
  }
  CHECK_FILE(path, expected, 4 * (size_t)(last + 1));
  MPI_Type_free(&pair);
  MPI_Type_free(&gap);
  MPI_Type_free(&tile);
}

/* Individual and shared pointers side by side. */
static void shared_beside_individual(void) {
  MPI_File file = check_create(check_path("dat"));
  CHECK_OK(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
  CHECK_OK(MPI_File_seek(file, 100 + check_rank, MPI_SEEK_SET));
  int value = check_rank;
  CHECK_OK(MPI_File_write_ordered(file, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
  CHECK_OK(MPI_File_write_all(file, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
  CHECK_OK(MPI_File_write_ordered(file, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
  check_barrier();
  expect_shared(file, 2 * check_size);
  MPI_Offset mine = -1;
  CHECK_OK(MPI_File_get_position(file, &mine));
  CHECK_EQ(mine, 101 + check_rank);
  CHECK_OK(MPI_File_close(&file));
  CHECK_EQ(check_file_size(check_path("dat")), 4 * (100 + check_size));
}

const struct Subtest shared_subtests[] = {
    {"shared_blocking", shared_blocking, CHECK_ALWAYS},
    {"shared_posted", shared_posted, CHECK_ALWAYS},
    {"ordered", ordered, CHECK_ALWAYS},
    {"ordered_end_of_file", ordered_end_of_file, CHECK_ALWAYS},
    {"shared_seek", shared_seek, CHECK_ALWAYS},
    {"shared_seek_errors", shared_seek_errors, CHECK_ALWAYS},
    {"shared_in_view", shared_in_view, CHECK_ALWAYS},
    {"shared_beside_individual", shared_beside_individual, CHECK_ALWAYS},
    {0},
};
