// PnetCDF, nonblocking: posted and buffered writes, posted reads, lists of subarrays, waits for all
// and for some, in collective and independent mode, and a cancelled request.
#include <pnetcdf.h>

#include "check.h"

#define NC(call)                                         \
  do {                                                   \
    int nc_error = (call);                               \
    if (nc_error != NC_NOERR) {                          \
      fprintf(stderr, "%s\n", ncmpi_strerror(nc_error)); \
    }                                                    \
    CHECK(nc_error == NC_NOERR);                         \
  } while (0)

enum { kVariables = 6, kRows = 8, kColumns = 21, kRecords = 3, kFill = -9 };

typedef struct {
  int file;
  int variables[kVariables];  // int, rows x columns: one per kind of request
  int records;                // double, records x columns
} Data;

static MPI_Offset rows(void) { return kRows * g_size; }

static int value(int variable, MPI_Offset row, MPI_Offset column) {
  return (variable + 1) * 1000000 + (int)(row * kColumns + column);
}

static void define(Data* data, const char* path) {
  int row_dim = 0;
  int column_dim = 0;
  int record_dim = 0;
  NC(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL, &data->file));
  NC(ncmpi_set_fill(data->file, NC_FILL, NULL));
  NC(ncmpi_def_dim(data->file, "row", rows(), &row_dim));
  NC(ncmpi_def_dim(data->file, "column", kColumns, &column_dim));
  NC(ncmpi_def_dim(data->file, "record", NC_UNLIMITED, &record_dim));
  const int plane[2] = {row_dim, column_dim};
  const int history[2] = {record_dim, column_dim};
  const int fill = kFill;
  for (int i = 0; i < kVariables; i++) {
    char name[16];
    snprintf(name, sizeof name, "plane%d", i);
    NC(ncmpi_def_var(data->file, name, NC_INT, 2, plane, &data->variables[i]));
    NC(ncmpi_def_var_fill(data->file, data->variables[i], 0, &fill));
  }
  NC(ncmpi_def_var(data->file, "records", NC_DOUBLE, 2, history, &data->records));
  NC(ncmpi_enddef(data->file));
}

// The band of this rank: kRows x kColumns values of one variable.
static int* band(int variable) {
  int* memory = allocate(sizeof(int) * kRows * kColumns);
  for (int i = 0; i < kRows * kColumns; i++) {
    memory[i] = value(variable, kRows * g_rank + i / kColumns, i % kColumns);
  }
  return memory;
}

static const MPI_Offset* band_start(void) {
  static MPI_Offset start[2];
  start[0] = kRows * g_rank;
  return start;
}

static const MPI_Offset kBandCount[2] = {kRows, kColumns};

// Three variables by one wait: their requests become one collective write.
static void put_together(const Data* data) {
  int requests[3];
  int states[3];
  int* memory[3];
  for (int i = 0; i < 3; i++) {
    memory[i] = band(i);
    NC(ncmpi_iput_vara_int(data->file, data->variables[i], band_start(), kBandCount, memory[i],
                           &requests[i]));
  }
  NC(ncmpi_wait_all(data->file, 3, requests, states));
  for (int i = 0; i < 3; i++) {
    NC(states[i]);
    free(memory[i]);
  }
}

// Every third column, posted as a strided request and as a list of pieces; independent wait.
static void put_scattered(const Data* data) {
  const MPI_Offset start[2] = {kRows * g_rank, 0};
  const MPI_Offset count[2] = {kRows, kColumns / 3};
  const MPI_Offset stride[2] = {1, 3};
  int thirds[kRows * kColumns / 3];
  for (int i = 0; i < kRows * kColumns / 3; i++) {
    thirds[i] = value(3, start[0] + i / (kColumns / 3), i % (kColumns / 3) * 3);
  }
  MPI_Offset starts[kRows][2];
  MPI_Offset counts[kRows][2];
  MPI_Offset* start_list[kRows];
  MPI_Offset* count_list[kRows];
  for (int row = 0; row < kRows; row++) {
    starts[row][0] = start[0] + row;
    starts[row][1] = 0;
    counts[row][0] = 1;
    counts[row][1] = kColumns;
    start_list[row] = starts[row];
    count_list[row] = counts[row];
  }
  int* pieces = band(4);
  int requests[2];
  int states[2];
  NC(ncmpi_begin_indep_data(data->file));
  NC(ncmpi_iput_vars_int(data->file, data->variables[3], start, count, stride, thirds,
                         &requests[0]));
  NC(ncmpi_iput_varn_int(data->file, data->variables[4], kRows, start_list, count_list, pieces,
                         &requests[1]));
  NC(ncmpi_wait(data->file, 2, requests, states));
  NC(states[0]);
  NC(states[1]);
  NC(ncmpi_end_indep_data(data->file));
  free(pieces);
}

// Buffered: the memory may be used again at once. One more request is posted and cancelled.
static void put_buffered(const Data* data) {
  NC(ncmpi_buffer_attach(data->file, 2 * kRows * kColumns * (MPI_Offset)sizeof(int)));
  int* memory = band(5);
  int kept = 0;
  int cancelled = 0;
  int state = 0;
  NC(ncmpi_bput_vara_int(data->file, data->variables[5], band_start(), kBandCount, memory, &kept));
  for (int i = 0; i < kRows * kColumns; i++) {
    memory[i] = 0;
  }
  NC(ncmpi_iput_vara_int(data->file, data->variables[5], band_start(), kBandCount, memory,
                         &cancelled));
  NC(ncmpi_cancel(data->file, 1, &cancelled, &state));
  NC(ncmpi_wait_all(data->file, 1, &kept, &state));
  NC(state);
  NC(ncmpi_buffer_detach(data->file));
  free(memory);
}

static double record_value(MPI_Offset record, MPI_Offset column) {
  return 0.25 * (double)(record * kColumns + column);
}

// Record r is written whole by one rank; the number of records follows.
static void put_records(const Data* data) {
  double memory[kRecords][kColumns];
  int requests[kRecords];
  int states[kRecords];
  int posted = 0;
  for (int record = 0; record < kRecords; record++) {
    if (record % g_size != g_rank) {
      continue;
    }
    const MPI_Offset start[2] = {record, 0};
    const MPI_Offset count[2] = {1, kColumns};
    for (int column = 0; column < kColumns; column++) {
      memory[record][column] = record_value(record, column);
    }
    NC(ncmpi_iput_vara_double(data->file, data->records, start, count, memory[record],
                              &requests[posted++]));
  }
  NC(ncmpi_wait_all(data->file, posted, requests, states));
  for (int i = 0; i < posted; i++) {
    NC(states[i]);
  }
}

static void verify_plane(int variable, const int* memory) {
  for (MPI_Offset i = 0; i < rows() * kColumns; i++) {
    const int written = variable != 3 || i % kColumns % 3 == 0;
    CHECK(memory[i] == (written ? value(variable, i / kColumns, i % kColumns) : kFill));
  }
}

// All planes and records by posted reads, all waited for at once.
static void verify(const char* path) {
  int file = 0;
  int* planes[kVariables];
  double records[kRecords][kColumns];
  int variable = 0;
  const MPI_Offset start[2] = {0, 0};
  const MPI_Offset count[2] = {rows(), kColumns};
  NC(ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &file));
  for (int i = 0; i < kVariables; i++) {
    char name[16];
    snprintf(name, sizeof name, "plane%d", i);
    planes[i] = allocate((size_t)(rows() * kColumns) * sizeof(int));
    NC(ncmpi_inq_varid(file, name, &variable));
    NC(ncmpi_iget_vara_int(file, variable, start, count, planes[i], NULL));
  }
  NC(ncmpi_inq_varid(file, "records", &variable));
  NC(ncmpi_iget_var_double(file, variable, &records[0][0], NULL));
  NC(ncmpi_wait_all(file, NC_REQ_ALL, NULL, NULL));
  NC(ncmpi_close(file));
  for (int i = 0; i < kVariables; i++) {
    verify_plane(i, planes[i]);
    free(planes[i]);
  }
  for (int i = 0; i < kRecords * kColumns; i++) {
    CHECK(records[i / kColumns][i % kColumns] == record_value(i / kColumns, i % kColumns));
  }
}

int main(int argc, char** argv) {
  Data data;
  start(&argc, &argv);
  const char* path = in_folder(argv, "nonblocking.nc");
  define(&data, path);
  put_together(&data);
  put_scattered(&data);
  put_buffered(&data);
  put_records(&data);
  NC(ncmpi_close(data.file));
  verify(path);
  finish();
  return 0;
}
