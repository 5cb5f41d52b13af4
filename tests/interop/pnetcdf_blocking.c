// PnetCDF, blocking: subarrays, strides, mapped memory, lists of subarrays, single elements, record
// variables, fill, derived memory types, a header that grows, in all three classic formats.
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

enum { kRows = 6, kColumns = 14, kRecords = 4 };

typedef struct {
  int file;
  int row_dim;
  int column_dim;
  int record_dim;
  int grid;     // int, rows x columns
  int stripes;  // double, rows x columns, filled
  int turned;   // short, rows x columns
  int pieces;   // float, rows x columns
  int history;  // int, records x columns
  int late;     // int, columns; defined after data was written
} Data;

static MPI_Offset rows(void) { return kRows * g_size; }

static int value(MPI_Offset row, MPI_Offset column) { return (int)(row * 100 + column); }

static void define(Data* data, const char* path, int format) {
  NC(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | format, MPI_INFO_NULL, &data->file));
  NC(ncmpi_def_dim(data->file, "record", NC_UNLIMITED, &data->record_dim));
  NC(ncmpi_def_dim(data->file, "row", rows(), &data->row_dim));
  NC(ncmpi_def_dim(data->file, "column", kColumns, &data->column_dim));
  const int plane[2] = {data->row_dim, data->column_dim};
  const int records[2] = {data->record_dim, data->column_dim};
  NC(ncmpi_def_var(data->file, "grid", NC_INT, 2, plane, &data->grid));
  NC(ncmpi_def_var(data->file, "stripes", NC_DOUBLE, 2, plane, &data->stripes));
  NC(ncmpi_def_var(data->file, "turned", NC_SHORT, 2, plane, &data->turned));
  NC(ncmpi_def_var(data->file, "pieces", NC_FLOAT, 2, plane, &data->pieces));
  NC(ncmpi_def_var(data->file, "history", NC_INT, 2, records, &data->history));
  const double fill = -3.5;
  NC(ncmpi_def_var_fill(data->file, data->stripes, 0, &fill));
  NC(ncmpi_put_att_text(data->file, NC_GLOBAL, "title", 7, "interop"));
  NC(ncmpi_enddef(data->file));
}

// A band of rows, taken out of a larger array in memory by a derived type.
static void put_band(const Data* data) {
  const int sizes[2] = {kRows + 2, kColumns + 4};
  const int part[2] = {kRows, kColumns};
  const int begin[2] = {1, 2};
  const MPI_Offset start[2] = {kRows * g_rank, 0};
  const MPI_Offset count[2] = {kRows, kColumns};
  int memory[kRows + 2][kColumns + 4];
  memset(memory, 0x55, sizeof memory);
  for (int row = 0; row < kRows; row++) {
    for (int column = 0; column < kColumns; column++) {
      memory[row + 1][column + 2] = value(start[0] + row, column);
    }
  }
  MPI_Datatype inner;
  MPI_Type_create_subarray(2, sizes, part, begin, MPI_ORDER_C, MPI_INT, &inner);
  MPI_Type_commit(&inner);
  NC(ncmpi_put_vara_all(data->file, data->grid, start, count, memory, 1, inner));
  MPI_Type_free(&inner);
}

// Rows dealt out in turn, every second column: the rest keeps the fill value.
static void put_stripes(const Data* data) {
  const MPI_Offset start[2] = {g_rank, 0};
  const MPI_Offset count[2] = {kRows, kColumns / 2};
  const MPI_Offset stride[2] = {g_size, 2};
  double memory[kRows][kColumns / 2];
  for (int i = 0; i < kRows; i++) {
    for (int j = 0; j < kColumns / 2; j++) {
      memory[i][j] = value(start[0] + i * g_size, 2 * j);
    }
  }
  NC(ncmpi_put_vars_double_all(data->file, data->stripes, start, count, stride, &memory[0][0]));
}

// The array is transposed in memory.
static void put_turned(const Data* data) {
  const MPI_Offset start[2] = {kRows * g_rank, 0};
  const MPI_Offset count[2] = {kRows, kColumns};
  const MPI_Offset stride[2] = {1, 1};
  const MPI_Offset map[2] = {1, kRows};
  short memory[kColumns][kRows];
  for (int row = 0; row < kRows; row++) {
    for (int column = 0; column < kColumns; column++) {
      memory[column][row] = (short)value(start[0] + row, column);
    }
  }
  NC(ncmpi_put_varm_short_all(data->file, data->turned, start, count, stride, map, &memory[0][0]));
}

// Each rank gives the cells of its columns (dealt out in turn) as a list of 1-column pieces.
static void put_pieces(const Data* data) {
  MPI_Offset starts[kColumns][2];
  MPI_Offset counts[kColumns][2];
  MPI_Offset* start_list[kColumns];
  MPI_Offset* count_list[kColumns];
  float* memory = allocate((size_t)(rows() * kColumns) * sizeof *memory);
  int pieces = 0;
  size_t filled = 0;
  for (int column = g_rank; column < kColumns; column += g_size, pieces++) {
    starts[pieces][0] = 0;
    starts[pieces][1] = column;
    counts[pieces][0] = rows();
    counts[pieces][1] = 1;
    start_list[pieces] = starts[pieces];
    count_list[pieces] = counts[pieces];
    for (MPI_Offset row = 0; row < rows(); row++) {
      memory[filled++] = (float)value(row, column);
    }
  }
  NC(ncmpi_put_varn_float_all(data->file, data->pieces, pieces, start_list, count_list, memory));
  free(memory);
}

// Independent mode: each rank writes its columns of each record, one element at a time.
static void put_history(const Data* data) {
  NC(ncmpi_begin_indep_data(data->file));
  for (MPI_Offset record = 0; record < kRecords; record++) {
    for (MPI_Offset column = g_rank; column < kColumns; column += g_size) {
      const MPI_Offset index[2] = {record, column};
      const int number = value(record, column);
      NC(ncmpi_put_var1_int(data->file, data->history, index, &number));
    }
  }
  NC(ncmpi_end_indep_data(data->file));
}

// The header grows beyond its place, so the library moves what was written.
static void define_late(Data* data) {
  NC(ncmpi_redef(data->file));
  NC(ncmpi_def_var(data->file, "late", NC_INT, 1, &data->column_dim, &data->late));
  char text[2000];
  memset(text, 'x', sizeof text);
  NC(ncmpi_put_att_text(data->file, data->grid, "comment", sizeof text, text));
  NC(ncmpi_enddef(data->file));
  int memory[kColumns];
  for (int column = 0; column < kColumns; column++) {
    memory[column] = value(9, column);
  }
  const MPI_Offset start = 0;
  const MPI_Offset count = g_rank == g_size - 1 ? kColumns : 0;
  NC(ncmpi_put_vara_int_all(data->file, data->late, &start, &count, memory));
  NC(ncmpi_sync(data->file));
}

static void open_again(Data* data, const char* path) {
  NC(ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &data->file));
  NC(ncmpi_inq_varid(data->file, "grid", &data->grid));
  NC(ncmpi_inq_varid(data->file, "stripes", &data->stripes));
  NC(ncmpi_inq_varid(data->file, "turned", &data->turned));
  NC(ncmpi_inq_varid(data->file, "pieces", &data->pieces));
  NC(ncmpi_inq_varid(data->file, "history", &data->history));
  NC(ncmpi_inq_varid(data->file, "late", &data->late));
}

static void verify_planes(const Data* data) {
  const MPI_Offset start[2] = {0, 0};
  const MPI_Offset count[2] = {rows(), kColumns};
  const size_t cells = (size_t)(rows() * kColumns);
  double* memory[4];
  for (int i = 0; i < 4; i++) {
    memory[i] = allocate(cells * sizeof(double));
  }
  NC(ncmpi_get_vara_double_all(data->file, data->grid, start, count, memory[0]));
  NC(ncmpi_get_var_double_all(data->file, data->stripes, memory[1]));
  NC(ncmpi_begin_indep_data(data->file));
  NC(ncmpi_get_var_double(data->file, data->turned, memory[2]));
  NC(ncmpi_get_vara_double(data->file, data->pieces, start, count, memory[3]));
  NC(ncmpi_end_indep_data(data->file));
  for (size_t i = 0; i < cells; i++) {
    const MPI_Offset column = (MPI_Offset)i % kColumns;
    const double expected = value((MPI_Offset)i / kColumns, column);
    CHECK(memory[0][i] == expected && memory[2][i] == expected && memory[3][i] == expected);
    CHECK(memory[1][i] == (column % 2 == 0 ? expected : -3.5));
  }
  for (int i = 0; i < 4; i++) {
    free(memory[i]);
  }
}

static void verify_records(const Data* data) {
  int history[kRecords][kColumns];
  int late[kColumns];
  int dim = 0;
  MPI_Offset records = 0;
  NC(ncmpi_inq_unlimdim(data->file, &dim));
  NC(ncmpi_inq_dimlen(data->file, dim, &records));
  CHECK(records == kRecords);
  NC(ncmpi_get_var_int_all(data->file, data->history, &history[0][0]));
  NC(ncmpi_get_var_int_all(data->file, data->late, late));
  for (int column = 0; column < kColumns; column++) {
    for (int record = 0; record < kRecords; record++) {
      CHECK(history[record][column] == value(record, column));
    }
    CHECK(late[column] == value(9, column));
  }
}

static void run_format(const char* path, int format, int version) {
  Data data;
  int found = 0;
  define(&data, path, format);
  put_band(&data);
  put_stripes(&data);
  put_turned(&data);
  put_pieces(&data);
  put_history(&data);
  define_late(&data);
  NC(ncmpi_close(data.file));
  NC(ncmpi_inq_file_format(path, &found));
  CHECK(found == version);
  open_again(&data, path);
  verify_planes(&data);
  verify_records(&data);
  NC(ncmpi_close(data.file));
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  run_format(in_folder(argv, "blocking1.nc"), 0, NC_FORMAT_CLASSIC);
  run_format(in_folder(argv, "blocking2.nc"), NC_64BIT_OFFSET, NC_FORMAT_CDF2);
  run_format(in_folder(argv, "blocking5.nc"), NC_64BIT_DATA, NC_FORMAT_CDF5);
  finish();
  return 0;
}
