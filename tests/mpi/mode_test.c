/* What the access modes allow: append, sequential, read-only, write-only. */
#include "suite.h"

static void append_pointers(MPI_File file, long long expected) {
  MPI_Offset mine = -1, shared = -1;
  CHECK_OK(MPI_File_get_position(file, &mine));
  CHECK_OK(MPI_File_get_position_shared(file, &shared));
  CHECK_EQ(mine, expected);
  CHECK_EQ(shared, expected);
}

static void append(void) {
  const char* path = check_path("dat");
  check_make_file(path, "0123456789", 10);
  MPI_File file = check_open(MPI_COMM_WORLD, path, MPI_MODE_APPEND | MPI_MODE_WRONLY);
  append_pointers(file, 10);
  check_barrier();
  char mine = (char)('a' + check_rank);
  CHECK_OK(MPI_File_write_ordered(file, &mine, 1, MPI_CHAR, MPI_STATUS_IGNORE));
  CHECK_OK(MPI_File_close(&file));
  file = check_open(MPI_COMM_WORLD, path, MPI_MODE_APPEND | MPI_MODE_CREATE | MPI_MODE_RDWR);
  append_pointers(file, 10 + check_size);
  if (check_rank == 0) CHECK_OK(MPI_File_write(file, "!", 1, MPI_CHAR, MPI_STATUS_IGNORE));
  CHECK_OK(MPI_File_close(&file));
  char expected[32] = "0123456789";
  for (int i = 0; i < check_size; ++i) expected[10 + i] = (char)('a' + i);
  expected[10 + check_size] = '!';
  CHECK_FILE(path, expected, 11 + (size_t)check_size);
}

static void append_to_new(void) {
  MPI_File file = check_open(MPI_COMM_WORLD, check_path("dat"),
                             MPI_MODE_APPEND | MPI_MODE_CREATE | MPI_MODE_RDWR);
  append_pointers(file, 0);
  check_barrier();
  CHECK_OK(MPI_File_write_ordered(file, &check_rank, 1, MPI_INT, MPI_STATUS_IGNORE));
  CHECK_OK(MPI_File_close(&file));
}

static void sequential_forbids(MPI_File file) {
  char data = 'x';
  MPI_Offset offset = 0;
  MPI_Request request;
  CHECK_ERROR(MPI_File_write_at(file, 0, &data, 1, MPI_CHAR, MPI_STATUS_IGNORE),
              MPI_ERR_UNSUPPORTED_OPERATION);
  CHECK_ERROR(MPI_File_write_at_all(file, 0, &data, 1, MPI_CHAR, MPI_STATUS_IGNORE),
              MPI_ERR_UNSUPPORTED_OPERATION);
  CHECK_ERROR(MPI_File_write(file, &data, 1, MPI_CHAR, MPI_STATUS_IGNORE),
              MPI_ERR_UNSUPPORTED_OPERATION);
  CHECK_ERROR(MPI_File_write_all(file, &data, 1, MPI_CHAR, MPI_STATUS_IGNORE),
              MPI_ERR_UNSUPPORTED_OPERATION);
  CHECK_ERROR(
      check_wait(MPI_File_iwrite(file, &data, 1, MPI_CHAR, &request), &request, MPI_STATUS_IGNORE),
      MPI_ERR_UNSUPPORTED_OPERATION);
  CHECK_ERROR(check_wait(MPI_File_iwrite_at(file, 0, &data, 1, MPI_CHAR, &request), &request,
                         MPI_STATUS_IGNORE),
              MPI_ERR_UNSUPPORTED_OPERATION);
  CHECK_ERROR(MPI_File_seek(file, 0, MPI_SEEK_SET), MPI_ERR_UNSUPPORTED_OPERATION);
  CHECK_ERROR(MPI_File_seek_shared(file, 0, MPI_SEEK_SET), MPI_ERR_UNSUPPORTED_OPERATION);
  CHECK_ERROR(MPI_File_get_position(file, &offset), MPI_ERR_UNSUPPORTED_OPERATION);
  CHECK_ERROR(MPI_File_get_position_shared(file, &offset), MPI_ERR_UNSUPPORTED_OPERATION);
  CHECK_ERROR(MPI_File_set_size(file, 0), MPI_ERR_UNSUPPORTED_OPERATION);
  CHECK_ERROR(MPI_File_preallocate(file, 1), MPI_ERR_UNSUPPORTED_OPERATION);
}

static void sequential_write(void) {
  const char* path = check_path("dat");
  MPI_File file =
      check_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_WRONLY | MPI_MODE_SEQUENTIAL);
  char mine = (char)('a' + check_rank);
  CHECK_OK(MPI_File_write_ordered(file, &mine, 1, MPI_CHAR, MPI_STATUS_IGNORE));
  if (check_rank == 0) CHECK_OK(MPI_File_write_shared(file, "--", 2, MPI_CHAR, MPI_STATUS_IGNORE));
  check_barrier();
  CHECK_OK(MPI_File_write_ordered(file, &mine, 1, MPI_CHAR, MPI_STATUS_IGNORE));
  CHECK_OK(MPI_File_close(&file));
  char expected[32] = {0};
  for (int i = 0; i < check_size; ++i) {
    expected[i] = (char)('a' + i);
    expected[check_size + 2 + i] = (char)('a' + i);
  }
  expected[check_size] = expected[check_size + 1] = '-';
  CHECK_FILE(path, expected, 2 + 2 * (size_t)check_size);
}

static void sequential_errors(void) {
  MPI_File file = check_open(MPI_COMM_WORLD, check_path("dat"),
                             MPI_MODE_CREATE | MPI_MODE_WRONLY | MPI_MODE_SEQUENTIAL);
  sequential_forbids(file);
  CHECK_ANY_ERROR(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
  CHECK_OK(MPI_File_write_ordered(file, &check_rank, 1, MPI_INT, MPI_STATUS_IGNORE));
  CHECK_OK(MPI_File_close(&file));
  CHECK_EQ(check_file_size(check_path("dat")), 4 * check_size);
}

static void sequential_read(void) {
  const char* path = check_path("dat");
  int data[128];
  for (int i = 0; i < 128; ++i) data[i] = 7 * i;
  check_make_file(path, data, sizeof data);
  MPI_File file = check_open(MPI_COMM_WORLD, path, MPI_MODE_RDONLY | MPI_MODE_SEQUENTIAL);
  int found = -1;
  MPI_Status status;
  CHECK_OK(MPI_File_read_ordered(file, &found, 1, MPI_INT, &status));
  CHECK_COUNT(status, MPI_INT, 1);
  CHECK_EQ(found, 7 * check_rank);
  CHECK_OK(
      MPI_File_set_view(file, MPI_DISPLACEMENT_CURRENT, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
  CHECK_OK(MPI_File_read_ordered(file, &found, 1, MPI_INT, &status));
  CHECK_EQ(found, 7 * (check_size + check_rank));
  CHECK_ERROR(MPI_File_read(file, &found, 1, MPI_INT, &status), MPI_ERR_UNSUPPORTED_OPERATION);
  CHECK_OK(MPI_File_close(&file));
}

static void read_only(void) {
  const char* path = check_path("dat");
  check_make_file(path, "0123456789", 10);
  MPI_File file = check_open(MPI_COMM_WORLD, path, MPI_MODE_RDONLY);
  char data[4] = "new";
  MPI_Status status;
  MPI_Request request;
  CHECK_ERROR(MPI_File_write_at(file, 0, data, 3, MPI_CHAR, &status), MPI_ERR_READ_ONLY,
              MPI_ERR_ACCESS);
  CHECK_ERROR(MPI_File_write(file, data, 3, MPI_CHAR, &status), MPI_ERR_READ_ONLY, MPI_ERR_ACCESS);
  CHECK_ERROR(MPI_File_write_shared(file, data, 3, MPI_CHAR, &status), MPI_ERR_READ_ONLY,
              MPI_ERR_ACCESS);
  CHECK_ERROR(MPI_File_write_at_all(file, 0, data, 3, MPI_CHAR, &status), MPI_ERR_READ_ONLY,
              MPI_ERR_ACCESS);
  CHECK_ERROR(MPI_File_write_all(file, data, 3, MPI_CHAR, &status), MPI_ERR_READ_ONLY,
              MPI_ERR_ACCESS);
  CHECK_ERROR(check_wait(MPI_File_iwrite_at(file, 0, data, 3, MPI_CHAR, &request), &request,
                         MPI_STATUS_IGNORE),
              MPI_ERR_READ_ONLY, MPI_ERR_ACCESS);
  CHECK_ERROR(MPI_File_set_size(file, 3), MPI_ERR_READ_ONLY, MPI_ERR_ACCESS);
  CHECK_ERROR(MPI_File_preallocate(file, 30), MPI_ERR_READ_ONLY, MPI_ERR_ACCESS);
  CHECK_OK(MPI_File_read_at_all(file, check_rank, data, 3, MPI_CHAR, &status));
  CHECK_COUNT(status, MPI_CHAR, 3);
  CHECK_EQ(data[2], '2' + check_rank);
  CHECK_OK(MPI_File_close(&file));
  CHECK_FILE(path, "0123456789", 10);
}

static void write_only(void) {
  const char* path = check_path("dat");
  MPI_File file = check_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_WRONLY);
  char byte = 'x';
  MPI_Request request;
  CHECK_ERROR(MPI_File_read_at(file, 0, &byte, 1, MPI_CHAR, MPI_STATUS_IGNORE), MPI_ERR_ACCESS);
  CHECK_ERROR(MPI_File_read_all(file, &byte, 1, MPI_CHAR, MPI_STATUS_IGNORE), MPI_ERR_ACCESS);
  CHECK_ERROR(MPI_File_read_shared(file, &byte, 1, MPI_CHAR, MPI_STATUS_IGNORE), MPI_ERR_ACCESS);
  CHECK_ERROR(
      check_wait(MPI_File_iread(file, &byte, 1, MPI_CHAR, &request), &request, MPI_STATUS_IGNORE),
      MPI_ERR_ACCESS);
  CHECK_OK(MPI_File_set_size(file, 4 * 65 * (check_size + 1)));
  /* Runs with gaps: sieving would have to read, which this mode forbids. */
  MPI_Datatype every_other;
  MPI_Type_vector(64, 1, check_size + 1, MPI_INT, &every_other);
  MPI_Type_commit(&every_other);
  CHECK_OK(MPI_File_set_view(file, 4 * check_rank, MPI_INT, every_other, "native", MPI_INFO_NULL));
  int data[64];
  for (int i = 0; i < 64; ++i) data[i] = 100 * check_rank + i;
  CHECK_OK(MPI_File_write_at(file, 0, data, 64, MPI_INT, MPI_STATUS_IGNORE));
  check_barrier();
  CHECK_OK(MPI_File_write_at_all(file, 0, data, 64, MPI_INT, MPI_STATUS_IGNORE));
  CHECK_OK(MPI_File_close(&file));
  MPI_Type_free(&every_other);
}

const struct Subtest mode_subtests[] = {
    {"append", append, CHECK_ALWAYS},
    {"append_to_new", append_to_new, CHECK_ALWAYS},
    {"sequential_write", sequential_write, CHECK_ALWAYS},
    {"sequential_errors", sequential_errors, CHECK_ALWAYS},
    {"sequential_read", sequential_read, CHECK_ALWAYS},
    {"read_only", read_only, CHECK_ALWAYS},
    {"write_only", write_only, CHECK_ALWAYS},
    {0},
};
