/* Error handlers: of a file, of MPI_FILE_NULL, user-defined. */
#include <stdio.h>

#include "suite.h"

static int calls_;
static MPI_File called_with_;
static int called_class_;

static void handler(MPI_File* file, int* code, ...) {
  ++calls_;
  called_with_ = *file;
  MPI_Error_class(*code, &called_class_);
}

static void expect_call(MPI_File file, int class) {
  CHECK_EQ(calls_, 1);
  CHECK(called_with_ == file);
  CHECK_EQ(called_class_, class);
  calls_ = 0;
}

static MPI_File create_null(const char* path) {
  MPI_File file = MPI_FILE_NULL;
  MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
  return file;
}

static void errhandler_default(void) {
  MPI_File file = check_create(check_path("dat"));
  MPI_Errhandler found = MPI_ERRHANDLER_NULL;
  CHECK_OK(MPI_File_get_errhandler(file, &found));
  CHECK(found == MPI_ERRORS_RETURN);
  CHECK_OK(MPI_File_get_errhandler(MPI_FILE_NULL, &found));
  CHECK(found == MPI_ERRORS_RETURN);
  CHECK_OK(MPI_File_close(&file));
}

/* Each handle that is answered can be freed, those of predefined handlers too. */
static void errhandler_handles(void) {
  MPI_File file = check_create(check_path("dat"));
  for (int round = 0; round < 8; ++round) {
    MPI_Errhandler found = MPI_ERRHANDLER_NULL;
    CHECK_OK(MPI_File_get_errhandler(round % 2 == 0 ? file : MPI_FILE_NULL, &found));
    CHECK(found == MPI_ERRORS_RETURN);
    CHECK_OK(MPI_Errhandler_free(&found));
    CHECK(found == MPI_ERRHANDLER_NULL);
  }
  CHECK_OK(MPI_File_close(&file));
}

static void errhandler_null(void) {
  MPI_File file = check_create(check_path("dat"));
  CHECK_ANY_ERROR(MPI_File_set_errhandler(file, MPI_ERRHANDLER_NULL));
  CHECK_ANY_ERROR(MPI_File_seek(file, -1, MPI_SEEK_SET));
  CHECK_OK(MPI_File_close(&file));
}

static void errhandler_user(void) {
  MPI_Errhandler mine, found = MPI_ERRHANDLER_NULL;
  CHECK_OK(MPI_File_create_errhandler(handler, &mine));
  MPI_File file = check_create(check_path("dat"));
  MPI_File other = check_create(check_path("other"));
  CHECK_OK(MPI_File_set_errhandler(file, mine));
  CHECK_OK(MPI_File_get_errhandler(file, &found));
  CHECK(found == mine);
  CHECK_OK(MPI_Errhandler_free(&found));
  calls_ = 0;
  CHECK_ERROR(MPI_File_seek(file, -1, MPI_SEEK_SET), MPI_ERR_ARG);
  expect_call(file, MPI_ERR_ARG);
  char byte = 0;
  CHECK_ANY_ERROR(MPI_File_read_at(file, -1, &byte, 1, MPI_BYTE, MPI_STATUS_IGNORE));
  expect_call(file, MPI_ERR_ARG);
  CHECK_ANY_ERROR(MPI_File_seek(other, -1, MPI_SEEK_SET));
  CHECK_EQ(calls_, 0);
  /* The handler lives as long as a file has it. */
  CHECK_OK(MPI_Errhandler_free(&mine));
  CHECK_ANY_ERROR(MPI_File_seek(file, -1, MPI_SEEK_SET));
  expect_call(file, MPI_ERR_ARG);
  CHECK_OK(MPI_File_set_errhandler(file, MPI_ERRORS_RETURN));
  CHECK_ANY_ERROR(MPI_File_seek(file, -1, MPI_SEEK_SET));
  CHECK_EQ(calls_, 0);
  CHECK_OK(MPI_File_close(&file));
  CHECK_OK(MPI_File_close(&other));
}

static void errhandler_call(void) {
  MPI_Errhandler mine;
  CHECK_OK(MPI_File_create_errhandler(handler, &mine));
  MPI_File file = check_create(check_path("dat"));
  CHECK_OK(MPI_File_set_errhandler(file, mine));
  CHECK_OK(MPI_Errhandler_free(&mine));
  calls_ = 0;
  CHECK_OK(MPI_File_call_errhandler(file, MPI_ERR_NO_SPACE));
  expect_call(file, MPI_ERR_NO_SPACE);
  CHECK_OK(MPI_File_set_errhandler(file, MPI_ERRORS_RETURN));
  CHECK_OK(MPI_File_call_errhandler(file, MPI_ERR_NO_SPACE));
  CHECK_EQ(calls_, 0);
  CHECK_OK(MPI_File_close(&file));
}

/* MPI_FILE_NULL carries the handler of failed opens and deletes, and of files to come. */
static void errhandler_of_null(void) {
  MPI_Errhandler mine, found = MPI_ERRHANDLER_NULL;
  CHECK_OK(MPI_File_create_errhandler(handler, &mine));
  MPI_File before = check_create(check_path("before"));
  CHECK_OK(MPI_File_set_errhandler(MPI_FILE_NULL, mine));
  CHECK_OK(MPI_File_get_errhandler(MPI_FILE_NULL, &found));
  CHECK(found == mine);
  MPI_Errhandler_free(&found);
  calls_ = 0;
  CHECK(create_null(check_path("missing")) == MPI_FILE_NULL);
  expect_call(MPI_FILE_NULL, MPI_ERR_NO_SUCH_FILE);
  CHECK_ANY_ERROR(MPI_File_delete(check_path("missing"), MPI_INFO_NULL));
  expect_call(MPI_FILE_NULL, MPI_ERR_NO_SUCH_FILE);
  MPI_File after = check_create(check_path("after"));
  CHECK_ANY_ERROR(MPI_File_seek(after, -1, MPI_SEEK_SET));
  expect_call(after, MPI_ERR_ARG);
  CHECK_ANY_ERROR(MPI_File_seek(before, -1, MPI_SEEK_SET));
  CHECK_EQ(calls_, 0);
  CHECK_OK(MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN));
  CHECK(create_null(check_path("missing")) == MPI_FILE_NULL);
  CHECK_EQ(calls_, 0);
  MPI_Errhandler_free(&mine);
  CHECK_OK(MPI_File_close(&before));
  CHECK_OK(MPI_File_close(&after));
}

/* Errors of a file never reach the handler of its communicator. */
static void errhandler_not_of_comm(void) {
  MPI_Errhandler kept;
  MPI_Comm_get_errhandler(MPI_COMM_WORLD, &kept);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  CHECK(create_null(check_path("missing")) == MPI_FILE_NULL);
  MPI_File file = check_create(check_path("dat"));
  CHECK_ANY_ERROR(MPI_File_seek(file, -1, MPI_SEEK_SET));
  CHECK_OK(MPI_File_close(&file));
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, kept);
  MPI_Errhandler_free(&kept);
}

/* Must not return: the runner expects the job to be ended. */
static void survive(MPI_Errhandler fatal) {
  MPI_File file = check_create(check_path("dat"));
  CHECK_OK(MPI_File_set_errhandler(file, fatal));
  MPI_File_seek(file, -1, MPI_SEEK_SET);
  printf("SURVIVED\n");
  fflush(stdout);
  CHECK_OK(MPI_File_close(&file));
}

static void errhandler_fatal(void) { survive(MPI_ERRORS_ARE_FATAL); }

static void errhandler_abort(void) {
#ifdef MPI_ERRORS_ABORT /* since MPI 4.0 */
  survive(MPI_ERRORS_ABORT);
#else
  survive(MPI_ERRORS_ARE_FATAL);
#endif
}

const struct Subtest errhandler_subtests[] = {
    {"errhandler_default", errhandler_default, CHECK_ALWAYS},
    {"errhandler_handles", errhandler_handles, CHECK_ALWAYS},
    {"errhandler_null", errhandler_null, CHECK_ALWAYS},
    {"errhandler_user", errhandler_user, CHECK_ALWAYS},
    {"errhandler_call", errhandler_call, CHECK_ALWAYS},
    {"errhandler_of_null", errhandler_of_null, CHECK_ALWAYS},
    {"errhandler_not_of_comm", errhandler_not_of_comm, CHECK_ALWAYS},
    {"errhandler_fatal", errhandler_fatal, CHECK_NAMED},
    {"errhandler_abort", errhandler_abort, CHECK_NAMED},
    {0},
};
