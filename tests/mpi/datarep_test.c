/* Data representations: native, internal, external32, others. */
#include <stdlib.h>

#include "suite.h"

static MPI_File open_as(const char* suffix, const char* datarep, MPI_Datatype type) {
  MPI_File file = check_create(check_path(suffix));
  CHECK_OK(MPI_File_set_view(file, 0, type, type, datarep, MPI_INFO_NULL));
  return file;
}

static void datarep_native(void) {
  int value = 0x01020304 + check_rank, found = 0;
  MPI_File file = open_as("native", "native", MPI_INT);
  CHECK_OK(MPI_File_write_at_all(file, check_rank, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
  CHECK_OK(MPI_File_close(&file));
  int expected[64];
  for (int i = 0; i < check_size; ++i) expected[i] = 0x01020304 + i;
  CHECK_FILE(check_path("native"), expected, 4 * (size_t)check_size);
  file = open_as("internal", "internal", MPI_INT);
  CHECK_OK(MPI_File_write_at_all(file, check_rank, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
  CHECK_OK(MPI_File_read_at_all(file, check_rank, &found, 1, MPI_INT, MPI_STATUS_IGNORE));
  CHECK_EQ(found, value);
  CHECK_OK(MPI_File_close(&file));
}

/* The file holds what MPI_Pack_external says, and reads back. */
static void external32_of(const char* suffix, const void* data, size_t bytes, int count,
                          MPI_Datatype type) {
  MPI_Aint size = 0, position = 0;
  MPI_Pack_external_size("external32", count, type, &size);
  unsigned char* packed = calloc((size_t)size * (size_t)check_size + 1, 1);
  for (int r = 0; r < check_size; ++r) {
    MPI_Pack_external("external32", data, count, type, packed, size * check_size, &position);
  }
  MPI_File file = open_as(suffix, "external32", type);
  MPI_Aint extent = -1;
  CHECK_OK(MPI_File_get_type_extent(file, type, &extent));
  CHECK_EQ(extent, size / count);
  MPI_Status status;
  CHECK_OK(MPI_File_write_at_all(file, check_rank * count, data, count, type, &status));
  CHECK_COUNT(status, type, count);
  unsigned char* found = calloc(bytes, 1);
  CHECK_OK(MPI_File_read_at(file, check_rank * count, found, count, type, &status));
  CHECK_COUNT(status, type, count);
  CHECK_BYTES(found, data, bytes);
  MPI_Offset offset = -1;
  CHECK_OK(MPI_File_get_byte_offset(file, 3, &offset));
  CHECK_EQ(offset, 3 * extent);
  CHECK_OK(MPI_File_close(&file));
  CHECK_FILE(check_path(suffix), packed, (size_t)size * (size_t)check_size);
  free(packed);
  free(found);
}

static void external32_types(void) {
  short shorts[5] = {1, -2, 300, -400, 32767};
  int ints[4] = {1, 0x01020304, -1, -70000};
  long long longs[3] = {1, -2, 0x0102030405060708LL};
  float floats[3] = {1.0f, -2.5f, 1e20f};
  double doubles[3] = {1.0, -2.5, 1e200};
  unsigned char bytes[7] = "abcdefg";
  external32_of("short", shorts, sizeof shorts, 5, MPI_SHORT);
  external32_of("int", ints, sizeof ints, 4, MPI_INT);
  external32_of("int64", longs, sizeof longs, 3, MPI_INT64_T);
  external32_of("float", floats, sizeof floats, 3, MPI_FLOAT);
  external32_of("double", doubles, sizeof doubles, 3, MPI_DOUBLE);
  external32_of("byte", bytes, sizeof bytes, 7, MPI_BYTE);
}

/* Sized without regard to MPI_Pack_external: big-endian, byte for byte. */
static void external32_big_endian(void) {
  MPI_File file = open_as("dat", "external32", MPI_INT);
  int value = 0x01020304, found = 0;
  CHECK_OK(MPI_File_write_at_all(file, check_rank, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
  CHECK_OK(MPI_File_read_at_all(file, check_rank, &found, 1, MPI_INT, MPI_STATUS_IGNORE));
  CHECK_EQ(found, value);
  CHECK_OK(MPI_File_close(&file));
  unsigned char expected[256];
  for (int i = 0; i < check_size; ++i) memcpy(expected + 4 * i, "\1\2\3\4", 4);
  CHECK_FILE(check_path("dat"), expected, 4 * (size_t)check_size);
}

/* With gaps in file and memory, through pointers, posted and collective. */
static void external32_views(void) {
  MPI_File file = check_create(check_path("dat"));
  MPI_Datatype column, spread;
  MPI_Type_create_resized(MPI_DOUBLE, 0, 8 * (MPI_Aint)check_size, &column);
  MPI_Type_commit(&column);
  MPI_Type_create_resized(MPI_DOUBLE, 0, 24, &spread);
  MPI_Type_commit(&spread);
  CHECK_OK(
      MPI_File_set_view(file, 8 * check_rank, MPI_DOUBLE, column, "external32", MPI_INFO_NULL));
  double data[60], found[60];
  for (int i = 0; i < 60; ++i) data[i] = 1.25 * i + check_rank;
  MPI_Status status;
  CHECK_OK(MPI_File_write_all(file, data, 20, spread, &status));
  CHECK_COUNT(status, spread, 20);
  MPI_Request request;
  CHECK_OK(MPI_File_iwrite(file, data, 10, MPI_DOUBLE, &request));
  CHECK_OK(MPI_Wait(&request, &status));
  CHECK_COUNT(status, MPI_DOUBLE, 10);
  memset(found, 0, sizeof found);
  CHECK_OK(MPI_File_read_at_all(file, 0, found, 20, spread, &status));
  CHECK_COUNT(status, spread, 20);
  for (int i = 0; i < 60; ++i) CHECK(found[i] == (i % 3 ? 0.0 : data[i]));
  CHECK_OK(MPI_File_iread_at(file, 20, found, 20, MPI_DOUBLE, &request));
  CHECK_OK(MPI_Wait(&request, &status));
  CHECK_COUNT(status, MPI_DOUBLE, 10);
  CHECK_BYTES(found, data, 80);
  MPI_Type_free(&column);
  MPI_Type_free(&spread);
  CHECK_OK(MPI_File_close(&file));
}

static int extent_of(MPI_Datatype type, MPI_Aint* extent, void* state) {
  MPI_Aint lb;
  ++*(int*)state;
  return MPI_Type_get_extent(type, &lb, extent);
}

/* User representations may be refused; a name is registered once. */
static void register_datarep(void) {
  static int calls;
  int code = MPI_Register_datarep("tessera test", MPI_CONVERSION_FN_NULL, MPI_CONVERSION_FN_NULL,
                                  extent_of, &calls);
  if (code != MPI_SUCCESS) {
    CHECK_ERROR(code, MPI_ERR_UNSUPPORTED_DATAREP, MPI_ERR_CONVERSION, MPI_ERR_OTHER);
  } else {
    CHECK_ERROR(MPI_Register_datarep("tessera test", MPI_CONVERSION_FN_NULL, MPI_CONVERSION_FN_NULL,
                                     extent_of, &calls),
                MPI_ERR_DUP_DATAREP);
  }
  CHECK_ANY_ERROR(MPI_Register_datarep("native", MPI_CONVERSION_FN_NULL, MPI_CONVERSION_FN_NULL,
                                       extent_of, &calls));
#if MPI_VERSION >= 4
  CHECK_ANY_ERROR(MPI_Register_datarep_c("native", MPI_CONVERSION_FN_NULL_C,
                                         MPI_CONVERSION_FN_NULL_C, extent_of, &calls));
  if (code == MPI_SUCCESS) {
    CHECK_ERROR(MPI_Register_datarep_c("tessera test", MPI_CONVERSION_FN_NULL_C,
                                       MPI_CONVERSION_FN_NULL_C, extent_of, &calls),
                MPI_ERR_DUP_DATAREP);
  }
#endif
}

const struct Subtest datarep_subtests[] = {
    {"datarep_native", datarep_native, CHECK_ALWAYS},
    {"external32_types", external32_types, CHECK_ALWAYS},
    {"external32_big_endian", external32_big_endian, CHECK_ALWAYS},
    {"external32_views", external32_views, CHECK_ALWAYS},
    {"register_datarep", register_datarep, CHECK_ALWAYS},
    {0},
};
