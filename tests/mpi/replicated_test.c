/* Collective writes of ranks that hold equal copies of the bytes they share, as codes with ghost
 * layers do: the file must be what it is without the hint. */
#include <stdlib.h>

#include "suite.h"

enum { kWidth = 24, kGhosts = 2, kRecords = 3 };

/* A row of blocks in one direction, each with its neighbours' borders. */
struct Block {
  int first, columns;
};

static struct Block my_block(void) {
  const int low = check_rank * kWidth - kGhosts, high = (check_rank + 1) * kWidth + kGhosts;
  const int first = low < 0 ? 0 : low;
  const int end = high > check_size * kWidth ? check_size * kWidth : high;
  return (struct Block){first, end - first};
}

static MPI_Datatype block_type(const struct Block* block, int rows) {
  MPI_Datatype type;
  const int sizes[2] = {rows, check_size * kWidth}, part[2] = {rows, block->columns};
  const int starts[2] = {0, block->first};
  CHECK_OK(MPI_Type_create_subarray(2, sizes, part, starts, MPI_ORDER_C, MPI_INT, &type));
  CHECK_OK(MPI_Type_commit(&type));
  return type;
}

static int value_at(int record, int row, int column) {
  return record * 1000000 + row * 1000 + column;
}

static void fill(int* data, const struct Block* block, int rows, int record) {
  for (int row = 0; row < rows; ++row) {
    for (int i = 0; i < block->columns; ++i) {
      data[row * block->columns + i] = value_at(record, row, block->first + i);
    }
  }
}

static MPI_File open_replicated(const char* path) {
  MPI_Info info;
  MPI_File file = MPI_FILE_NULL;
  CHECK_OK(MPI_Info_create(&info));
  CHECK_OK(MPI_Info_set(info, "tessera_replicated", "true"));
  CHECK_OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, info, &file));
  CHECK_OK(MPI_Info_free(&info));
  return file;
}

static void check_records(const char* path, int rows) {
  const int columns = check_size * kWidth;
  const size_t count = (size_t)kRecords * (size_t)rows * (size_t)columns;
  int* expected = malloc(count * sizeof(int));
  for (size_t i = 0; i < count; ++i) {
    const int record = (int)(i / ((size_t)rows * (size_t)columns));
    const int within = (int)(i % ((size_t)rows * (size_t)columns));
    expected[i] = value_at(record, within / columns, within % columns);
  }
  CHECK_FILE(path, expected, count * sizeof(int));
  free(expected);
}

/* Record after record: the same shape at a growing distance, written twice. */
static void replicated_records(void) {
  const int rows = 20;
  const char* path = check_path("dat");
  const struct Block block = my_block();
  MPI_Datatype type = block_type(&block, rows);
  MPI_File file = open_replicated(path);
  const int count = rows * block.columns;
  int* data = malloc((size_t)count * sizeof(int));
  CHECK_OK(MPI_File_set_view(file, 0, MPI_INT, type, "native", MPI_INFO_NULL));
  for (int turn = 0; turn < 2 * kRecords; ++turn) {
    MPI_Status status;
    const int record = turn % kRecords;
    fill(data, &block, rows, record);
    CHECK_OK(
        MPI_File_write_at_all(file, (MPI_Offset)record * count, data, count, MPI_INT, &status));
    CHECK_COUNT(status, MPI_INT, count);
  }
  CHECK_OK(MPI_File_close(&file));
  check_records(path, rows);
  free(data);
  CHECK_OK(MPI_Type_free(&type));
}

/* Everybody writes everything, through pointers and as a split operation. */
static void replicated_everything(void) {
  const char* path = check_path("dat");
  MPI_File file = open_replicated(path);
  unsigned char data[5000];
  MPI_Status status;
  check_fill(data, sizeof(data), 3);
  CHECK_OK(MPI_File_write_all(file, data, 3000, MPI_BYTE, &status));
  CHECK_COUNT(status, MPI_BYTE, 3000);
  CHECK_OK(MPI_File_write_all_begin(file, data + 3000, 2000, MPI_BYTE));
  CHECK_OK(MPI_File_write_all_end(file, data + 3000, &status));
  CHECK_COUNT(status, MPI_BYTE, 2000);
  CHECK_OK(MPI_File_close(&file));
  CHECK_FILE(path, data, sizeof(data));
}

/* Copies that are not equal show who wrote them: where one rank alone holds it all, nobody else is
 * needed, whether its number is smaller or larger than the others'. */
static void replicated_by_one(void) {
  enum { kAll = 4096, kPart = 1024 };
  const char* path = check_path("dat");
  unsigned char data[kAll], expected[kAll];
  for (int turn = 0; turn < 6; ++turn) {
    const int writer = turn % 2 == 0 ? 0 : check_size - 1;
    const int copies_differ = check_preloaded();
    MPI_File file = open_replicated(path);
    memset(data, 1 + (copies_differ ? check_rank : writer), sizeof(data));
    memset(expected, 1 + writer, sizeof(expected));
    CHECK_OK(MPI_File_write_at_all(file, 0, data, check_rank == writer ? kAll : kPart, MPI_BYTE,
                                   MPI_STATUS_IGNORE));
    CHECK_OK(MPI_File_close(&file));
    CHECK_FILE(path, expected, sizeof(expected));
  }
}

/* One rank has nothing, or wrong arguments: the others return, and a later write is whole. */
static void replicated_with_trouble(void) {
  const char* path = check_path("dat");
  MPI_File file = open_replicated(path);
  unsigned char data[3000];
  MPI_Status status;
  check_fill(data, sizeof(data), 5);
  const int mine = check_rank == 0 ? 0 : (int)sizeof(data);
  if (check_size > 1) {
    CHECK_OK(MPI_File_write_at_all(file, 0, data, mine, MPI_BYTE, &status));
    CHECK_COUNT(status, MPI_BYTE, mine);
    CHECK_OK(MPI_File_sync(file));
    CHECK_FILE(path, data, sizeof(data));
  }
  if (check_preloaded()) {
    const int wrong = check_rank == check_size - 1 ? -1 : (int)sizeof(data);
    CHECK_ANY_ERROR(MPI_File_write_at_all(file, 0, data, wrong, MPI_BYTE, MPI_STATUS_IGNORE));
  }
  check_fill(data, sizeof(data), 6);
  CHECK_OK(MPI_File_write_at_all(file, 0, data, (int)sizeof(data), MPI_BYTE, &status));
  CHECK_COUNT(status, MPI_BYTE, sizeof(data));
  CHECK_OK(MPI_File_close(&file));
  CHECK_FILE(path, data, sizeof(data));
}

const struct Subtest replicated_subtests[] = {
    {"replicated_records", replicated_records, CHECK_ALWAYS},
    {"replicated_everything", replicated_everything, CHECK_ALWAYS},
    {"replicated_by_one", replicated_by_one, CHECK_ALWAYS},
    {"replicated_with_trouble", replicated_with_trouble, CHECK_ALWAYS},
    {0},
};
