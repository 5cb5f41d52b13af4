/* Every way to build a datatype, as memory type and as filetype, against the bytes it must touch.
 */
#include <stdlib.h>

#include "suite.h"
#include "typemap.h"

/* Room for what a map touches around its origin. */
struct Room {
  unsigned char* memory;
  unsigned char* origin;
  size_t bytes;
};

static struct Room room_for(const struct Map* map, int count) {
  struct Run span = map_span(map, count);
  struct Room room;
  long long below = span.begin < 0 ? -span.begin : 0;
  room.bytes = (size_t)(below + (span.end > 0 ? span.end : 0)) + 16;
  room.memory = malloc(room.bytes);
  room.origin = room.memory + below;
  memset(room.memory, 0xEE, room.bytes);
  return room;
}

enum { kFilled = 0xA5 };

static void make_filled(const char* path, size_t bytes) {
  unsigned char* data = malloc(bytes);
  memset(data, kFilled, bytes);
  check_make_file(path, data, bytes);
  free(data);
}

static MPI_File open_part(const char* path, const struct Map* etype, long long disp) {
  MPI_File file = check_create(path);
  CHECK_OK(MPI_File_set_view(file, disp, etype->type, etype->type, "native", MPI_INFO_NULL));
  return file;
}

/* As memory type: what is written is the gathered stream; what is read lands on the runs and
 * nowhere else. Each rank has its own part of a file. */
static void check_memory(const char* suffix, const struct Map* map, int count) {
  long long bytes = count * map->bytes;
  long long room = 2 * bytes, before = 0;
  MPI_Exscan(&room, &before, 1, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
  struct Map byte = map_named(MPI_BYTE);
  MPI_File file = open_part(check_path(suffix), &byte, before);
  struct Room source = room_for(map, count), target = room_for(map, count);
  struct Room expected = room_for(map, count);
  check_fill(source.memory, source.bytes, (unsigned)check_rank);
  unsigned char* stream = calloc((size_t)bytes + 1, 1);
  unsigned char* found = calloc((size_t)bytes + 1, 1);
  map_gather(map, 0, stream, bytes, source.origin);
  map_scatter(map, 0, stream, bytes, expected.origin);
  MPI_Status status;
  for (int collective = 0; collective < 2; ++collective) {
    MPI_Offset at = collective * bytes;
    CHECK_OK(collective ? MPI_File_write_at_all(file, at, source.origin, count, map->type, &status)
                        : MPI_File_write_at(file, at, source.origin, count, map->type, &status));
    CHECK_COUNT(status, MPI_BYTE, bytes);
    if (map->bytes > 0) CHECK_COUNT(status, map->type, count);
    CHECK_OK(MPI_File_read_at(file, at, found, (int)bytes, MPI_BYTE, &status));
    CHECK_BYTES(found, stream, (size_t)bytes);
    memset(target.memory, 0xEE, target.bytes);
    CHECK_OK(collective ? MPI_File_read_at_all(file, at, target.origin, count, map->type, &status)
                        : MPI_File_read_at(file, at, target.origin, count, map->type, &status));
    CHECK_COUNT(status, MPI_BYTE, bytes);
    CHECK_BYTES(target.memory, expected.memory, target.bytes);
  }
  free(source.memory);
  free(target.memory);
  free(expected.memory);
  free(stream);
  free(found);
  map_free(&byte);
  CHECK_OK(MPI_File_close(&file));
}

/* As filetype, tiled count times and begun in the middle: the stream lands on the runs, and the
 * bytes between them stay what they were. */
static void check_filetype(const char* suffix, const struct Map* map, const struct Map* etype,
                           int count) {
  long long etype_bytes = etype->bytes;
  long long bytes = count * map->bytes - etype_bytes;
  long long span = map_span(map, count).end;
  long long disp = check_rank * (span + 5);
  make_filled(check_path(suffix), (size_t)(check_size * (span + 5)));
  MPI_File file = check_create(check_path(suffix));
  CHECK_OK(MPI_File_set_view(file, disp, etype->type, map->type, "native", MPI_INFO_NULL));
  unsigned char* stream = calloc((size_t)bytes + 1, 1);
  unsigned char* found = calloc((size_t)(span + 1 > bytes ? span + 1 : bytes), 1);
  unsigned char* expected = malloc((size_t)span + 1);
  memset(expected, kFilled, (size_t)span + 1);
  MPI_Status status;
  for (int collective = 0; collective < 2; ++collective) {
    check_fill(stream, (size_t)bytes, (unsigned)(2 * check_rank + collective));
    map_scatter(map, etype_bytes, stream, bytes, expected);
    CHECK_OK(collective ? MPI_File_write_at_all(file, 1, stream, (int)bytes, MPI_BYTE, &status)
                        : MPI_File_write_at(file, 1, stream, (int)bytes, MPI_BYTE, &status));
    CHECK_COUNT(status, MPI_BYTE, bytes);
    memset(found, 0xEE, (size_t)bytes);
    CHECK_OK(collective ? MPI_File_read_at_all(file, 1, found, (int)bytes, MPI_BYTE, &status)
                        : MPI_File_read_at(file, 1, found, (int)bytes, MPI_BYTE, &status));
    CHECK_COUNT(status, MPI_BYTE, bytes);
    CHECK_BYTES(found, stream, (size_t)bytes);
    CHECK_OK(MPI_File_sync(file));
    check_barrier();
  }
  CHECK_OK(MPI_File_set_view(file, disp, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
  memset(found, 0, (size_t)span);
  CHECK_OK(MPI_File_read_at(file, 0, found, (int)span, MPI_BYTE, &status));
  CHECK_BYTES(found, expected, (size_t)span);
  CHECK_OK(MPI_File_close(&file));
  free(stream);
  free(found);
  free(expected);
}

/* Both, for a map that may be a filetype. */
static void check_both(struct Map map, const struct Map* etype, int count) {
  check_memory("memory", &map, count);
  check_filetype("file", &map, etype, count);
  map_free(&map);
}

static void with_int(struct Map (*make)(const struct Map* of)) {
  struct Map element = map_named(MPI_INT);
  check_both(make(&element), &element, 3);
  map_free(&element);
}

/* For gaps that are no multiples of an int. */
static void with_bytes(struct Map (*make)(const struct Map* of)) {
  struct Map element = map_named(MPI_INT), byte = map_named(MPI_BYTE);
  check_both(make(&element), &byte, 3);
  map_free(&element);
  map_free(&byte);
}

static struct Map make_contiguous(const struct Map* of) { return map_contiguous(7, of); }
static struct Map make_vector(const struct Map* of) { return map_vector(5, 2, 3, of); }
static struct Map make_hvector(const struct Map* of) { return map_hvector(4, 3, 17, of); }
static struct Map make_indexed(const struct Map* of) {
  return map_indexed(5, (int[]){2, 0, 1, 3, 0}, (int[]){0, 2, 4, 7, 20}, of);
}
static struct Map make_hindexed(const struct Map* of) {
  return map_hindexed(4, (int[]){1, 2, 0, 1}, (MPI_Aint[]){3, 9, 20, 31}, of);
}
static struct Map make_indexed_block(const struct Map* of) {
  return map_indexed_block(3, 2, (int[]){1, 4, 9}, of);
}
static struct Map make_hindexed_block(const struct Map* of) {
  return map_hindexed_block(3, 2, (MPI_Aint[]){2, 13, 40}, of);
}
static struct Map make_resized(const struct Map* of) { return map_resized(0, 10, of); }
static struct Map make_dup(const struct Map* of) {
  struct Map vector = map_vector(3, 1, 2, of);
  struct Map map = map_dup(&vector);
  map_free(&vector);
  return map;
}
static struct Map make_subarray_c(const struct Map* of) {
  return map_subarray(3, (int[]){4, 5, 6}, (int[]){2, 3, 2}, (int[]){1, 0, 3}, MPI_ORDER_C, of);
}
static struct Map make_subarray_fortran(const struct Map* of) {
  return map_subarray(2, (int[]){6, 5}, (int[]){2, 3}, (int[]){3, 1}, MPI_ORDER_FORTRAN, of);
}

static void type_contiguous(void) { with_int(make_contiguous); }
static void type_vector(void) { with_int(make_vector); }
static void type_hvector(void) { with_bytes(make_hvector); }
static void type_indexed(void) { with_int(make_indexed); }
static void type_hindexed(void) { with_bytes(make_hindexed); }
static void type_indexed_block(void) { with_int(make_indexed_block); }
static void type_hindexed_block(void) { with_bytes(make_hindexed_block); }
static void type_resized(void) { with_bytes(make_resized); }
static void type_dup(void) { with_int(make_dup); }
static void type_subarray_c(void) { with_int(make_subarray_c); }
static void type_subarray_fortran(void) { with_int(make_subarray_fortran); }

static void type_darray(void) {
  struct Map element = map_named(MPI_INT);
  const int sizes[2] = {7, 10}, processes[2] = {1, check_size};
  const int distributions[2] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC};
  const int arguments[2] = {MPI_DISTRIBUTE_DFLT_DARG, 2};
  int orders[2] = {MPI_ORDER_C, MPI_ORDER_FORTRAN};
  for (int i = 0; i < 2; ++i) {
    struct Map map = map_darray(check_size, check_rank, 2, sizes, distributions, arguments,
                                processes, orders[i], &element);
    check_memory(i ? "memory_fortran" : "memory_c", &map, 2);
    check_memory(i ? "again_fortran" : "again_c", &map, 1);
    map_free(&map);
  }
  map_free(&element);
}

/* All ranks' parts of one array through one view each. */
static void darray_array(const char* suffix, const int* distributions, const int* arguments,
                         int order) {
  struct Map element = map_named(MPI_INT);
  int processes[2] = {check_size % 2 ? 1 : 2, check_size % 2 ? check_size : check_size / 2};
  const int sizes[2] = {9, 14};
  struct Map map = map_darray(check_size, check_rank, 2, sizes, distributions, arguments, processes,
                              order, &element);
  MPI_File file = check_create(check_path(suffix));
  CHECK_OK(MPI_File_set_view(file, 0, MPI_INT, map.type, "native", MPI_INFO_NULL));
  int expected[126], mine[126];
  for (int i = 0; i < 126; ++i) expected[i] = 3 * i + 1;
  map_gather(&map, 0, (unsigned char*)mine, map.bytes, (unsigned char*)expected);
  MPI_Status status;
  CHECK_OK(MPI_File_write_all(file, mine, (int)map.bytes / 4, MPI_INT, &status));
  CHECK_COUNT(status, MPI_INT, map.bytes / 4);
  CHECK_OK(MPI_File_close(&file));
  CHECK_FILE(check_path(suffix), expected, sizeof expected);
  map_free(&map);
  map_free(&element);
}

static void type_darray_views(void) {
  const int block[2] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_BLOCK};
  const int cyclic[2] = {MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_CYCLIC};
  const int defaults[2] = {MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG};
  const int pairs[2] = {2, 2};
  darray_array("block_c", block, defaults, MPI_ORDER_C);
  darray_array("block_fortran", block, defaults, MPI_ORDER_FORTRAN);
  darray_array("cyclic_c", cyclic, defaults, MPI_ORDER_C);
  darray_array("cyclic_fortran", cyclic, pairs, MPI_ORDER_FORTRAN);
  darray_array("pairs_c", cyclic, pairs, MPI_ORDER_C);
}

/* A struct of vectors and scalars, then resized so that its items interleave nothing. */
static void type_struct(void) {
  struct Map parts[4] = {map_named(MPI_CHAR), map_named(MPI_DOUBLE), map_named(MPI_INT),
                         map_named(MPI_SHORT)};
  map_replace(&parts[1], map_vector(3, 1, 2, &parts[1]));
  map_replace(&parts[2], map_vector(2, 2, 3, &parts[2]));
  struct Map byte = map_named(MPI_BYTE);
  struct Map map = map_struct(4, (int[]){3, 1, 2, 1}, (MPI_Aint[]){0, 8, 64, 140}, parts);
  map_replace(&map, map_resized(0, 160, &map));
  check_both(map, &byte, 3);
  for (int i = 0; i < 4; ++i) map_free(&parts[i]);
  map_free(&byte);
}

/* Bounds below zero: as memory also data below the buffer's address. */
static void type_negative_bounds(void) {
  struct Map element = map_named(MPI_INT);
  struct Map map = map_resized(-8, 24, &element);
  check_both(map, &element, 4);
  map = map_hindexed(3, (int[]){1, 2, 1}, (MPI_Aint[]){-20, -4, 12}, &element);
  check_memory("below", &map, 3);
  map_replace(&map, map_resized(-32, 64, &map));
  check_memory("below_resized", &map, 3);
  map_free(&map);
  /* The lower bound of a filetype only counts in its extent. */
  map = map_resized(12, 16, &element);
  check_filetype("above", &map, &element, 3);
  map_free(&map);
  map_free(&element);
}

/* Memory types may go backwards and jump about. */
static void type_backwards(void) {
  struct Map element = map_named(MPI_INT);
  struct Map map = map_indexed(4, (int[]){1, 2, 1, 1}, (int[]){9, 3, 0, 6}, &element);
  check_memory("indexed", &map, 3);
  map_replace(&map, map_hvector(3, 1, -64, &map));
  check_memory("hvector", &map, 2);
  map_free(&map);
  map_free(&element);
}

/* Overlapping items may be written (each byte as often as it occurs), not read. */
static void type_overlapping_write(void) {
  struct Map element = map_named(MPI_INT);
  struct Map map = map_indexed(3, (int[]){2, 2, 1}, (int[]){0, 1, 0}, &element);
  struct Map repeated = map_resized(0, 4, &map);
  long long bytes = 4 * repeated.bytes;
  int source[16];
  for (int i = 0; i < 16; ++i) source[i] = 100 * check_rank + i;
  unsigned char stream[256], found[256];
  map_gather(&repeated, 0, stream, bytes, (unsigned char*)source);
  MPI_File file = check_create(check_path("dat"));
  MPI_Status status;
  for (int collective = 0; collective < 2; ++collective) {
    MPI_Offset at = (2 * check_rank + collective) * bytes;
    CHECK_OK(collective ? MPI_File_write_at_all(file, at, source, 4, repeated.type, &status)
                        : MPI_File_write_at(file, at, source, 4, repeated.type, &status));
    CHECK_COUNT(status, repeated.type, 4);
    CHECK_OK(MPI_File_read_at(file, at, found, (int)bytes, MPI_BYTE, &status));
    CHECK_BYTES(found, stream, (size_t)bytes);
  }
  CHECK_OK(MPI_File_close(&file));
  map_free(&map);
  map_free(&repeated);
  map_free(&element);
}

/* Types without any bytes, alone and inside others. */
static void type_empty(void) {
  struct Map element = map_named(MPI_INT);
  struct Map none = map_contiguous(0, &element);
  check_memory("none", &none, 4);
  struct Map parts[3] = {map_contiguous(0, &element), map_vector(2, 1, 2, &element),
                         map_contiguous(0, &element)};
  struct Map map = map_struct(3, (int[]){5, 1, 0}, (MPI_Aint[]){0, 16, 80}, parts);
  map_replace(&map, map_resized(0, 40, &map));
  check_both(map, &element, 3);
  for (int i = 0; i < 3; ++i) map_free(&parts[i]);
  map_free(&none);
  map_free(&element);
}

/* Absolute addresses with MPI_BOTTOM. */
static void type_bottom(void) {
  int one[3] = {1, 2, 3}, two[2] = {4, 5}, found[5];
  MPI_Aint at[2];
  MPI_Datatype type;
  MPI_Get_address(one, &at[0]);
  MPI_Get_address(two, &at[1]);
  MPI_Type_create_hindexed(2, (int[]){3, 2}, at, MPI_INT, &type);
  MPI_Type_commit(&type);
  MPI_File file = check_create(check_path("dat"));
  CHECK_OK(MPI_File_write_at_all(file, 20 * check_rank, MPI_BOTTOM, 1, type, MPI_STATUS_IGNORE));
  CHECK_OK(MPI_File_read_at(file, 20 * check_rank, found, 5, MPI_INT, MPI_STATUS_IGNORE));
  for (int i = 0; i < 5; ++i) CHECK_EQ(found[i], i + 1);
  memset(one, 0, sizeof one);
  memset(two, 0, sizeof two);
  CHECK_OK(MPI_File_read_at_all(file, 20 * check_rank, MPI_BOTTOM, 1, type, MPI_STATUS_IGNORE));
  CHECK_EQ(one[2], 3);
  CHECK_EQ(two[0], 4);
  MPI_Type_free(&type);
  CHECK_OK(MPI_File_close(&file));
}

const struct Subtest type_subtests[] = {
    {"type_contiguous", type_contiguous, CHECK_ALWAYS},
    {"type_vector", type_vector, CHECK_ALWAYS},
    {"type_hvector", type_hvector, CHECK_ALWAYS},
    {"type_indexed", type_indexed, CHECK_ALWAYS},
    {"type_hindexed", type_hindexed, CHECK_ALWAYS},
    {"type_indexed_block", type_indexed_block, CHECK_ALWAYS},
    {"type_hindexed_block", type_hindexed_block, CHECK_ALWAYS},
    {"type_resized", type_resized, CHECK_ALWAYS},
    {"type_dup", type_dup, CHECK_ALWAYS},
    {"type_subarray_c", type_subarray_c, CHECK_ALWAYS},
    {"type_subarray_fortran", type_subarray_fortran, CHECK_ALWAYS},
    {"type_darray", type_darray, CHECK_ALWAYS},
    {"type_darray_views", type_darray_views, CHECK_ALWAYS},
    {"type_struct", type_struct, CHECK_ALWAYS},
    {"type_negative_bounds", type_negative_bounds, CHECK_ALWAYS},
    {"type_backwards", type_backwards, CHECK_ALWAYS},
    {"type_overlapping_write", type_overlapping_write, CHECK_ALWAYS},
    {"type_empty", type_empty, CHECK_ALWAYS},
    {"type_bottom", type_bottom, CHECK_ALWAYS},
    {0},
};
