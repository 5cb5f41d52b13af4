// What the C clients share: a failed check names its place and its rank and ends every rank.
#ifndef TESSERA_TESTS_INTEROP_CHECK_H
#define TESSERA_TESTS_INTEROP_CHECK_H

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int g_rank;
static int g_size;

#define CHECK(condition)                                                                \
  do {                                                                                  \
    if (!(condition)) {                                                                 \
      fprintf(stderr, "%s:%d: rank %d of %d: %s\n", __FILE__, __LINE__, g_rank, g_size, \
              #condition);                                                              \
      MPI_Abort(MPI_COMM_WORLD, 1);                                                     \
    }                                                                                   \
  } while (0)

static inline void* allocate(size_t bytes) {
  void* memory = malloc(bytes == 0 ? 1 : bytes);
  CHECK(memory != NULL);
  return memory;
}

// The path of a file in the folder that the command line names.
static inline const char* in_folder(char** argv, const char* name) {
  static char path[4096];
  CHECK(argv[1] != NULL);
  int length = snprintf(path, sizeof path, "%s/%s", argv[1], name);
  CHECK(length > 0 && (size_t)length < sizeof path);
  return path;
}

static inline void start(int* argc, char*** argv) {
  MPI_Init(argc, argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &g_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &g_size);
}

// Says OK when every rank has come here.
static inline void finish(void) {
  MPI_Barrier(MPI_COMM_WORLD);
  if (g_rank == 0) {
    puts("OK");
  }
  MPI_Finalize();
}

#endif
