/* Views: what they show, how positions count in them, which are refused. */
#include <stdio.h>

#include "suite.h"

/* n ints, then a gap, in a tile of the given number of ints. */
static MPI_Datatype tile(int ints, int extent_ints) {
  MPI_Datatype block, type;
  MPI_Type_contiguous(ints, MPI_INT, &block);
  MPI_Type_create_resized(block, 0, 4 * (MPI_Aint)extent_ints, &type);
  MPI_Type_commit(&type);
  MPI_Type_free(&block);
  return type;
}

static void free_unless_named(MPI_Datatype* type) {
  int integers, addresses, types, combiner;
  MPI_Type_get_envelope(*type, &integers, &addresses, &types, &combiner);
  if (combiner != MPI_COMBINER_NAMED) MPI_Type_free(type);
}

static void expect_view(MPI_File file, long long disp, MPI_Datatype etype, MPI_Datatype filetype,
                        const char* datarep) {
  MPI_Offset found_disp = -1;
  MPI_Datatype found_etype = MPI_DATATYPE_NULL, found_filetype = MPI_DATATYPE_NULL;
  char found_datarep[MPI_MAX_DATAREP_STRING] = "";
  CHECK_OK(MPI_File_get_view(file, &found_disp, &found_etype, &found_filetype, found_datarep));
  CHECK_EQ(found_disp, disp);
  CHECK(strcmp(found_datarep, datarep) == 0);
  MPI_Datatype given[2] = {etype, filetype};
  MPI_Datatype found[2] = {found_etype, found_filetype};
  for (int i = 0; i < 2; ++i) {
    int size, found_size;
    MPI_Aint lb, extent, found_lb, found_extent;
    MPI_Type_size(given[i], &size);
    MPI_Type_size(found[i], &found_size);
    MPI_Type_get_extent(given[i], &lb, &extent);
    MPI_Type_get_extent(found[i], &found_lb, &found_extent);
    CHECK_EQ(found_size, size);
    CHECK_EQ(found_lb, lb);
    CHECK_EQ(found_extent, extent);
    free_unless_named(&found[i]);
  }
}

static void view_get(void) {
  MPI_File file = check_create(check_path("dat"));
  expect_view(file, 0, MPI_BYTE, MPI_BYTE, "native");
  MPI_Datatype type = tile(2, 5);
  CHECK_OK(MPI_File_set_view(file, 12, MPI_INT, type, "native", MPI_INFO_NULL));
  expect_view(file, 12, MPI_INT, type, "native");
  CHECK_OK(MPI_File_set_view(file, 40, type, type, "internal", MPI_INFO_NULL));
  expect_view(file, 40, type, type, "internal");
  /* The file keeps a type that its owner has freed. */
  MPI_Type_free(&type);
  int data[4] = {1, 2, 3, 4};
  MPI_Datatype two;
  MPI_Type_contiguous(2, MPI_INT, &two);
  MPI_Type_commit(&two);
  CHECK_OK(MPI_File_set_size(file, 40 + 20 + 8));
  if (check_rank == 0) CHECK_OK(MPI_File_write(file, data, 2, two, MPI_STATUS_IGNORE));
  MPI_Type_free(&two);
  CHECK_OK(MPI_File_close(&file));
  CHECK_EQ(check_file_size(check_path("dat")), 40 + 20 + 8);
}

static void expect_pointers(MPI_File file, long long mine, long long shared) {
  MPI_Offset found = -1;
  CHECK_OK(MPI_File_get_position(file, &found));
  CHECK_EQ(found, mine);
  CHECK_OK(MPI_File_get_position_shared(file, &found));
  CHECK_EQ(found, shared);
  check_barrier();
}

/* Setting a view puts both pointers to its beginning. */
static void view_resets_pointers(void) {
  MPI_File file = check_create(check_path("dat"));
  int data[3] = {1, 2, 3};
  CHECK_OK(MPI_File_write(file, data, 3, MPI_INT, MPI_STATUS_IGNORE));
  CHECK_OK(MPI_File_seek_shared(file, 6, MPI_SEEK_SET));
  expect_pointers(file, 12, 6);
  CHECK_OK(MPI_File_set_view(file, 4, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
  expect_pointers(file, 0, 0);
  int found[3] = {0};
  CHECK_OK(MPI_File_read(file, found, 2, MPI_INT, MPI_STATUS_IGNORE));
  CHECK_EQ(found[0], 2);
  CHECK_EQ(found[1], 3);
  expect_pointers(file, 2, 0);
  CHECK_OK(MPI_File_read_ordered(file, found, check_rank == 0 ? 2 : 0, MPI_INT, MPI_STATUS_IGNORE));
  expect_pointers(file, 2, 2);
  CHECK_OK(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
  expect_pointers(file, 0, 0);
  CHECK_OK(MPI_File_close(&file));
}

/* Positions count etypes of the view; get_byte_offset says where they lie. */
static void view_byte_offsets(void) {
  MPI_File file = check_create(check_path("dat"));
  MPI_Datatype type = tile(2, 5);
  CHECK_OK(MPI_File_set_view(file, 100, MPI_INT, type, "native", MPI_INFO_NULL));
  static const long long kExpected[] = {100, 104, 120, 124, 140, 144};
  MPI_Offset found;
  for (int i = 0; i < 6; ++i) {
    CHECK_OK(MPI_File_get_byte_offset(file, i, &found));
    CHECK_EQ(found, kExpected[i]);
  }
  CHECK_OK(MPI_File_get_byte_offset(file, 2000001, &found));
  CHECK_EQ(found, 100 + 1000000LL * 20 + 4);
  CHECK_OK(MPI_File_get_byte_offset(file, 2000000000, &found));
  CHECK_EQ(found, 100 + 1000000000LL * 20);
  CHECK_OK(MPI_File_set_view(file, 7, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
  CHECK_OK(MPI_File_get_byte_offset(file, 5, &found));
  CHECK_EQ(found, 12);
  MPI_Type_free(&type);
  CHECK_OK(MPI_File_close(&file));
}

static void view_type_extent(void) {
  MPI_File file = check_create(check_path("dat"));
  MPI_Aint extent = -1;
  CHECK_OK(MPI_File_get_type_extent(file, MPI_INT, &extent));
  CHECK_EQ(extent, 4);
  MPI_Datatype type = tile(2, 5);
  CHECK_OK(MPI_File_get_type_extent(file, type, &extent));
  CHECK_EQ(extent, 20);
  CHECK_OK(MPI_File_set_view(file, 0, MPI_INT, type, "native", MPI_INFO_NULL));
  CHECK_OK(MPI_File_get_type_extent(file, MPI_DOUBLE, &extent));
  CHECK_EQ(extent, 8);
  CHECK_ERROR(MPI_File_get_type_extent(file, MPI_DATATYPE_NULL, &extent), MPI_ERR_TYPE);
  MPI_Type_free(&type);
  CHECK_OK(MPI_File_close(&file));
}

static void view_errors(void) {
  MPI_File file = check_create(check_path("dat"));
  MPI_Datatype three, odd;
  MPI_Type_contiguous(3, MPI_INT, &three);
  MPI_Type_commit(&three);
  MPI_Type_contiguous(7, MPI_CHAR, &odd);
  MPI_Type_commit(&odd);
  CHECK_ERROR(MPI_File_set_view(file, -4, MPI_INT, MPI_INT, "native", MPI_INFO_NULL), MPI_ERR_ARG);
  CHECK_ERROR(MPI_File_set_view(file, 0, MPI_DATATYPE_NULL, MPI_INT, "native", MPI_INFO_NULL),
              MPI_ERR_TYPE, MPI_ERR_ARG);
  CHECK_ERROR(MPI_File_set_view(file, 0, MPI_INT, MPI_DATATYPE_NULL, "native", MPI_INFO_NULL),
              MPI_ERR_TYPE, MPI_ERR_ARG);
  CHECK_ANY_ERROR(MPI_File_set_view(file, 0, three, MPI_INT, "native", MPI_INFO_NULL));
  CHECK_ANY_ERROR(MPI_File_set_view(file, 0, MPI_INT, odd, "native", MPI_INFO_NULL));
  CHECK_ERROR(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "no such", MPI_INFO_NULL),
              MPI_ERR_UNSUPPORTED_DATAREP);
  CHECK_ANY_ERROR(
      MPI_File_set_view(file, MPI_DISPLACEMENT_CURRENT, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
  /* A refused view leaves the old one. */
  expect_view(file, 0, MPI_BYTE, MPI_BYTE, "native");
  MPI_Type_free(&three);
  MPI_Type_free(&odd);
  CHECK_OK(MPI_File_close(&file));
}

/* Filetypes must not go backwards nor begin before the displacement. */
static void view_bad_filetypes(void) {
  MPI_File file = check_create(check_path("dat"));
  MPI_Datatype backwards, negative;
  MPI_Type_indexed(2, (int[]){1, 1}, (int[]){3, 0}, MPI_INT, &backwards);
  MPI_Type_commit(&backwards);
  MPI_Type_indexed(2, (int[]){1, 1}, (int[]){-2, 3}, MPI_INT, &negative);
  MPI_Type_commit(&negative);
  CHECK_ANY_ERROR(MPI_File_set_view(file, 0, MPI_INT, backwards, "native", MPI_INFO_NULL));
  CHECK_ANY_ERROR(MPI_File_set_view(file, 0, MPI_INT, negative, "native", MPI_INFO_NULL));
  MPI_Type_free(&backwards);
  MPI_Type_free(&negative);
  CHECK_OK(MPI_File_close(&file));
}

static void view_uncommitted(void) {
  MPI_File file = check_create(check_path("dat"));
  MPI_Datatype type;
  MPI_Type_vector(2, 1, 3, MPI_INT, &type);
  CHECK_ANY_ERROR(MPI_File_set_view(file, 0, MPI_INT, type, "native", MPI_INFO_NULL));
  MPI_Type_free(&type);
  CHECK_OK(MPI_File_close(&file));
}

/* Several views after each other on one handle: header, columns, trailer. */
static void view_changes(void) {
  const char* path = check_path("dat");
  MPI_File file = check_create(path);
  int header[4] = {11, 12, 13, 14};
  CHECK_OK(MPI_File_write_all(file, header, check_rank == 0 ? 4 : 0, MPI_INT, MPI_STATUS_IGNORE));
  MPI_Datatype column = tile(1, check_size);
  CHECK_OK(MPI_File_set_view(file, 16 + 4 * check_rank, MPI_INT, column, "native", MPI_INFO_NULL));
  int mine[10];
  for (int i = 0; i < 10; ++i) mine[i] = 100 * i + check_rank;
  CHECK_OK(MPI_File_write_all(file, mine, 5, MPI_INT, MPI_STATUS_IGNORE));
  CHECK_OK(MPI_File_write_all(file, mine + 5, 5, MPI_INT, MPI_STATUS_IGNORE));
  long long end = 16 + 40 * check_size;
  CHECK_OK(MPI_File_set_view(file, end, MPI_CHAR, MPI_CHAR, "native", MPI_INFO_NULL));
  char mark = (char)('a' + check_rank);
  CHECK_OK(MPI_File_write_at_all(file, check_rank, &mark, 1, MPI_CHAR, MPI_STATUS_IGNORE));
  CHECK_OK(MPI_File_close(&file));
  unsigned char expected[16 + 40 * 16 + 16];
  memcpy(expected, header, 16);
  for (int i = 0; i < 10; ++i) {
    for (int r = 0; r < check_size; ++r) {
      int value = 100 * i + r;
      memcpy(expected + 16 + 4 * (i * check_size + r), &value, 4);
      expected[end + r] = (unsigned char)('a' + r);
    }
  }
  CHECK_FILE(path, expected, (size_t)(end + check_size));
  MPI_Type_free(&column);
}

/* Every rank its own kind of view of one file, one of them empty. */
static void view_mixed(void) {
  const char* path = check_path("dat");
  MPI_File file = check_create(path);
  MPI_Datatype types[2] = {tile(3, 8), tile(1, 2)};
  MPI_Datatype type = check_rank % 3 == 2 ? MPI_BYTE : types[check_rank % 3];
  MPI_Datatype etype = check_rank % 3 == 2 ? MPI_BYTE : MPI_INT;
  CHECK_OK(MPI_File_set_view(file, 1000 * check_rank, etype, type, "native", MPI_INFO_NULL));
  int data[24];
  for (int i = 0; i < 24; ++i) data[i] = 100 * check_rank + i;
  int count = check_rank % 3 == 2 ? 0 : 24;
  MPI_Status status;
  CHECK_OK(MPI_File_set_size(file, 1000 * check_size));
  CHECK_OK(MPI_File_write_all(file, data, count, MPI_INT, &status));
  CHECK_COUNT(status, MPI_INT, count);
  int found[24] = {0};
  CHECK_OK(MPI_File_read_at_all(file, 0, found, count, MPI_INT, &status));
  CHECK_BYTES(found, data, 4 * (size_t)count);
  CHECK_OK(MPI_File_close(&file));
  MPI_Type_free(&types[0]);
  MPI_Type_free(&types[1]);
}

const struct Subtest view_subtests[] = {
    {"view_get", view_get, CHECK_ALWAYS},
    {"view_resets_pointers", view_resets_pointers, CHECK_ALWAYS},
    {"view_byte_offsets", view_byte_offsets, CHECK_ALWAYS},
    {"view_type_extent", view_type_extent, CHECK_ALWAYS},
    {"view_errors", view_errors, CHECK_ALWAYS},
    {"view_bad_filetypes", view_bad_filetypes, CHECK_ALWAYS},
    {"view_uncommitted", view_uncommitted, CHECK_ALWAYS},
    {"view_changes", view_changes, CHECK_ALWAYS},
    {"view_mixed", view_mixed, CHECK_ALWAYS},
    {0},
};
