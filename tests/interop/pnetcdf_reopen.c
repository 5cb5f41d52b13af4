// PnetCDF, reopened: what a program closed is opened again for reading and for writing, after its
// format was found by looking at the first bytes of the file without MPI.
#include <pnetcdf.h>
#include <string.h>

#include "check.h"

#define NC(call)                                         \
  do {                                                   \
    int nc_error = (call);                               \
    if (nc_error != NC_NOERR) {                          \
      fprintf(stderr, "%s\n", ncmpi_strerror(nc_error)); \
    }                                                    \
    CHECK(nc_error == NC_NOERR);                         \
  } while (0)

enum { kRows = 40, kColumns = 30 };

static MPI_Offset rows(void) { return kRows * g_size; }

static int value(MPI_Offset row, MPI_Offset column, int shift) {
  return (int)(row * 100 + column) + shift;
}

// This rank's band of rows.
static void put_band(int file, int grid, int shift) {
  const MPI_Offset start[2] = {kRows * g_rank, 0};
  const MPI_Offset count[2] = {kRows, kColumns};
  int memory[kRows][kColumns];
  for (int row = 0; row < kRows; row++) {
    for (int column = 0; column < kColumns; column++) {
      memory[row][column] = value(start[0] + row, column, shift);
    }
  }
  NC(ncmpi_put_vara_int_all(file, grid, start, count, &memory[0][0]));
}

static void create(const char* path) {
  int file = 0;
  int dims[2];
  int grid = 0;
  NC(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL, &file));
  NC(ncmpi_def_dim(file, "row", rows(), &dims[0]));
  NC(ncmpi_def_dim(file, "column", kColumns, &dims[1]));
  NC(ncmpi_def_var(file, "grid", NC_INT, 2, dims, &grid));
  NC(ncmpi_enddef(file));
  put_band(file, grid, 0);
  NC(ncmpi_close(file));
}

static int open_grid(const char* path, int mode, int* grid) {
  int file = 0;
  int format = 0;
  NC(ncmpi_inq_file_format(path, &format));
  CHECK(format == NC_FORMAT_CDF5);
  NC(ncmpi_open(MPI_COMM_WORLD, path, mode, MPI_INFO_NULL, &file));
  NC(ncmpi_inq_varid(file, "grid", grid));
  return file;
}

static void write_again(const char* path) {
  int grid = 0;
  const int file = open_grid(path, NC_WRITE, &grid);
  put_band(file, grid, 7);
  NC(ncmpi_redef(file));
  NC(ncmpi_put_att_text(file, NC_GLOBAL, "title", 5, "again"));
  NC(ncmpi_enddef(file));
  NC(ncmpi_close(file));
}

// Collectively and by each rank alone, which opens the file once more.
static void verify(const char* path, int shift) {
  int grid = 0;
  const int file = open_grid(path, NC_NOWRITE, &grid);
  const size_t cells = (size_t)(rows() * kColumns);
  int* memory = allocate(cells * sizeof *memory);
  for (int independent = 0; independent < 2; independent++) {
    memset(memory, 0, cells * sizeof *memory);
    if (independent) {
      NC(ncmpi_begin_indep_data(file));
      NC(ncmpi_get_var_int(file, grid, memory));
      NC(ncmpi_end_indep_data(file));
    } else {
      NC(ncmpi_get_var_int_all(file, grid, memory));
    }
    for (size_t i = 0; i < cells; i++) {
      CHECK(memory[i] == value((MPI_Offset)i / kColumns, (MPI_Offset)i % kColumns, shift));
    }
  }
  free(memory);
  NC(ncmpi_close(file));
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  const char* path = in_folder(argv, "reopened.nc");
  create(path);
  verify(path, 0);
  write_again(path);
  verify(path, 7);
  create(path);  // in the place of the one that is there
  verify(path, 0);
  finish();
  return 0;
}
