/* Access at explicit offsets: the eight data procedures, counts, end of file, bad arguments. */
#include "suite.h"

enum { kInts = 250 };

/* The ways to read or write at an offset, complete when they return. */
enum Way { kPlain, kAll, kPosted, kPostedAll, kWays };

static int write_way(enum Way way, MPI_File file, MPI_Offset at, const void* data, int count,
                     MPI_Datatype type, MPI_Status* status) {
  MPI_Request request = MPI_REQUEST_NULL;
  int code;
  switch (way) {
    case kPlain:
      return MPI_File_write_at(file, at, data, count, type, status);
    case kAll:
      return MPI_File_write_at_all(file, at, data, count, type, status);
    case kPosted:
      code = MPI_File_iwrite_at(file, at, data, count, type, &request);
      break;
    default:
      code = MPI_File_iwrite_at_all(file, at, data, count, type, &request);
  }
  return check_wait(code, &request, status);
}

static int read_way(enum Way way, MPI_File file, MPI_Offset at, void* data, int count,
                    MPI_Datatype type, MPI_Status* status) {
  MPI_Request request = MPI_REQUEST_NULL;
  int code;
  switch (way) {
    case kPlain:
      return MPI_File_read_at(file, at, data, count, type, status);
    case kAll:
      return MPI_File_read_at_all(file, at, data, count, type, status);
    case kPosted:
      code = MPI_File_iread_at(file, at, data, count, type, &request);
      break;
    default:
      code = MPI_File_iread_at_all(file, at, data, count, type, &request);
  }
  return check_wait(code, &request, status);
}

static void expect_rest(MPI_File file) {
  MPI_Offset position = -1;
  CHECK_OK(MPI_File_get_position(file, &position));
  CHECK_EQ(position, 3);
}

/* Each way writes its part; each way reads what the next rank wrote by another. */
static void explicit_ways(void) {
  MPI_File file = check_create(check_path("dat"));
  CHECK_OK(MPI_File_set_view(file, 8, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
  CHECK_OK(MPI_File_seek(file, 3, MPI_SEEK_SET));
  int data[kInts], found[kInts];
  MPI_Status status;
  for (int way = 0; way < kWays; ++way) {
    for (int i = 0; i < kInts; ++i) data[i] = (way * 100 + check_rank) * 1000 + i;
    MPI_Offset at = (way * check_size + check_rank) * kInts;
    CHECK_OK(write_way((enum Way)way, file, at, data, kInts, MPI_INT, &status));
    CHECK_COUNT(status, MPI_INT, kInts);
    CHECK_COUNT(status, MPI_BYTE, 4 * kInts);
  }
  expect_rest(file);
  CHECK_OK(MPI_File_sync(file));
  check_barrier();
  CHECK_OK(MPI_File_sync(file));
  int next = (check_rank + 1) % check_size;
  for (int way = 0; way < kWays; ++way) {
    int by = (way + 1) % kWays;
    for (int i = 0; i < kInts; ++i) data[i] = (by * 100 + next) * 1000 + i;
    memset(found, 0xff, sizeof found);
    MPI_Offset at = (by * check_size + next) * kInts;
    CHECK_OK(read_way((enum Way)way, file, at, found, kInts, MPI_INT, &status));
    CHECK_COUNT(status, MPI_INT, kInts);
    CHECK_BYTES(found, data, sizeof data);
  }
  expect_rest(file);
  CHECK_OK(MPI_File_close(&file));
}

/* Reads that meet the end of the file report what was really read. */
static void explicit_end_of_file(void) {
  const char* path = check_path("dat");
  unsigned char data[102], found[400];
  check_fill(data, sizeof data, 3);
  check_make_file(path, data, sizeof data);
  MPI_File file = check_open(MPI_COMM_WORLD, path, MPI_MODE_RDONLY);
  MPI_Status status;
  for (int way = 0; way < kWays; ++way) {
    CHECK_OK(read_way((enum Way)way, file, 2, found, 50, MPI_INT, &status));
    CHECK_COUNT(status, MPI_INT, 25);
    CHECK_BYTES(found, data + 2, 100);
    CHECK_OK(read_way((enum Way)way, file, 0, found, 50, MPI_INT, &status));
    CHECK_COUNT(status, MPI_INT, MPI_UNDEFINED);
    CHECK_COUNT(status, MPI_BYTE, 102);
    int elements = -1;
    MPI_Get_elements(&status, MPI_SHORT, &elements);
    CHECK_EQ(elements, 51);
    CHECK_BYTES(found, data, 102);
    CHECK_OK(read_way((enum Way)way, file, 102, found, 10, MPI_BYTE, &status));
    CHECK_COUNT(status, MPI_BYTE, 0);
    CHECK_OK(read_way((enum Way)way, file, 100000, found, 10, MPI_INT, &status));
    CHECK_COUNT(status, MPI_INT, 0);
    /* Ranks at different distances from the end. */
    CHECK_OK(read_way((enum Way)way, file, 100 + check_rank, found, 10, MPI_BYTE, &status));
    CHECK_COUNT(status, MPI_BYTE, check_rank < 2 ? 2 - check_rank : 0);
  }
  CHECK_OK(MPI_File_close(&file));
}

/* The end of the file in a view with gaps, and in a memory type with gaps. */
static void explicit_end_in_view(void) {
  const char* path = check_path("dat");
  int data[50];
  for (int i = 0; i < 50; ++i) data[i] = i;
  check_make_file(path, data, sizeof data);
  MPI_File file = check_open(MPI_COMM_WORLD, path, MPI_MODE_RDONLY);
  MPI_Datatype sparse, spread;
  MPI_Type_vector(1, 1, 1, MPI_INT, &spread);
  MPI_Type_create_resized(spread, 0, 12, &sparse);
  MPI_Type_commit(&sparse);
  CHECK_OK(MPI_File_set_view(file, 4, MPI_INT, sparse, "native", MPI_INFO_NULL));
  int found[100];
  MPI_Status status;
  for (int way = 0; way < kWays; ++way) {
    memset(found, 0xff, sizeof found);
    CHECK_OK(read_way((enum Way)way, file, 10, found, 20, MPI_INT, &status));
    CHECK_COUNT(status, MPI_INT, 7);
    for (int i = 0; i < 7; ++i) CHECK_EQ(found[i], 1 + 3 * (10 + i));
    memset(found, 0xff, sizeof found);
    CHECK_OK(read_way((enum Way)way, file, 10, found, 20, sparse, &status));
    CHECK_COUNT(status, sparse, 7);
    for (int i = 0; i < 7; ++i) CHECK_EQ(found[3 * i], 1 + 3 * (10 + i));
    CHECK_EQ(found[1], -1);
    CHECK_OK(read_way((enum Way)way, file, 17, found, 1, MPI_INT, &status));
    CHECK_COUNT(status, MPI_INT, 0);
  }
  MPI_Type_free(&spread);
  MPI_Type_free(&sparse);
  CHECK_OK(MPI_File_close(&file));
}

static void explicit_zero(void) {
  MPI_File file = check_create(check_path("dat"));
  MPI_Status status;
  char byte = 'x';
  for (int way = 0; way < kWays; ++way) {
    CHECK_OK(write_way((enum Way)way, file, 10, &byte, 0, MPI_CHAR, &status));
    CHECK_COUNT(status, MPI_CHAR, 0);
    CHECK_OK(read_way((enum Way)way, file, 10, &byte, 0, MPI_CHAR, &status));
    CHECK_COUNT(status, MPI_CHAR, 0);
    CHECK_OK(write_way((enum Way)way, file, 0, NULL, 0, MPI_DOUBLE, MPI_STATUS_IGNORE));
  }
  CHECK_EQ(byte, 'x');
  CHECK_OK(MPI_File_close(&file));
  CHECK_EQ(check_file_size(check_path("dat")), 0);
}

/* All ranks are wrong alike, so that nobody waits. */
static void explicit_errors(void) {
  MPI_File file = check_create(check_path("dat"));
  MPI_Datatype raw;
  MPI_Type_vector(2, 1, 2, MPI_INT, &raw);
  int data[4] = {0};
  for (int way = 0; way < kWays; ++way) {
    CHECK_ERROR(write_way((enum Way)way, file, -1, data, 1, MPI_INT, MPI_STATUS_IGNORE),
                MPI_ERR_ARG);
    CHECK_ERROR(read_way((enum Way)way, file, -8, data, 1, MPI_INT, MPI_STATUS_IGNORE),
                MPI_ERR_ARG);
    CHECK_ERROR(write_way((enum Way)way, file, 0, data, -1, MPI_INT, MPI_STATUS_IGNORE),
                MPI_ERR_COUNT, MPI_ERR_ARG);
    CHECK_ERROR(read_way((enum Way)way, file, 0, data, -1, MPI_INT, MPI_STATUS_IGNORE),
                MPI_ERR_COUNT, MPI_ERR_ARG);
    CHECK_ERROR(write_way((enum Way)way, file, 0, data, 1, MPI_DATATYPE_NULL, MPI_STATUS_IGNORE),
                MPI_ERR_TYPE);
    CHECK_ERROR(read_way((enum Way)way, file, 0, data, 1, raw, MPI_STATUS_IGNORE), MPI_ERR_TYPE);
  }
  MPI_Type_free(&raw);
  CHECK_OK(MPI_File_close(&file));
  CHECK_EQ(check_file_size(check_path("dat")), 0);
}

/* An access must be whole etypes. */
static void explicit_etype_mismatch(void) {
  MPI_File file = check_create(check_path("dat"));
  CHECK_OK(MPI_File_set_view(file, 0, MPI_DOUBLE, MPI_DOUBLE, "native", MPI_INFO_NULL));
  char data[16] = {0};
  for (int way = 0; way < kWays; ++way) {
    CHECK_ANY_ERROR(write_way((enum Way)way, file, 0, data, 3, MPI_CHAR, MPI_STATUS_IGNORE));
    CHECK_ANY_ERROR(read_way((enum Way)way, file, 0, data, 12, MPI_CHAR, MPI_STATUS_IGNORE));
  }
  CHECK_OK(MPI_File_close(&file));
  CHECK_EQ(check_file_size(check_path("dat")), 0);
}

const struct Subtest explicit_subtests[] = {
    {"explicit_ways", explicit_ways, CHECK_ALWAYS},
    {"explicit_end_of_file", explicit_end_of_file, CHECK_ALWAYS},
    {"explicit_end_in_view", explicit_end_in_view, CHECK_ALWAYS},
    {"explicit_zero", explicit_zero, CHECK_ALWAYS},
    {"explicit_errors", explicit_errors, CHECK_ALWAYS},
    {"explicit_etype_mismatch", explicit_etype_mismatch, CHECK_ALWAYS},
    {0},
};
