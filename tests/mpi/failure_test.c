/* Operating errors: full disk, read-only and forbidden places, and ranks that fail alone. The right
 * class on every rank, nothing lost, nobody left waiting.
 *
 * Directories that the runner prepares: full, a file system of 1 MiB; readonly, a read-only one
 * with the file readonly_mount.dat; denied, with files that only others may use. */
#include <stdlib.h>

#include "suite.h"

enum { kSmall = 32 << 10, kHuge = 2 << 20 };

#define NO_SPACE MPI_ERR_NO_SPACE, MPI_ERR_QUOTA, MPI_ERR_IO

static unsigned char small_[kSmall];
static unsigned char huge_[kHuge];

/* A file that fits, one part a rank. */
static MPI_File open_full(const char* path) {
  MPI_File file = check_create(path);
  check_fill(small_, kSmall, (unsigned)check_rank);
  check_fill(huge_, kHuge, 99);
  MPI_Status status;
  CHECK_OK(MPI_File_write_at_all(file, kSmall * check_rank, small_, kSmall, MPI_BYTE, &status));
  CHECK_COUNT(status, MPI_BYTE, kSmall);
  check_barrier();
  return file;
}

/* What was written before the disk was full is there; the room is given back. */
static void close_full(MPI_File file, const char* path) {
  static unsigned char found[kSmall];
  MPI_Status status;
  CHECK_OK(MPI_File_read_at(file, kSmall * check_rank, found, kSmall, MPI_BYTE, &status));
  CHECK_COUNT(status, MPI_BYTE, kSmall);
  CHECK_BYTES(found, small_, kSmall);
  check_barrier();
  CHECK_OK(MPI_File_close(&file));
  if (check_rank == 0) CHECK_OK(MPI_File_delete(path, MPI_INFO_NULL));
  check_barrier();
}

static MPI_Offset beyond(void) {
  return (MPI_Offset)kSmall * check_size + (MPI_Offset)kHuge * check_rank;
}

static void full_independent(void) {
  const char* path = check_special_path("full", "dat");
  MPI_File file = open_full(path);
  if (check_rank == 0) {
    CHECK_ERROR(MPI_File_write_at(file, beyond(), huge_, kHuge, MPI_BYTE, MPI_STATUS_IGNORE),
                NO_SPACE);
    CHECK_OK(MPI_File_seek(file, beyond(), MPI_SEEK_SET));
    CHECK_ERROR(MPI_File_write(file, huge_, kHuge, MPI_BYTE, MPI_STATUS_IGNORE), NO_SPACE);
  }
  check_barrier();
  close_full(file, path);
}

static void full_collective(void) {
  const char* path = check_special_path("full", "dat");
  MPI_File file = open_full(path);
  CHECK_ERROR(MPI_File_write_at_all(file, beyond(), huge_, kHuge, MPI_BYTE, MPI_STATUS_IGNORE),
              NO_SPACE);
  /* Only one rank's part does not fit: all learn it. */
  int count = check_rank == check_size - 1 ? kHuge : 16;
  CHECK_ERROR(MPI_File_write_at_all(file, beyond(), huge_, count, MPI_BYTE, MPI_STATUS_IGNORE),
              NO_SPACE);
  check_barrier();
  close_full(file, path);
}

/* Fine-grained interleaved parts, as two-phase writes them. */
static void full_columns(void) {
  const char* path = check_special_path("full", "dat");
  MPI_File file = open_full(path);
  MPI_Datatype column;
  MPI_Type_create_resized(MPI_INT, 0, 4 * (MPI_Aint)check_size, &column);
  MPI_Type_commit(&column);
  MPI_Offset disp = (MPI_Offset)kSmall * check_size + 4 * check_rank;
  CHECK_OK(MPI_File_set_view(file, disp, MPI_INT, column, "native", MPI_INFO_NULL));
  CHECK_ERROR(MPI_File_write_all(file, huge_, kHuge / 4, MPI_INT, MPI_STATUS_IGNORE), NO_SPACE);
  CHECK_OK(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
  MPI_Type_free(&column);
  check_barrier();
  close_full(file, path);
}

static void full_posted(void) {
  const char* path = check_special_path("full", "dat");
  MPI_File file = open_full(path);
  MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  MPI_Status statuses[2];
  if (check_rank == 0) {
    int code = MPI_File_iwrite_at(file, beyond(), huge_, kHuge, MPI_BYTE, &requests[0]);
    CHECK_ERROR(check_wait(code, &requests[0], &statuses[0]), NO_SPACE);
    CHECK(requests[0] == MPI_REQUEST_NULL);
    CHECK_OK(MPI_File_iread_at(file, 0, small_, kSmall, MPI_BYTE, &requests[0]));
    code = MPI_File_iwrite_at(file, beyond(), huge_, kHuge, MPI_BYTE, &requests[1]);
    if (code == MPI_SUCCESS) {
      CHECK_ERROR(MPI_Waitall(2, requests, statuses), MPI_ERR_IN_STATUS);
      CHECK_EQ(statuses[0].MPI_ERROR, MPI_SUCCESS);
      CHECK_ERROR(statuses[1].MPI_ERROR, NO_SPACE);
      CHECK_COUNT(statuses[0], MPI_BYTE, kSmall);
    }
  }
  check_barrier();
  close_full(file, path);
}

static void full_posted_collective(void) {
  const char* path = check_special_path("full", "dat");
  MPI_File file = open_full(path);
  MPI_Request request = MPI_REQUEST_NULL;
  int code = MPI_File_iwrite_at_all(file, beyond(), huge_, kHuge, MPI_BYTE, &request);
  CHECK_ERROR(check_wait(code, &request, MPI_STATUS_IGNORE), NO_SPACE);
  check_barrier();
  close_full(file, path);
}

static void full_split_and_ordered(void) {
  const char* path = check_special_path("full", "dat");
  MPI_File file = open_full(path);
  int code = MPI_File_write_at_all_begin(file, beyond(), huge_, kHuge, MPI_BYTE);
  CHECK_ERROR(
      code == MPI_SUCCESS ? MPI_File_write_at_all_end(file, huge_, MPI_STATUS_IGNORE) : code,
      NO_SPACE);
  CHECK_OK(MPI_File_seek_shared(file, (MPI_Offset)kSmall * check_size, MPI_SEEK_SET));
  CHECK_ERROR(MPI_File_write_ordered(file, huge_, kHuge, MPI_BYTE, MPI_STATUS_IGNORE), NO_SPACE);
  check_barrier();
  close_full(file, path);
}

static void full_preallocate(void) {
  const char* path = check_special_path("full", "dat");
  MPI_File file = open_full(path);
  CHECK_ERROR(MPI_File_preallocate(file, 100 << 20), NO_SPACE);
  check_barrier();
  close_full(file, path);
}

static int try_open(const char* path, int amode) {
  MPI_File file = MPI_FILE_NULL;
  int code = MPI_File_open(MPI_COMM_WORLD, path, amode, MPI_INFO_NULL, &file);
  if (code == MPI_SUCCESS) MPI_File_close(&file);
  return code;
}

static void readonly_mount(void) {
  const char* path = check_special_path("readonly", "dat");
  CHECK_ERROR(try_open(path, MPI_MODE_RDWR), MPI_ERR_READ_ONLY, MPI_ERR_ACCESS);
  CHECK_ERROR(try_open(path, MPI_MODE_WRONLY), MPI_ERR_READ_ONLY, MPI_ERR_ACCESS);
  CHECK_ERROR(try_open(check_special_path("readonly", "new"), MPI_MODE_CREATE | MPI_MODE_WRONLY),
              MPI_ERR_READ_ONLY, MPI_ERR_ACCESS);
  CHECK_OK(try_open(path, MPI_MODE_RDONLY));
  if (check_rank == 0) {
    CHECK_ERROR(MPI_File_delete(path, MPI_INFO_NULL), MPI_ERR_READ_ONLY, MPI_ERR_ACCESS);
  }
  check_barrier();
}

/* Not as root, whom nothing is denied. */
static void permission_denied(void) {
  CHECK_ERROR(try_open(check_special_path("denied", "secret"), MPI_MODE_RDONLY), MPI_ERR_ACCESS);
  CHECK_ERROR(try_open(check_special_path("denied", "secret"), MPI_MODE_RDWR), MPI_ERR_ACCESS);
  CHECK_ERROR(try_open(check_special_path("denied", "readable"), MPI_MODE_RDWR), MPI_ERR_ACCESS,
              MPI_ERR_READ_ONLY);
  CHECK_OK(try_open(check_special_path("denied", "readable"), MPI_MODE_RDONLY));
  CHECK_ERROR(try_open(check_special_path("denied", "new"), MPI_MODE_CREATE | MPI_MODE_RDWR),
              MPI_ERR_ACCESS);
  if (check_rank == 0) {
    CHECK_ERROR(MPI_File_delete(check_special_path("denied", "readable"), MPI_INFO_NULL),
                MPI_ERR_ACCESS);
  }
  check_barrier();
}

/* The last rank alone is wrong; all return, with one verdict. */
static void one_rank_fails(void) {
  MPI_File file = check_create(check_path("dat"));
  bool wrong = check_rank == check_size - 1;
  int data[4] = {1, 2, 3, 4};
  MPI_Offset at = wrong ? -16 : 16 * check_rank;
  CHECK_ANY_ERROR(MPI_File_write_at_all(file, at, data, 4, MPI_INT, MPI_STATUS_IGNORE));
  CHECK_ANY_ERROR(MPI_File_read_at_all(file, at, data, 4, MPI_INT, MPI_STATUS_IGNORE));
  at = 16 * check_rank;
  CHECK_ANY_ERROR(
      MPI_File_write_at_all(file, at, data, wrong ? -1 : 4, MPI_INT, MPI_STATUS_IGNORE));
  CHECK_ANY_ERROR(MPI_File_write_at_all(file, at, data, 4, wrong ? MPI_DATATYPE_NULL : MPI_INT,
                                        MPI_STATUS_IGNORE));
  CHECK_ANY_ERROR(MPI_File_write_all(file, data, wrong ? -1 : 4, MPI_INT, MPI_STATUS_IGNORE));
  CHECK_ANY_ERROR(MPI_File_write_ordered(file, data, wrong ? -1 : 4, MPI_INT, MPI_STATUS_IGNORE));
  CHECK_ANY_ERROR(
      MPI_File_set_view(file, wrong ? -4 : 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
  CHECK_ANY_ERROR(MPI_File_set_size(file, wrong ? -4 : 0));
  /* The handle still works. */
  CHECK_OK(MPI_File_write_at_all(file, at, data, 4, MPI_INT, MPI_STATUS_IGNORE));
  CHECK_OK(MPI_File_close(&file));
}

static void one_rank_fails_posted(void) {
  MPI_File file = check_create(check_path("dat"));
  bool wrong = check_rank == check_size - 1;
  int data[4] = {1, 2, 3, 4};
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Offset at = wrong ? -16 : 16 * check_rank;
  /* Posted accesses meet nobody: who is wrong hears of it, the others are not held up. */
  int code = MPI_File_iwrite_at_all(file, at, data, 4, MPI_INT, &request);
  code = check_wait(code, &request, MPI_STATUS_IGNORE);
  CHECK_EQ(code != MPI_SUCCESS, wrong);
  code = MPI_File_write_at_all_begin(file, at, data, 4, MPI_INT);
  CHECK_ANY_ERROR(code == MPI_SUCCESS ? MPI_File_write_at_all_end(file, data, MPI_STATUS_IGNORE)
                                      : code);
  CHECK_OK(MPI_File_write_at_all(file, 16 * check_rank, data, 4, MPI_INT, MPI_STATUS_IGNORE));
  CHECK_OK(MPI_File_close(&file));
}

/* The last rank alone names a file that is not there. */
static void one_rank_fails_open(void) {
  check_make_file(check_path("dat"), "keep", 4);
  bool wrong = check_rank == check_size - 1;
  CHECK_ANY_ERROR(try_open(wrong ? check_path("missing") : check_path("dat"), MPI_MODE_RDWR));
  CHECK_FILE(check_path("dat"), "keep", 4);
}

const struct Subtest failure_subtests[] = {
    {"one_rank_fails", one_rank_fails, CHECK_ALWAYS},
    {"one_rank_fails_posted", one_rank_fails_posted, CHECK_ALWAYS},
    {"one_rank_fails_open", one_rank_fails_open, CHECK_ALWAYS},
    {"full_independent", full_independent, CHECK_NAMED},
    {"full_collective", full_collective, CHECK_NAMED},
    {"full_columns", full_columns, CHECK_NAMED},
    {"full_posted", full_posted, CHECK_NAMED},
    {"full_posted_collective", full_posted_collective, CHECK_NAMED},
    {"full_split_and_ordered", full_split_and_ordered, CHECK_NAMED},
    {"full_preallocate", full_preallocate, CHECK_NAMED},
    {"readonly_mount", readonly_mount, CHECK_NAMED},
    {"permission_denied", permission_denied, CHECK_NAMED},
    {0},
};
