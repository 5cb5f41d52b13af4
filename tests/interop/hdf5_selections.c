// Parallel HDF5: every kind of selection, in contiguous, chunked and compressed datasets, by
// collective and by independent transfers.
//
// A case says who owns each element of a two-dimensional dataset and selects the elements of one
// rank. Each rank writes what it owns; then it reads that back, and the whole, in the other mode.
// The compressed datasets are in a file of their own, packed.h5: HDF5 does not always write the
// same bytes there.
#include <hdf5.h>

#include "check.h"

enum { kRowsPerRank = 16, kColumns = 60, kFill = -7, kUntouched = -1 };

typedef struct {
  const char* name;
  int (*owner)(int row, int column);
  void (*select)(hid_t space);
} Case;

typedef struct {
  const char* name;
  int chunked;
  int deflate;
  H5FD_mpio_xfer_t write;
  H5FD_mpio_xfer_t read;
} Way;

static int rows(void) { return kRowsPerRank * g_size; }

static hsize_t elements(void) { return (hsize_t)rows() * kColumns; }

static int value(int row, int column, int owner) {
  return owner < 0 ? kFill : (owner + 1) * 1000000 + row * kColumns + column;
}

static void select_block(hid_t space, H5S_seloper_t how, const hsize_t start[2],
                         const hsize_t stride[2], const hsize_t count[2], const hsize_t block[2]) {
  CHECK(H5Sselect_hyperslab(space, how, start, stride, count, block) >= 0);
}

// A band of whole rows for each rank.
static int band_owner(int row, int column) {
  (void)column;
  return row / kRowsPerRank;
}

static void band_select(hid_t space) {
  const hsize_t start[2] = {(hsize_t)(g_rank * kRowsPerRank), 0};
  const hsize_t count[2] = {kRowsPerRank, kColumns};
  select_block(space, H5S_SELECT_SET, start, NULL, count, NULL);
}

// Columns dealt out in turn: runs of one element.
static int columns_owner(int row, int column) {
  (void)row;
  return column % g_size;
}

static void columns_select(hid_t space) {
  const hsize_t start[2] = {0, (hsize_t)g_rank};
  const hsize_t stride[2] = {1, (hsize_t)g_size};
  const hsize_t count[2] = {(hsize_t)rows(), (hsize_t)((kColumns - g_rank - 1) / g_size + 1)};
  select_block(space, H5S_SELECT_SET, start, stride, count, NULL);
}

// Blocks of 2 x 3 with gaps between their rows: elements that nobody writes keep the fill value.
static int tiles_owner(int row, int column) {
  const int periods = kColumns / (3 * g_size);
  return row % 4 < 2 && column < periods * 3 * g_size ? column / 3 % g_size : -1;
}

static void tiles_select(hid_t space) {
  const hsize_t start[2] = {0, (hsize_t)(3 * g_rank)};
  const hsize_t stride[2] = {4, (hsize_t)(3 * g_size)};
  const hsize_t count[2] = {(hsize_t)(rows() / 4), (hsize_t)(kColumns / (3 * g_size))};
  const hsize_t block[2] = {2, 3};
  select_block(space, H5S_SELECT_SET, start, stride, count, block);
}

// Two hyperslabs joined: cyclic rows on the left, a band on the right.
static int union_owner(int row, int column) {
  if (column < 20) {
    return row % g_size;
  }
  return column >= 40 && column < 50 ? row / kRowsPerRank : -1;
}

static void union_select(hid_t space) {
  const hsize_t left_start[2] = {(hsize_t)g_rank, 0};
  const hsize_t left_stride[2] = {(hsize_t)g_size, 1};
  const hsize_t left_count[2] = {kRowsPerRank, 20};
  const hsize_t right_start[2] = {(hsize_t)(g_rank * kRowsPerRank), 40};
  const hsize_t right_count[2] = {kRowsPerRank, 10};
  select_block(space, H5S_SELECT_SET, left_start, left_stride, left_count, NULL);
  select_block(space, H5S_SELECT_OR, right_start, NULL, right_count, NULL);
}

// Points, listed from the last to the first.
static int points_owner(int row, int column) {
  const int owner = (row * 7 + column) % (g_size + 1);
  return row % 5 == 0 && owner < g_size ? owner : -1;
}

static void points_select(hid_t space) {
  hsize_t* points = allocate(elements() * 2 * sizeof *points);
  size_t count = 0;
  for (int row = rows() - 1; row >= 0; row--) {
    for (int column = kColumns - 1; column >= 0; column--) {
      if (points_owner(row, column) == g_rank) {
        points[2 * count] = (hsize_t)row;
        points[2 * count + 1] = (hsize_t)column;
        count++;
      }
    }
  }
  CHECK(H5Sselect_elements(space, H5S_SELECT_SET, count, points) >= 0);
  free(points);
}

// The last rank writes everything; the others take part with nothing.
static int lonely_owner(int row, int column) {
  (void)row;
  (void)column;
  return g_size - 1;
}

static void lonely_select(hid_t space) {
  CHECK((g_rank == g_size - 1 ? H5Sselect_all(space) : H5Sselect_none(space)) >= 0);
}

static const Case kCases[] = {
    {"band", band_owner, band_select},       {"columns", columns_owner, columns_select},
    {"tiles", tiles_owner, tiles_select},    {"union", union_owner, union_select},
    {"points", points_owner, points_select}, {"lonely", lonely_owner, lonely_select},
};

static const Way kPlainWays[] = {
    {"contiguous_collective", 0, 0, H5FD_MPIO_COLLECTIVE, H5FD_MPIO_INDEPENDENT},
    {"contiguous_independent", 0, 0, H5FD_MPIO_INDEPENDENT, H5FD_MPIO_COLLECTIVE},
    {"chunked_collective", 1, 0, H5FD_MPIO_COLLECTIVE, H5FD_MPIO_INDEPENDENT},
    {"chunked_independent", 1, 0, H5FD_MPIO_INDEPENDENT, H5FD_MPIO_COLLECTIVE},
};

static const Way kPackedWay = {
    "deflate_collective", 1, 6, H5FD_MPIO_COLLECTIVE, H5FD_MPIO_COLLECTIVE,
};

static hid_t transfer(H5FD_mpio_xfer_t mode) {
  hid_t list = H5Pcreate(H5P_DATASET_XFER);
  CHECK(list >= 0 && H5Pset_dxpl_mpio(list, mode) >= 0);
  return list;
}

static hid_t create_dataset(hid_t group, const Case* test, const Way* way) {
  const hsize_t dims[2] = {(hsize_t)rows(), kColumns};
  const hsize_t chunk[2] = {7, 11};
  const int fill = kFill;
  hid_t space = H5Screate_simple(2, dims, NULL);
  hid_t list = H5Pcreate(H5P_DATASET_CREATE);
  CHECK(space >= 0 && list >= 0);
  CHECK(H5Pset_obj_track_times(list, 0) >= 0);
  CHECK(H5Pset_fill_value(list, H5T_NATIVE_INT, &fill) >= 0);
  CHECK(!way->chunked || H5Pset_chunk(list, 2, chunk) >= 0);
  CHECK(way->deflate == 0 || H5Pset_deflate(list, (unsigned)way->deflate) >= 0);
  hid_t data = H5Dcreate2(group, test->name, H5T_STD_I32LE, space, H5P_DEFAULT, list, H5P_DEFAULT);
  CHECK(data >= 0);
  CHECK(H5Pclose(list) >= 0 && H5Sclose(space) >= 0);
  return data;
}

static void write_own(hid_t data, const Case* test, H5FD_mpio_xfer_t mode) {
  int* buffer = allocate(elements() * sizeof *buffer);
  for (int row = 0; row < rows(); row++) {
    for (int column = 0; column < kColumns; column++) {
      buffer[row * kColumns + column] = value(row, column, g_rank);
    }
  }
  hid_t space = H5Dget_space(data);
  hid_t list = transfer(mode);
  test->select(space);
  CHECK(H5Dwrite(data, H5T_NATIVE_INT, space, space, list, buffer) >= 0);
  CHECK(H5Pclose(list) >= 0 && H5Sclose(space) >= 0);
  free(buffer);
}

// Reads the own part (`all` = 0) or everything into a full array, and checks every element of it.
static void read_back(hid_t data, const Case* test, H5FD_mpio_xfer_t mode, int all) {
  int* buffer = allocate(elements() * sizeof *buffer);
  for (hsize_t i = 0; i < elements(); i++) {
    buffer[i] = kUntouched;
  }
  hid_t space = H5Dget_space(data);
  hid_t list = transfer(mode);
  if (!all) {
    test->select(space);
  }
  CHECK(H5Dread(data, H5T_NATIVE_INT, space, space, list, buffer) >= 0);
  for (int row = 0; row < rows(); row++) {
    for (int column = 0; column < kColumns; column++) {
      const int owner = test->owner(row, column);
      const int expected = all || owner == g_rank ? value(row, column, owner) : kUntouched;
      CHECK(buffer[row * kColumns + column] == expected);
    }
  }
  CHECK(H5Pclose(list) >= 0 && H5Sclose(space) >= 0);
  free(buffer);
}

static hid_t file_access(void) {
  hid_t list = H5Pcreate(H5P_FILE_ACCESS);
  CHECK(list >= 0 && H5Pset_fapl_mpio(list, MPI_COMM_WORLD, MPI_INFO_NULL) >= 0);
  return list;
}

static void run_way(hid_t file, const Way* way) {
  hid_t group = H5Gcreate2(file, way->name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  CHECK(group >= 0);
  for (size_t i = 0; i < sizeof kCases / sizeof kCases[0]; i++) {
    hid_t data = create_dataset(group, &kCases[i], way);
    write_own(data, &kCases[i], way->write);
    CHECK(H5Dclose(data) >= 0);
  }
  // What the ranks wrote is seen by the others after a flush.
  CHECK(H5Fflush(file, H5F_SCOPE_GLOBAL) >= 0);
  MPI_Barrier(MPI_COMM_WORLD);
  for (size_t i = 0; i < sizeof kCases / sizeof kCases[0]; i++) {
    hid_t data = H5Dopen2(group, kCases[i].name, H5P_DEFAULT);
    CHECK(data >= 0);
    read_back(data, &kCases[i], way->read, 0);
    read_back(data, &kCases[i], way->write, 1);
    CHECK(H5Dclose(data) >= 0);
  }
  CHECK(H5Gclose(group) >= 0);
}

static void verify_again(const char* path, const Way* ways, size_t count) {
  hid_t list = file_access();
  hid_t file = H5Fopen(path, H5F_ACC_RDONLY, list);
  CHECK(file >= 0);
  for (size_t w = 0; w < count; w++) {
    hid_t group = H5Gopen2(file, ways[w].name, H5P_DEFAULT);
    for (size_t i = 0; i < sizeof kCases / sizeof kCases[0]; i++) {
      hid_t data = H5Dopen2(group, kCases[i].name, H5P_DEFAULT);
      CHECK(data >= 0);
      read_back(data, &kCases[i], ways[w].read, 1);
      CHECK(H5Dclose(data) >= 0);
    }
    CHECK(H5Gclose(group) >= 0);
  }
  CHECK(H5Fclose(file) >= 0 && H5Pclose(list) >= 0);
}

static void run_file(const char* path, const Way* ways, size_t count) {
  hid_t list = file_access();
  hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, list);
  CHECK(file >= 0);
  CHECK(H5Pclose(list) >= 0);
  for (size_t w = 0; w < count; w++) {
    run_way(file, &ways[w]);
  }
  CHECK(H5Fclose(file) >= 0);
  verify_again(path, ways, count);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  run_file(in_folder(argv, "selections.h5"), kPlainWays, sizeof kPlainWays / sizeof kPlainWays[0]);
  run_file(in_folder(argv, "packed.h5"), &kPackedWay, 1);
  finish();
  return 0;
}
