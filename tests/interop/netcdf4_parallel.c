// NetCDF-4 in parallel, over parallel HDF5: a chunked and compressed variable, and one that grows.
#include <netcdf.h>
#include <netcdf_par.h>

#include "check.h"

#define NC(call)                                      \
  do {                                                \
    int nc_error = (call);                            \
    if (nc_error != NC_NOERR) {                       \
      fprintf(stderr, "%s\n", nc_strerror(nc_error)); \
    }                                                 \
    CHECK(nc_error == NC_NOERR);                      \
  } while (0)

enum { kRows = 9, kColumns = 16, kRecords = 3 };

typedef struct {
  int file;
  int plane;    // int, rows x columns
  int history;  // float, records x columns
} Data;

static int value(size_t row, size_t column) { return (int)(row * kColumns + column) + 11; }

static void define(Data* data, const char* path) {
  int dims[3];
  NC(nc_create_par(path, NC_CLOBBER | NC_NETCDF4, MPI_COMM_WORLD, MPI_INFO_NULL, &data->file));
  NC(nc_def_dim(data->file, "record", NC_UNLIMITED, &dims[0]));
  NC(nc_def_dim(data->file, "row", (size_t)(kRows * g_size), &dims[1]));
  NC(nc_def_dim(data->file, "column", kColumns, &dims[2]));
  const int history[2] = {dims[0], dims[2]};
  NC(nc_def_var(data->file, "plane", NC_INT, 2, &dims[1], &data->plane));
  NC(nc_def_var(data->file, "history", NC_FLOAT, 2, history, &data->history));
  const size_t chunk[2] = {5, 6};
  NC(nc_def_var_chunking(data->file, data->plane, NC_CHUNKED, chunk));
  NC(nc_def_var_deflate(data->file, data->plane, 1, 1, 4));
  NC(nc_put_att_int(data->file, NC_GLOBAL, "ranks", NC_INT, 1, &g_size));
  NC(nc_enddef(data->file));
}

// The band of this rank collectively; its columns of each record, rows dealt out in turn.
static void put(const Data* data) {
  const size_t start[2] = {(size_t)(kRows * g_rank), 0};
  const size_t count[2] = {kRows, kColumns};
  int band[kRows][kColumns];
  for (size_t row = 0; row < kRows; row++) {
    for (size_t column = 0; column < kColumns; column++) {
      band[row][column] = value(start[0] + row, column);
    }
  }
  NC(nc_var_par_access(data->file, data->plane, NC_COLLECTIVE));
  NC(nc_var_par_access(data->file, data->history, NC_COLLECTIVE));
  NC(nc_put_vara_int(data->file, data->plane, start, count, &band[0][0]));
  const size_t columns = (size_t)((kColumns - g_rank - 1) / g_size + 1);
  for (size_t record = 0; record < kRecords; record++) {
    const size_t where[2] = {record, (size_t)g_rank};
    const size_t many[2] = {1, columns};
    const ptrdiff_t stride[2] = {1, g_size};
    float memory[kColumns];
    for (size_t i = 0; i < columns; i++) {
      memory[i] = (float)value(record, where[1] + i * (size_t)g_size);
    }
    NC(nc_put_vars_float(data->file, data->history, where, many, stride, memory));
  }
}

static void verify(const char* path) {
  Data data;
  const size_t cells = (size_t)(kRows * g_size) * kColumns;
  int* plane = allocate(cells * sizeof *plane);
  float history[kRecords][kColumns];
  int ranks = 0;
  NC(nc_open_par(path, NC_NOWRITE, MPI_COMM_WORLD, MPI_INFO_NULL, &data.file));
  NC(nc_inq_varid(data.file, "plane", &data.plane));
  NC(nc_inq_varid(data.file, "history", &data.history));
  NC(nc_get_att_int(data.file, NC_GLOBAL, "ranks", &ranks));
  NC(nc_var_par_access(data.file, data.plane, NC_COLLECTIVE));
  NC(nc_get_var_int(data.file, data.plane, plane));
  NC(nc_var_par_access(data.file, data.history, NC_INDEPENDENT));
  NC(nc_get_var_float(data.file, data.history, &history[0][0]));
  NC(nc_close(data.file));
  CHECK(ranks == g_size);
  for (size_t i = 0; i < cells; i++) {
    CHECK(plane[i] == value(i / kColumns, i % kColumns));
  }
  for (size_t i = 0; i < kRecords * kColumns; i++) {
    CHECK(history[i / kColumns][i % kColumns] == (float)value(i / kColumns, i % kColumns));
  }
  free(plane);
}

int main(int argc, char** argv) {
  Data data;
  start(&argc, &argv);
  const char* path = in_folder(argv, "netcdf4.nc");
  define(&data, path);
  put(&data);
  NC(nc_sync(data.file));
  NC(nc_close(data.file));
  verify(path);
  finish();
  return 0;
}
