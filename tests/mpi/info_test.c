/* Hints: given at open, with a view, or later; asked back. */
#include <stdio.h>
#include <stdlib.h>

#include "suite.h"

static bool info_has(MPI_Info info, const char* key, char* value) {
  int found = 0;
  MPI_Info_get(info, key, MPI_MAX_INFO_VAL, value, &found);
  return found != 0;
}

/* A hint that comes back at all has the given value; preloaded it must come back. */
static void expect_hint(MPI_File file, const char* key, const char* expected) {
  MPI_Info info = MPI_INFO_NULL;
  char value[MPI_MAX_INFO_VAL + 1] = "";
  CHECK_OK(MPI_File_get_info(file, &info));
  if (info == MPI_INFO_NULL) return;
  bool found = info_has(info, key, value);
  if (check_preloaded() && !found) check_failed(__FILE__, __LINE__, "hint %s is not given", key);
  if (found && strcmp(value, expected) != 0) {
    check_failed(__FILE__, __LINE__, "hint %s is %s, expected %s", key, value, expected);
  }
  MPI_Info_free(&info);
}

static MPI_File open_with(MPI_Info info) {
  MPI_File file = MPI_FILE_NULL;
  CHECK_OK(MPI_File_open(MPI_COMM_WORLD, check_path("dat"), MPI_MODE_CREATE | MPI_MODE_RDWR, info,
                         &file));
  return file;
}

static void info_at_open(void) {
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "cb_buffer_size", "2097152");
  MPI_Info_set(info, "cb_nodes", "1");
  MPI_Info_set(info, "ind_rd_buffer_size", "131072");
  MPI_Info_set(info, "ind_wr_buffer_size", "65536");
  MPI_Info_set(info, "romio_ds_write", "disable");
  MPI_Info_set(info, "no_such_hint", "whatever");
  MPI_File file = open_with(info);
  MPI_Info_free(&info);
  expect_hint(file, "cb_buffer_size", "2097152");
  expect_hint(file, "cb_nodes", "1");
  expect_hint(file, "ind_rd_buffer_size", "131072");
  expect_hint(file, "ind_wr_buffer_size", "65536");
  expect_hint(file, "romio_ds_write", "disable");
  CHECK_OK(MPI_File_write_ordered(file, &check_rank, 1, MPI_INT, MPI_STATUS_IGNORE));
  CHECK_OK(MPI_File_close(&file));
}

/* Values that make no sense are ignored. */
static void info_nonsense(void) {
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "cb_buffer_size", "banana");
  MPI_Info_set(info, "cb_nodes", "-3");
  MPI_Info_set(info, "ind_rd_buffer_size", "0");
  MPI_Info_set(info, "access_style", "read_once,sequential");
  MPI_Info_set(info, "collective_buffering", "true");
  MPI_Info_set(info, "romio_cb_write", "perhaps");
  MPI_File file = open_with(info);
  MPI_Info_free(&info);
  CHECK_OK(MPI_File_write_ordered(file, &check_rank, 1, MPI_INT, MPI_STATUS_IGNORE));
  int found = -1;
  CHECK_OK(MPI_File_read_at_all(file, 4 * check_rank, &found, 1, MPI_INT, MPI_STATUS_IGNORE));
  CHECK_EQ(found, check_rank);
  CHECK_OK(MPI_File_close(&file));
}

static void info_set_later(void) {
  MPI_File file = open_with(MPI_INFO_NULL);
  MPI_Info info;
  CHECK_OK(MPI_File_get_info(file, &info));
  CHECK(info != MPI_INFO_NULL);
  MPI_Info_free(&info);
  MPI_Info_create(&info);
  MPI_Info_set(info, "ind_rd_buffer_size", "262144");
  CHECK_OK(MPI_File_set_info(file, info));
  expect_hint(file, "ind_rd_buffer_size", "262144");
  MPI_Info_set(info, "ind_rd_buffer_size", "524288");
  CHECK_OK(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", info));
  expect_hint(file, "ind_rd_buffer_size", "524288");
  MPI_Info_free(&info);
  CHECK_OK(MPI_File_set_info(file, MPI_INFO_NULL));
  expect_hint(file, "ind_rd_buffer_size", "524288");
  CHECK_OK(MPI_File_write_at_all(file, check_rank, &check_rank, 1, MPI_INT, MPI_STATUS_IGNORE));
  CHECK_OK(MPI_File_close(&file));
}

/* Each way to force an engine writes the same file. */
static void info_engines(void) {
  static const char* const kHints[][2] = {
      {"romio_cb_write", "enable"},
      {"romio_cb_write", "disable"},
      {"romio_ds_write", "enable"},
      {"romio_ds_write", "disable"},
      {"cb_nodes", "1"},
      {"cb_buffer_size", "4096"},
      {"romio_no_indep_rw", "true"},
      {"cb_config_list", "*:1"},
  };
  MPI_Datatype filetype, mine;
  MPI_Type_vector(200, 3, 3 * check_size, MPI_INT, &mine);
  MPI_Type_create_resized(mine, 0, 200 * 12 * (MPI_Aint)check_size, &filetype);
  MPI_Type_commit(&filetype);
  int data[1200], found[1200];
  for (int i = 0; i < 1200; ++i) data[i] = 10000 * check_rank + i;
  for (size_t i = 0; i < sizeof kHints / sizeof *kHints; ++i) {
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, kHints[i][0], kHints[i][1]);
    MPI_File file = MPI_FILE_NULL;
    char name[8];
    snprintf(name, sizeof name, "%zu", i);
    CHECK_OK(MPI_File_open(MPI_COMM_WORLD, check_path(name), MPI_MODE_CREATE | MPI_MODE_RDWR, info,
                           &file));
    MPI_Info_free(&info);
    CHECK_OK(MPI_File_set_view(file, 12 * check_rank, MPI_INT, filetype, "native", MPI_INFO_NULL));
    CHECK_OK(MPI_File_write_all(file, data, 1200, MPI_INT, MPI_STATUS_IGNORE));
    memset(found, 0xff, sizeof found);
    CHECK_OK(MPI_File_read_at_all(file, 0, found, 1200, MPI_INT, MPI_STATUS_IGNORE));
    CHECK_BYTES(found, data, sizeof data);
    CHECK_OK(MPI_File_close(&file));
  }
  MPI_Type_free(&mine);
  MPI_Type_free(&filetype);
}

/* Ranks may give different hints, at open and with a view: nobody waits for a meeting that others
 * do not come to, and of hints by which all must go everybody sees the value of the first rank. */
static void info_of_some_ranks(void) {
  const int last = check_size - 1;
  int data[100], found[100];
  for (int writer = 0; writer <= last; writer += check_size > 1 ? last : 1) {
    MPI_Info info = MPI_INFO_NULL;
    if (check_rank == writer) {
      MPI_Info_create(&info);
      MPI_Info_set(info, "tessera_replicated", "true");
      MPI_Info_set(info, "tessera_cache", "on");
    }
    MPI_File file = open_with(info);
    if (info != MPI_INFO_NULL) MPI_Info_free(&info);
    if (check_preloaded()) {
      expect_hint(file, "tessera_replicated", writer == 0 ? "true" : "false");
      expect_hint(file, "tessera_cache", writer == 0 ? "on" : "off");
    }
    for (int i = 0; i < 100; ++i) data[i] = 1000 * check_rank + i;
    if (check_rank % 2 == 0) {
      MPI_Info_create(&info);
      MPI_Info_set(info, "ind_rd_buffer_size", "262144");
    }
    CHECK_OK(MPI_File_set_view(file, 400 * check_rank, MPI_INT, MPI_INT, "native", info));
    if (info != MPI_INFO_NULL) MPI_Info_free(&info);
    CHECK_OK(MPI_File_write_all(file, data, 100, MPI_INT, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_File_read_at_all(file, 0, found, 100, MPI_INT, MPI_STATUS_IGNORE));
    CHECK_BYTES(found, data, sizeof data);
    CHECK_OK(MPI_File_close(&file));
  }
}

const struct Subtest info_subtests[] = {
    {"info_at_open", info_at_open, CHECK_ALWAYS},
    {"info_nonsense", info_nonsense, CHECK_ALWAYS},
    {"info_set_later", info_set_later, CHECK_ALWAYS},
    {"info_of_some_ranks", info_of_some_ranks, CHECK_ALWAYS},
    {"info_engines", info_engines, CHECK_ALWAYS},
    {0},
};
