/* A parallel HDF5 program that knows nothing of object files: hdf5_restart FILE write|read.
 * Each writer has a block of columns of one dataset, and a chunked one dealt out by rows; readers,
 * however many, have blocks of rows of the first and all of the second. */
#include <hdf5.h>
#include <string.h>

#include "content.h"

enum { kRows = 96, kWidth = 120 };

static int rank_, ranks_;

#define HOLDS(condition)                                                      \
  do {                                                                        \
    if (!(condition)) {                                                       \
      fprintf(stderr, "rank %d: line %d: %s\n", rank_, __LINE__, #condition); \
      MPI_Abort(MPI_COMM_WORLD, 1);                                           \
    }                                                                         \
  } while (0)

static int value_at(int set, int row, int column) { return (set * 1000 + row) * 1000 + column; }

static hid_t open_file(const char* path, int write) {
  const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  HOLDS(H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL) >= 0);
  const hid_t file = write ? H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access)
                           : H5Fopen(path, H5F_ACC_RDONLY, access);
  HOLDS(file >= 0);
  H5Pclose(access);
  return file;
}

/* Moves a block of a dataset, or every `step`-th row of it. */
struct Block {
  hsize_t begin[2], step[2], count[2];
};

static void move_block(hid_t set, const struct Block* block, int* data, int write,
                       H5FD_mpio_xfer_t how) {
  const hid_t space = H5Dget_space(set), memory = H5Screate_simple(2, block->count, NULL);
  const hid_t transfer = H5Pcreate(H5P_DATASET_XFER);
  HOLDS(H5Pset_dxpl_mpio(transfer, how) >= 0);
  HOLDS(H5Sselect_hyperslab(space, H5S_SELECT_SET, block->begin, block->step, block->count, NULL) >=
        0);
  HOLDS((write ? H5Dwrite(set, H5T_NATIVE_INT, memory, space, transfer, data)
               : H5Dread(set, H5T_NATIVE_INT, memory, space, transfer, data)) >= 0);
  H5Pclose(transfer);
  H5Sclose(memory);
  H5Sclose(space);
}

/* Fills the data with what belongs there, or counts what does not. */
static int visit(const struct Block* block, int set, int* data, int fill) {
  int wrong = 0;
  for (hsize_t i = 0; i < block->count[0]; ++i) {
    for (hsize_t j = 0; j < block->count[1]; ++j) {
      const int expected = value_at(set, (int)(block->begin[0] + i * block->step[0]),
                                    (int)(block->begin[1] + j * block->step[1]));
      int* found = &data[i * block->count[1] + j];
      if (fill) *found = expected;
      wrong += *found != expected;
    }
  }
  return wrong;
}

static void write_sets(hid_t file) {
  static int data[kRows * kWidth];
  const hsize_t sizes[2] = {kRows, kWidth}, chunk[2] = {10, 35};
  const hid_t space = H5Screate_simple(2, sizes, NULL), chunked = H5Pcreate(H5P_DATASET_CREATE);
  HOLDS(H5Pset_chunk(chunked, 2, chunk) >= 0);
  const struct Block blocks[2] = {
      {{0, (hsize_t)(kWidth / ranks_ * rank_)}, {1, 1}, {kRows, (hsize_t)(kWidth / ranks_)}},
      {{(hsize_t)rank_, 0}, {(hsize_t)ranks_, 1}, {(hsize_t)(kRows / ranks_), kWidth}}};
  for (int i = 0; i < 2; ++i) {
    const hid_t set = H5Dcreate2(file, i == 0 ? "columns" : "rows", H5T_NATIVE_INT, space,
                                 H5P_DEFAULT, i == 0 ? H5P_DEFAULT : chunked, H5P_DEFAULT);
    HOLDS(set >= 0);
    visit(&blocks[i], i, data, 1);
    move_block(set, &blocks[i], data, 1, i == 0 ? H5FD_MPIO_INDEPENDENT : H5FD_MPIO_COLLECTIVE);
    H5Dclose(set);
  }
  H5Pclose(chunked);
  H5Sclose(space);
}

static void read_sets(hid_t file) {
  static int data[kRows * kWidth];
  const hsize_t begin = (hsize_t)(kRows * rank_ / ranks_);
  const hsize_t end = (hsize_t)(kRows * (rank_ + 1) / ranks_);
  const struct Block blocks[2] = {{{begin, 0}, {1, 1}, {end - begin, kWidth}},
                                  {{0, 0}, {1, 1}, {kRows, kWidth}}};
  for (int i = 0; i < 2; ++i) {
    const hid_t set = H5Dopen2(file, i == 0 ? "columns" : "rows", H5P_DEFAULT);
    HOLDS(set >= 0);
    memset(data, 0, sizeof data);
    move_block(set, &blocks[i], data, 0, i == 0 ? H5FD_MPIO_COLLECTIVE : H5FD_MPIO_INDEPENDENT);
    HOLDS(visit(&blocks[i], i, data, 0) == 0);
    H5Dclose(set);
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks_);
  HOLDS(argc == 3);
  const int write = strcmp(argv[2], "write") == 0;
  HOLDS(!write || (kWidth % ranks_ == 0 && kRows % ranks_ == 0));
  const hid_t file = open_file(argv[1], write);
  if (write) {
    write_sets(file);
  } else {
    read_sets(file);
  }
  HOLDS(H5Fclose(file) >= 0);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank_ == 0) puts("OK");
  MPI_Finalize();
  return 0;
}
