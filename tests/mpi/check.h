/* Checks for MPI programs: a failed check is printed with its rank, place and values, and counted;
 * the program goes on, and every rank exits non-zero if any rank counted one.
 *
 * A subtest is a function of this suite; its files lie in the scratch directory under names that
 * begin with its own name, so that a runner can compare them between two libraries. A subtest that
 * hangs is ended by an alarm. One thread. */
#ifndef TESTS_MPI_CHECK_H
#define TESTS_MPI_CHECK_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Who we are in MPI_COMM_WORLD. */
extern int check_rank;
extern int check_size;

/* When a subtest runs: with all others, or only when it is named. */
enum { CHECK_ALWAYS = 0, CHECK_NAMED = 1 };

struct Subtest {
  const char* name;
  void (*run)(void);
  int when;
};

/* Counts a failure and prints it; the format is printf's. */
void check_failed(const char* file, int line, const char* format, ...)
    __attribute__((format(printf, 3, 4)));

/* Failures of this rank so far. */
long check_failures(void);

void check_true(const char* file, int line, bool value, const char* text);
void check_equal(const char* file, int line, const char* text, long long found, long long expected);
void check_code(const char* file, int line, const char* text, int code);
/* The error class of code must be one of the classes, a list that ends with 0; an empty list
 * accepts every error. */
void check_error(const char* file, int line, const char* text, int code, const int* classes);
void check_count(const char* file, int line, const MPI_Status* status, MPI_Datatype type,
                 long long expected);
void check_bytes(const char* file, int line, const void* found, const void* expected, size_t bytes);

#define CHECK(condition) check_true(__FILE__, __LINE__, (condition), #condition)
#define CHECK_EQ(found, expected) \
  check_equal(__FILE__, __LINE__, #found, (long long)(found), (long long)(expected))
#define CHECK_OK(call) check_code(__FILE__, __LINE__, #call, (call))
#define CHECK_ANY_ERROR(call) check_error(__FILE__, __LINE__, #call, (call), (const int[]){0})
#define CHECK_ERROR(call, ...) \
  check_error(__FILE__, __LINE__, #call, (call), (const int[]){__VA_ARGS__, 0})
/* MPI_Get_count of the status in units of the type. */
#define CHECK_COUNT(status, type, expected) \
  check_count(__FILE__, __LINE__, &(status), (type), (long long)(expected))
#define CHECK_BYTES(found, expected, bytes) \
  check_bytes(__FILE__, __LINE__, (found), (expected), (bytes))

/* DIR/SUBTEST.suffix, valid until the eighth call after. */
const char* check_path(const char* suffix);
/* A path below the directory of the given purpose ("full", "readonly"), as the runner prepared it;
 * a failure if the runner prepared none. Valid as long as check_path's. */
const char* check_special_path(const char* purpose, const char* suffix);
/* Whether the library under test is preloaded, so that its own promises hold too. */
bool check_preloaded(void);
/* Files made by rank 0 outside MPI-IO; both end with a barrier. */
void check_make_file(const char* path, const void* data, size_t bytes);
void check_remove(const char* path);
/* Rank 0 compares the whole file with what is expected; begins and ends with a barrier. */
void check_file_is(const char* file, int line, const char* path, const void* data, size_t bytes);
#define CHECK_FILE(path, data, bytes) check_file_is(__FILE__, __LINE__, (path), (data), (bytes))
/* The size of a file in bytes, -1 if there is none. */
long long check_file_size(const char* path);

/* The byte of a recognisable pattern at a position; differs between seeds. */
static inline unsigned char check_byte(unsigned seed, size_t position) {
  return (unsigned char)(1 + (position * 31 + (position >> 8) * 7 + seed * 57) % 251);
}
static inline void check_fill(void* data, size_t bytes, unsigned seed) {
  for (size_t i = 0; i < bytes; ++i) ((unsigned char*)data)[i] = check_byte(seed, i);
}

/* Opens with MPI_INFO_NULL; the handle is MPI_FILE_NULL after a failure, which is counted. */
MPI_File check_open(MPI_Comm comm, const char* path, int amode);
static inline MPI_File check_create(const char* path) {
  return check_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR);
}
/* Completes a posted operation, if it was posted; the error of either step. */
static inline int check_wait(int code, MPI_Request* request, MPI_Status* status) {
  return code != MPI_SUCCESS ? code : MPI_Wait(request, status);
}
static inline void check_barrier(void) { MPI_Barrier(MPI_COMM_WORLD); }

#endif
