/* Opening, closing and deleting; several handles at once. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "suite.h"

/* Communicators that were made by splitting one. Whoever is preloaded finds these functions before
 * those of the MPI. */
static int splits_;

int PMPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm* made) {
  int (*next)(MPI_Comm, int, int, MPI_Comm*) = NULL;
  *(void**)&next = dlsym(RTLD_NEXT, "PMPI_Comm_split");
  ++splits_;
  return next(comm, color, key, made);
}

int PMPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm* made) {
  int (*next)(MPI_Comm, int, int, MPI_Info, MPI_Comm*) = NULL;
  *(void**)&next = dlsym(RTLD_NEXT, "PMPI_Comm_split_type");
  ++splits_;
  return next(comm, type, key, info, made);
}

/* Making a communicator takes longer than all else that a first open does: one is enough for the
 * ranks of a node. */
static void open_makes_one_communicator(void) {
  MPI_Comm comm;
  CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
  const int before = splits_;
  MPI_File file = check_open(comm, check_path("dat"), MPI_MODE_CREATE | MPI_MODE_RDWR);
  if (check_preloaded() && check_size > 1 && getenv("TESSERA_FAKE_NODES") == NULL) {
    CHECK_EQ(splits_ - before, 1);
  }
  CHECK_OK(MPI_File_close(&file));
  CHECK_OK(MPI_Comm_free(&comm));
}

static void open_create(void) {
  const char* path = check_path("dat");
  MPI_File file = check_create(path);
  CHECK(file != MPI_FILE_NULL);
  int amode = 0;
  CHECK_OK(MPI_File_get_amode(file, &amode));
  CHECK_EQ(amode, MPI_MODE_CREATE | MPI_MODE_RDWR);
  MPI_Group ours, worlds;
  int result = MPI_UNEQUAL;
  CHECK_OK(MPI_File_get_group(file, &ours));
  MPI_Comm_group(MPI_COMM_WORLD, &worlds);
  MPI_Group_compare(ours, worlds, &result);
  CHECK_EQ(result, MPI_IDENT);
  MPI_Group_free(&ours);
  MPI_Group_free(&worlds);
  MPI_Offset size = -1;
  CHECK_OK(MPI_File_get_size(file, &size));
  CHECK_EQ(size, 0);
  CHECK_OK(MPI_File_close(&file));
  CHECK(file == MPI_FILE_NULL);
  CHECK_FILE(path, "", 0);
  file = check_open(MPI_COMM_WORLD, path, MPI_MODE_RDONLY);
  CHECK_OK(MPI_File_get_amode(file, &amode));
  CHECK_EQ(amode, MPI_MODE_RDONLY);
  CHECK_OK(MPI_File_close(&file));
}

static int try_open(const char* path, int amode) {
  MPI_File file = MPI_FILE_NULL;
  int code = MPI_File_open(MPI_COMM_WORLD, path, amode, MPI_INFO_NULL, &file);
  if (code == MPI_SUCCESS) MPI_File_close(&file);
  return code;
}

static void open_errors(void) {
  const char* present = check_path("present");
  check_make_file(present, "keep", 4);
  CHECK_ERROR(try_open(check_path("missing"), MPI_MODE_RDONLY), MPI_ERR_NO_SUCH_FILE);
  CHECK_ERROR(try_open(check_path("missing"), MPI_MODE_RDWR), MPI_ERR_NO_SUCH_FILE);
  CHECK_ERROR(try_open(check_path("no/such/dir"), MPI_MODE_CREATE | MPI_MODE_RDWR),
              MPI_ERR_NO_SUCH_FILE);
  CHECK_ERROR(try_open(present, MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_RDWR),
              MPI_ERR_FILE_EXISTS);
  CHECK_ANY_ERROR(try_open(check_path("present/below"), MPI_MODE_CREATE | MPI_MODE_RDWR));
  CHECK_ANY_ERROR(try_open(check_path("present/below"), MPI_MODE_RDONLY));
  char name[600];
  snprintf(name, sizeof name, "%s%0300d", present, 1);
  CHECK_ANY_ERROR(try_open(name, MPI_MODE_CREATE | MPI_MODE_RDWR));
  CHECK_FILE(present, "keep", 4);
  CHECK_EQ(check_file_size(check_path("missing")), -1);
}

static void open_directory(void) {
  char directory[1024];
  snprintf(directory, sizeof directory, "%s", check_path("x"));
  *strrchr(directory, '/') = '\0';
  CHECK_ANY_ERROR(try_open(directory, MPI_MODE_RDWR));
  CHECK_ANY_ERROR(try_open(directory, MPI_MODE_CREATE | MPI_MODE_WRONLY));
}

static void open_bad_modes(void) {
  const char* path = check_path("dat");
  static const int kBad[] = {
      0,
      MPI_MODE_CREATE,
      MPI_MODE_RDONLY | MPI_MODE_RDWR,
      MPI_MODE_RDONLY | MPI_MODE_WRONLY,
      MPI_MODE_WRONLY | MPI_MODE_RDWR,
      MPI_MODE_RDONLY | MPI_MODE_CREATE,
      MPI_MODE_RDONLY | MPI_MODE_EXCL,
      MPI_MODE_RDWR | MPI_MODE_SEQUENTIAL,
  };
  check_make_file(path, "keep", 4);
  for (size_t i = 0; i < sizeof kBad / sizeof *kBad; ++i) {
    CHECK_ERROR(try_open(path, kBad[i]), MPI_ERR_AMODE);
  }
  CHECK_FILE(path, "keep", 4);
}

/* Erroneous, but every rank learns it. */
static void open_modes_differ(void) {
  const char* path = check_path("dat");
  check_make_file(path, "keep", 4);
  int amode = check_rank == 0 ? MPI_MODE_RDWR : MPI_MODE_RDONLY;
  int code = try_open(path, amode);
  if (check_size > 1) CHECK_ERROR(code, MPI_ERR_NOT_SAME, MPI_ERR_AMODE);
  CHECK_FILE(path, "keep", 4);
}

static void delete_file(void) {
  const char* path = check_path("gone");
  check_make_file(path, "x", 1);
  if (check_rank == 0) {
    CHECK_OK(MPI_File_delete(path, MPI_INFO_NULL));
    CHECK_EQ(check_file_size(path), -1);
    CHECK_ERROR(MPI_File_delete(path, MPI_INFO_NULL), MPI_ERR_NO_SUCH_FILE);
    CHECK_ERROR(MPI_File_delete(check_path("no/such"), MPI_INFO_NULL), MPI_ERR_NO_SUCH_FILE);
  }
  check_barrier();
}

static void delete_on_close(void) {
  const char* path = check_path("gone");
  MPI_File file =
      check_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
  int amode = 0;
  CHECK_OK(MPI_File_get_amode(file, &amode));
  CHECK_EQ(amode, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
  char data = 'x';
  MPI_Status status;
  CHECK_OK(MPI_File_write_at_all(file, check_rank, &data, 1, MPI_CHAR, &status));
  CHECK(check_file_size(path) >= 0);
  check_barrier();
  CHECK_OK(MPI_File_close(&file));
  check_barrier();
  CHECK_EQ(check_file_size(path), -1);
}

static void open_exclusive(void) {
  const char* path = check_path("dat");
  check_remove(path);
  MPI_File file =
      check_open(MPI_COMM_WORLD, path,
                 MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_WRONLY | MPI_MODE_UNIQUE_OPEN);
  int value = check_rank + 1;
  CHECK_OK(MPI_File_write_at(file, 4 * check_rank, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
  CHECK_OK(MPI_File_close(&file));
  int expected[64];
  for (int i = 0; i < check_size; ++i) expected[i] = i + 1;
  CHECK_FILE(path, expected, 4 * (size_t)check_size);
}

/* Opening never truncates. */
static void open_keeps_contents(void) {
  const char* path = check_path("dat");
  check_make_file(path, "0123456789", 10);
  MPI_File file = check_create(path);
  CHECK_OK(MPI_File_close(&file));
  file = check_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_WRONLY);
  if (check_rank == 0) {
    CHECK_OK(MPI_File_write_at(file, 3, "abc", 3, MPI_CHAR, MPI_STATUS_IGNORE));
  }
  CHECK_OK(MPI_File_close(&file));
  CHECK_FILE(path, "012abc6789", 10);
}

/* Two handles of one file have their own views, pointers and modes. */
static void open_twice(void) {
  const char* path = check_path("dat");
  MPI_File one = check_create(path);
  MPI_File two = check_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR);
  CHECK_OK(MPI_File_set_view(two, 8, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
  int data[2] = {10 * check_rank, 10 * check_rank + 1};
  CHECK_OK(MPI_File_write_ordered(one, data, 2, MPI_INT, MPI_STATUS_IGNORE));
  CHECK_OK(MPI_File_sync(one));
  check_barrier();
  CHECK_OK(MPI_File_sync(two));
  MPI_Offset first = -1, second = -1;
  CHECK_OK(MPI_File_get_position_shared(one, &first));
  CHECK_OK(MPI_File_get_position_shared(two, &second));
  CHECK_EQ(first, 8 * check_size);
  CHECK_EQ(second, 0);
  int found[2] = {-1, -1};
  MPI_Status status;
  CHECK_OK(MPI_File_read_at(two, 0, found, 2, MPI_INT, &status));
  CHECK_COUNT(status, MPI_INT, check_size > 1 ? 2 : 0);
  CHECK_EQ(found[1], check_size > 1 ? 11 : -1);
  CHECK_OK(MPI_File_close(&one));
  CHECK_OK(MPI_File_read_at(two, 0, found, 1, MPI_INT, &status));
  CHECK_COUNT(status, MPI_INT, check_size > 1 ? 1 : 0);
  CHECK_OK(MPI_File_close(&two));
}

/* Handles of MPI_COMM_SELF beside one of the world. */
static void open_self(void) {
  const char* path = check_path("dat");
  MPI_File world = check_create(path);
  MPI_File self = check_open(MPI_COMM_SELF, path, MPI_MODE_RDWR);
  MPI_Group group;
  int members = 0;
  CHECK_OK(MPI_File_get_group(self, &group));
  MPI_Group_size(group, &members);
  CHECK_EQ(members, 1);
  MPI_Group_free(&group);
  unsigned char data[100], found[100];
  check_fill(data, sizeof data, (unsigned)check_rank);
  CHECK_OK(MPI_File_write_at_all(self, 100 * check_rank, data, 100, MPI_BYTE, MPI_STATUS_IGNORE));
  CHECK_OK(MPI_File_close(&self));
  check_barrier();
  CHECK_OK(MPI_File_sync(world));
  int next = (check_rank + 1) % check_size;
  MPI_Status status;
  CHECK_OK(MPI_File_read_at_all(world, 100 * next, found, 100, MPI_BYTE, &status));
  CHECK_COUNT(status, MPI_BYTE, 100);
  check_fill(data, sizeof data, (unsigned)next);
  CHECK_BYTES(found, data, 100);
  CHECK_OK(MPI_File_close(&world));
}

/* Files of the halves of the world beside a file of the whole, ranks in reverse. */
static void open_halves(void) {
  MPI_Comm half;
  MPI_Comm_split(MPI_COMM_WORLD, check_rank % 2, -check_rank, &half);
  int rank = 0, size = 0;
  MPI_Comm_rank(half, &rank);
  MPI_Comm_size(half, &size);
  const char* path = check_path(check_rank % 2 ? "odd" : "even");
  MPI_File world = check_create(check_path("world"));
  MPI_File file = check_open(half, path, MPI_MODE_CREATE | MPI_MODE_RDWR);
  MPI_Comm_free(&half);
  int found = -1;
  MPI_Status status;
  CHECK_OK(MPI_File_write_at_all(file, 4 * rank, &check_rank, 1, MPI_INT, &status));
  CHECK_COUNT(status, MPI_INT, 1);
  CHECK_OK(MPI_File_write_ordered(world, &check_rank, 1, MPI_INT, &status));
  CHECK_OK(MPI_File_read_at_all(file, 4 * (size - 1 - rank), &found, 1, MPI_INT, &status));
  CHECK_EQ(found, check_rank % 2 + 2 * rank);
  CHECK_OK(MPI_File_read_at_all(world, 4 * check_rank, &found, 1, MPI_INT, &status));
  CHECK_EQ(found, check_rank);
  CHECK_OK(MPI_File_close(&file));
  CHECK_OK(MPI_File_close(&world));
}

enum { kMany = 40 };

static void open_many(void) {
  MPI_File files[kMany];
  for (int i = 0; i < kMany; ++i) {
    char name[16];
    snprintf(name, sizeof name, "%02d", i);
    files[i] = check_create(check_path(name));
  }
  for (int i = 0; i < kMany; ++i) {
    int value = 1000 * i + check_rank;
    CHECK_OK(MPI_File_write_at(files[i], 4 * check_rank, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
  }
  for (int i = kMany - 1; i >= 0; --i) {
    int value = -1;
    CHECK_OK(MPI_File_read_at(files[i], 4 * check_rank, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
    CHECK_EQ(value, 1000 * i + check_rank);
  }
  for (int i = 0; i < kMany; ++i) CHECK_OK(MPI_File_close(&files[(i * 7) % kMany]));
}

/* Nothing is used up by opening and closing: descriptors, communicators, handles. */
static void open_often(void) {
  const char* path = check_path("dat");
  check_make_file(path, "often", 5);
  for (int i = 0; i < 300; ++i) {
    MPI_File file = check_open(MPI_COMM_SELF, path, MPI_MODE_RDONLY);
    char found[5];
    MPI_Status status;
    CHECK_OK(MPI_File_read(file, found, 5, MPI_CHAR, &status));
    CHECK_COUNT(status, MPI_CHAR, 5);
    CHECK_OK(MPI_File_close(&file));
  }
}

static void file_handles_fortran(void) {
  MPI_File file = check_create(check_path("dat"));
  MPI_File other = check_create(check_path("other"));
  MPI_Fint number = MPI_File_c2f(file);
  CHECK(MPI_File_f2c(number) == file);
  CHECK(MPI_File_c2f(other) != number);
  CHECK(MPI_File_f2c(MPI_File_c2f(MPI_FILE_NULL)) == MPI_FILE_NULL);
  int value = check_rank;
  CHECK_OK(MPI_File_write_at(MPI_File_f2c(number), 4 * check_rank, &value, 1, MPI_INT,
                             MPI_STATUS_IGNORE));
  CHECK_OK(MPI_File_close(&other));
  CHECK_OK(MPI_File_close(&file));
}

static void bad_handles(void) {
  MPI_File none = MPI_FILE_NULL;
  int amode;
  MPI_Offset offset;
  char byte = 0;
  CHECK_ERROR(MPI_File_close(&none), MPI_ERR_FILE, MPI_ERR_ARG);
  CHECK_ERROR(MPI_File_get_amode(none, &amode), MPI_ERR_FILE, MPI_ERR_ARG);
  CHECK_ERROR(MPI_File_get_size(none, &offset), MPI_ERR_FILE, MPI_ERR_ARG);
  CHECK_ERROR(MPI_File_read(none, &byte, 1, MPI_BYTE, MPI_STATUS_IGNORE), MPI_ERR_FILE,
              MPI_ERR_ARG);
  CHECK_ERROR(MPI_File_write_at_all(none, 0, &byte, 1, MPI_BYTE, MPI_STATUS_IGNORE), MPI_ERR_FILE,
              MPI_ERR_ARG);
}

/* Erroneous, yet programs do it; MPI_Finalize must end all the same. */
static void finalize_open(void) {
  MPI_File file = check_create(check_path("dat"));
  int value = check_rank;
  CHECK_OK(MPI_File_write_at_all(file, 4 * check_rank, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
}

const struct Subtest open_subtests[] = {
    {"open_create", open_create, CHECK_ALWAYS},
    {"open_errors", open_errors, CHECK_ALWAYS},
    {"open_makes_one_communicator", open_makes_one_communicator, CHECK_ALWAYS},
    {"open_directory", open_directory, CHECK_ALWAYS},
    {"open_bad_modes", open_bad_modes, CHECK_ALWAYS},
    {"open_modes_differ", open_modes_differ, CHECK_ALWAYS},
    {"delete_file", delete_file, CHECK_ALWAYS},
    {"delete_on_close", delete_on_close, CHECK_ALWAYS},
    {"open_exclusive", open_exclusive, CHECK_ALWAYS},
    {"open_keeps_contents", open_keeps_contents, CHECK_ALWAYS},
    {"open_twice", open_twice, CHECK_ALWAYS},
    {"open_self", open_self, CHECK_ALWAYS},
    {"open_halves", open_halves, CHECK_ALWAYS},
    {"open_many", open_many, CHECK_ALWAYS},
    {"open_often", open_often, CHECK_ALWAYS},
    {"file_handles_fortran", file_handles_fortran, CHECK_ALWAYS},
    {"bad_handles", bad_handles, CHECK_ALWAYS},
    {"finalize_open", finalize_open, CHECK_NAMED},
    {0},
};
