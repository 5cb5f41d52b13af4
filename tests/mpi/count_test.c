/* The procedures with large counts, each once with a small one. */
#include "suite.h"

#if MPI_VERSION >= 4

enum { kInts = 50 };

static MPI_File file_;
static int data_[kInts];
static int found_[kInts];
static MPI_Status status_;
static MPI_Request request_;

/* A file of one part a rank and step, seen in ints. */
static void start(void) {
  file_ = check_create(check_path("dat"));
  CHECK_OK(MPI_File_set_view(file_, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
}

static MPI_Offset place(int step) { return (MPI_Offset)kInts * (step * check_size + check_rank); }

static void prepare(int step) {
  for (int i = 0; i < kInts; ++i) data_[i] = 10000 * step + 100 * check_rank + i;
  memset(found_, 0xff, sizeof found_);
}

static void wait_for_it(void) { CHECK_OK(MPI_Wait(&request_, &status_)); }

static void expect_written(void) {
  MPI_Count count = -1;
  MPI_Get_count_c(&status_, MPI_INT, &count);
  CHECK_EQ(count, kInts);
}

static void expect_read(void) {
  expect_written();
  CHECK_BYTES(found_, data_, sizeof data_);
}

static void count_explicit(void) {
  start();
  prepare(0);
  CHECK_OK(MPI_File_write_at_c(file_, place(0), data_, kInts, MPI_INT, &status_));
  expect_written();
  CHECK_OK(MPI_File_read_at_c(file_, place(0), found_, kInts, MPI_INT, &status_));
  expect_read();
  prepare(1);
  CHECK_OK(MPI_File_write_at_all_c(file_, place(1), data_, kInts, MPI_INT, &status_));
  expect_written();
  CHECK_OK(MPI_File_read_at_all_c(file_, place(1), found_, kInts, MPI_INT, &status_));
  expect_read();
  prepare(2);
  CHECK_OK(MPI_File_iwrite_at_c(file_, place(2), data_, kInts, MPI_INT, &request_));
  wait_for_it();
  expect_written();
  CHECK_OK(MPI_File_iread_at_c(file_, place(2), found_, kInts, MPI_INT, &request_));
  wait_for_it();
  expect_read();
  prepare(3);
  CHECK_OK(MPI_File_iwrite_at_all_c(file_, place(3), data_, kInts, MPI_INT, &request_));
  wait_for_it();
  expect_written();
  CHECK_OK(MPI_File_iread_at_all_c(file_, place(3), found_, kInts, MPI_INT, &request_));
  wait_for_it();
  expect_read();
  CHECK_OK(MPI_File_close(&file_));
}

static void go_to(int step) { CHECK_OK(MPI_File_seek(file_, place(step), MPI_SEEK_SET)); }

static void count_pointer(void) {
  start();
  prepare(0);
  go_to(0);
  CHECK_OK(MPI_File_write_c(file_, data_, kInts, MPI_INT, &status_));
  expect_written();
  go_to(0);
  CHECK_OK(MPI_File_read_c(file_, found_, kInts, MPI_INT, &status_));
  expect_read();
  prepare(1);
  go_to(1);
  CHECK_OK(MPI_File_write_all_c(file_, data_, kInts, MPI_INT, &status_));
  expect_written();
  go_to(1);
  CHECK_OK(MPI_File_read_all_c(file_, found_, kInts, MPI_INT, &status_));
  expect_read();
  prepare(2);
  go_to(2);
  CHECK_OK(MPI_File_iwrite_c(file_, data_, kInts, MPI_INT, &request_));
  wait_for_it();
  go_to(2);
  CHECK_OK(MPI_File_iread_c(file_, found_, kInts, MPI_INT, &request_));
  wait_for_it();
  expect_read();
  prepare(3);
  go_to(3);
  CHECK_OK(MPI_File_iwrite_all_c(file_, data_, kInts, MPI_INT, &request_));
  wait_for_it();
  go_to(3);
  CHECK_OK(MPI_File_iread_all_c(file_, found_, kInts, MPI_INT, &request_));
  wait_for_it();
  expect_read();
  CHECK_OK(MPI_File_close(&file_));
}

/* Shared access in turns, so that the file is the same each time. */
static void count_shared(void) {
  start();
  prepare(0);
  CHECK_OK(MPI_File_write_ordered_c(file_, data_, kInts, MPI_INT, &status_));
  expect_written();
  CHECK_OK(MPI_File_seek_shared(file_, 0, MPI_SEEK_SET));
  CHECK_OK(MPI_File_read_ordered_c(file_, found_, kInts, MPI_INT, &status_));
  expect_read();
  for (int turn = 0; turn < 2 * check_size; ++turn) {
    check_barrier();
    if (turn % check_size != check_rank) continue;
    if (turn < check_size) {
      CHECK_OK(MPI_File_write_shared_c(file_, data_, kInts, MPI_INT, &status_));
    } else {
      CHECK_OK(MPI_File_iwrite_shared_c(file_, data_, kInts, MPI_INT, &request_));
      wait_for_it();
    }
    expect_written();
  }
  check_barrier();
  CHECK_OK(MPI_File_seek_shared(file_, place(1) - kInts * check_rank, MPI_SEEK_SET));
  for (int turn = 0; turn < 2 * check_size; ++turn) {
    check_barrier();
    if (turn % check_size != check_rank) continue;
    prepare(0);
    if (turn < check_size) {
      CHECK_OK(MPI_File_read_shared_c(file_, found_, kInts, MPI_INT, &status_));
    } else {
      CHECK_OK(MPI_File_iread_shared_c(file_, found_, kInts, MPI_INT, &request_));
      wait_for_it();
    }
    expect_read();
  }
  CHECK_OK(MPI_File_close(&file_));
}

static void count_split(void) {
  start();
  prepare(0);
  CHECK_OK(MPI_File_write_at_all_begin_c(file_, place(0), data_, kInts, MPI_INT));
  CHECK_OK(MPI_File_write_at_all_end(file_, data_, &status_));
  expect_written();
  CHECK_OK(MPI_File_read_at_all_begin_c(file_, place(0), found_, kInts, MPI_INT));
  CHECK_OK(MPI_File_read_at_all_end(file_, found_, &status_));
  expect_read();
  prepare(1);
  go_to(1);
  CHECK_OK(MPI_File_write_all_begin_c(file_, data_, kInts, MPI_INT));
  CHECK_OK(MPI_File_write_all_end(file_, data_, &status_));
  expect_written();
  go_to(1);
  CHECK_OK(MPI_File_read_all_begin_c(file_, found_, kInts, MPI_INT));
  CHECK_OK(MPI_File_read_all_end(file_, found_, &status_));
  expect_read();
  prepare(2);
  CHECK_OK(MPI_File_write_ordered_begin_c(file_, data_, kInts, MPI_INT));
  CHECK_OK(MPI_File_write_ordered_end(file_, data_, &status_));
  expect_written();
  CHECK_OK(MPI_File_seek_shared(file_, 0, MPI_SEEK_SET));
  CHECK_OK(MPI_File_read_ordered_begin_c(file_, found_, kInts, MPI_INT));
  CHECK_OK(MPI_File_read_ordered_end(file_, found_, &status_));
  expect_read();
  CHECK_OK(MPI_File_close(&file_));
}

static int extent_of(MPI_Datatype type, MPI_Aint* extent, void* state) {
  MPI_Aint lb;
  (void)state;
  return MPI_Type_get_extent(type, &lb, extent);
}

static void count_queries(void) {
  start();
  MPI_Count extent = -1;
  CHECK_OK(MPI_File_get_type_extent_c(file_, MPI_DOUBLE, &extent));
  CHECK_EQ(extent, 8);
  int code = MPI_Register_datarep_c("tessera count test", MPI_CONVERSION_FN_NULL_C,
                                    MPI_CONVERSION_FN_NULL_C, extent_of, NULL);
  if (code != MPI_SUCCESS) {
    CHECK_ERROR(code, MPI_ERR_UNSUPPORTED_DATAREP, MPI_ERR_CONVERSION, MPI_ERR_OTHER);
  }
  CHECK_OK(MPI_File_close(&file_));
}

const struct Subtest count_subtests[] = {
    {"count_explicit", count_explicit, CHECK_ALWAYS},
    {"count_pointer", count_pointer, CHECK_ALWAYS},
    {"count_shared", count_shared, CHECK_ALWAYS},
    {"count_split", count_split, CHECK_ALWAYS},
    {"count_queries", count_queries, CHECK_ALWAYS},
    {0},
};

#else

const struct Subtest count_subtests[] = {{0}};

#endif
