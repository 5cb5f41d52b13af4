/* Random views and memory types against a model: an array that is the whole file. All ranks write
 * disjoint parts by one mode, then each reads by another through a view of its own. The seed is
 * --seed; a failure prints the round. */
#include <stdio.h>
#include <stdlib.h>

#include "random_type.h"
#include "suite.h"

enum { kRounds = 12, kFileMax = 200000, kSegments = 40, kRanksMax = 32, kModes = 10 };

static const char* const kElementNames[] = {"byte", "short", "int", "double"};

/* What one rank does in a round. */
struct Part {
  struct Map filetype, memory;
  long long offset; /* in bytes of the view's data */
  int count;        /* of the memory type */
  long long bytes;
};

struct Model {
  unsigned char* file;
  long long size;
  bool below; /* memory types may reach below their origin */
};

static struct Map element_of(int which) {
  const MPI_Datatype types[] = {MPI_BYTE, MPI_SHORT, MPI_INT, MPI_DOUBLE};
  return map_named(types[which]);
}

/* As many items as keep the file small. */
static void part_fit(struct Random* random, struct Part* part, long long unit, long long disp) {
  part->offset = unit * random_below(random, 12);
  part->count = random_below(random, 6);
  for (;; --part->count) {
    part->bytes = part->count * part->memory.bytes;
    long long tiles = (part->offset + part->bytes) / part->filetype.bytes + 1;
    if (part->count == 0 || disp + tiles * part->filetype.extent < kFileMax) return;
  }
}

static void part_free(struct Part* part) {
  map_free(&part->filetype);
  map_free(&part->memory);
}

/* Every rank a random type in a slot of its own. */
static void slots(struct Random* randoms, const struct Map* element, struct Part* parts) {
  long long slot = 0;
  for (int r = 0; r < check_size; ++r) {
    parts[r].filetype = random_filetype(&randoms[r], element);
    long long end = map_span(&parts[r].filetype, 1).end;
    if (end > slot) slot = end;
  }
  for (int r = 0; r < check_size; ++r) {
    MPI_Aint at = r * slot;
    struct Map* map = &parts[r].filetype;
    map_replace(map, map_hindexed(1, (int[]){1}, &at, map));
    map_replace(map, map_resized(0, check_size * slot, map));
  }
}

/* Segments of random length and owner; nobody owns some. */
static void segments(struct Random* common, const struct Map* element, struct Part* parts) {
  int owners[kSegments], lengths[kSegments];
  for (int i = 0; i < kSegments; ++i) {
    owners[i] = i < check_size ? i : random_below(common, check_size + 1);
    lengths[i] = i < check_size ? 1 : random_below(common, 5);
  }
  for (int r = 0; r < check_size; ++r) {
    int mine[kSegments], count = 0, next = 0;
    int at[kSegments];
    for (int i = 0; i < kSegments; ++i) {
      if (owners[i] == r) {
        mine[count] = lengths[i];
        at[count++] = next;
      }
      next += lengths[i];
    }
    struct Map map = map_indexed(count, mine, at, element);
    parts[r].filetype = map_resized(0, next * element->extent, &map);
    map_free(&map);
  }
}

/* Cyclic columns. */
static void columns(struct Random* common, const struct Map* element, struct Part* parts) {
  int width = 1 + random_below(common, 4), rows = 1 + random_below(common, 30);
  for (int r = 0; r < check_size; ++r) {
    struct Map map = map_vector(rows, width, width * check_size, element);
    MPI_Aint at = r * width * element->extent;
    map_replace(&map, map_hindexed(1, (int[]){1}, &at, &map));
    parts[r].filetype = map_resized(0, rows * width * check_size * element->extent, &map);
    map_free(&map);
  }
}

static void make_parts(unsigned seed, int round, const struct Map* element, long long disp,
                       bool below, struct Part* parts) {
  struct Random common = random_from(seed, (unsigned)round, 1000);
  struct Random randoms[kRanksMax];
  for (int r = 0; r < check_size; ++r) randoms[r] = random_from(seed, (unsigned)round, (unsigned)r);
  switch (random_below(&common, 3)) {
    case 0:
      slots(randoms, element, parts);
      break;
    case 1:
      segments(&common, element, parts);
      break;
    default:
      columns(&common, element, parts);
  }
  for (int r = 0; r < check_size; ++r) {
    parts[r].memory = random_memory_type(&randoms[r], element, below);
    part_fit(&randoms[r], &parts[r], element->bytes, disp);
  }
}

/* A buffer with room for the memory type on both sides of its origin. */
static unsigned char* part_room(const struct Part* part, unsigned char** origin, size_t* bytes) {
  struct Run span = map_span(&part->memory, part->count);
  long long below = span.begin < 0 ? -span.begin : 0;
  *bytes = (size_t)(below + (span.end > 0 ? span.end : 0)) + 8;
  unsigned char* memory = malloc(*bytes);
  memset(memory, 0xEE, *bytes);
  *origin = memory + below;
  return memory;
}

static int write_by(int mode, MPI_File file, MPI_Offset at, const void* data,
                    const struct Part* part, MPI_Status* status) {
  MPI_Datatype type = part->memory.type;
  int count = part->count;
  MPI_Request request = MPI_REQUEST_NULL;
  int code;
  if (mode < 5) CHECK_OK(MPI_File_seek(file, at, MPI_SEEK_SET));
  switch (mode) {
    case 0:
      return MPI_File_write(file, data, count, type, status);
    case 1:
      return MPI_File_write_all(file, data, count, type, status);
    case 2:
      return check_wait(MPI_File_iwrite(file, data, count, type, &request), &request, status);
    case 3:
      return check_wait(MPI_File_iwrite_all(file, data, count, type, &request), &request, status);
    case 4:
      code = MPI_File_write_all_begin(file, data, count, type);
      return code != MPI_SUCCESS ? code : MPI_File_write_all_end(file, data, status);
    case 5:
      return MPI_File_write_at(file, at, data, count, type, status);
    case 6:
      return MPI_File_write_at_all(file, at, data, count, type, status);
    case 7:
      return check_wait(MPI_File_iwrite_at(file, at, data, count, type, &request), &request,
                        status);
    case 8:
      return check_wait(MPI_File_iwrite_at_all(file, at, data, count, type, &request), &request,
                        status);
    default:
      code = MPI_File_write_at_all_begin(file, at, data, count, type);
      return code != MPI_SUCCESS ? code : MPI_File_write_at_all_end(file, data, status);
  }
}

static int read_by(int mode, MPI_File file, MPI_Offset at, void* data, const struct Part* part,
                   MPI_Status* status) {
  MPI_Datatype type = part->memory.type;
  int count = part->count;
  MPI_Request request = MPI_REQUEST_NULL;
  int code;
  if (mode < 5) CHECK_OK(MPI_File_seek(file, at, MPI_SEEK_SET));
  switch (mode) {
    case 0:
      return MPI_File_read(file, data, count, type, status);
    case 1:
      return MPI_File_read_all(file, data, count, type, status);
    case 2:
      return check_wait(MPI_File_iread(file, data, count, type, &request), &request, status);
    case 3:
      return check_wait(MPI_File_iread_all(file, data, count, type, &request), &request, status);
    case 4:
      code = MPI_File_read_all_begin(file, data, count, type);
      return code != MPI_SUCCESS ? code : MPI_File_read_all_end(file, data, status);
    case 5:
      return MPI_File_read_at(file, at, data, count, type, status);
    case 6:
      return MPI_File_read_at_all(file, at, data, count, type, status);
    case 7:
      return check_wait(MPI_File_iread_at(file, at, data, count, type, &request), &request, status);
    case 8:
      return check_wait(MPI_File_iread_at_all(file, at, data, count, type, &request), &request,
                        status);
    default:
      code = MPI_File_read_at_all_begin(file, at, data, count, type);
      return code != MPI_SUCCESS ? code : MPI_File_read_at_all_end(file, data, status);
  }
}

/* Writes my part, and all ranks' parts into the model. */
static void write_round(MPI_File file, int mode, const struct Part* parts,
                        const struct Map* element, long long disp, unsigned pattern,
                        struct Model* model) {
  for (int r = 0; r < check_size; ++r) {
    unsigned char* stream = malloc((size_t)parts[r].bytes + 1);
    check_fill(stream, (size_t)parts[r].bytes, pattern + (unsigned)r);
    long long end = map_scatter(&parts[r].filetype, parts[r].offset, stream, parts[r].bytes,
                                model->file + disp);
    if (end > 0 && disp + end > model->size) model->size = disp + end;
    free(stream);
  }
  const struct Part* mine = &parts[check_rank];
  unsigned char *origin, *stream = malloc((size_t)mine->bytes + 1);
  size_t room;
  unsigned char* memory = part_room(mine, &origin, &room);
  check_fill(stream, (size_t)mine->bytes, pattern + (unsigned)check_rank);
  map_scatter(&mine->memory, 0, stream, mine->bytes, origin);
  MPI_Status status;
  CHECK_OK(write_by(mode, file, mine->offset / element->bytes, origin, mine, &status));
  CHECK_COUNT(status, MPI_BYTE, mine->bytes);
  free(stream);
  free(memory);
}

/* Reads my part and compares bytes, count and the gaps in memory. */
static void read_round(MPI_File file, int mode, const struct Part* part, const struct Map* element,
                       long long disp, const struct Model* model) {
  unsigned char *origin, *expected_origin, *stream = malloc((size_t)part->bytes + 1);
  size_t room;
  unsigned char* memory = part_room(part, &origin, &room);
  unsigned char* expected = part_room(part, &expected_origin, &room);
  MPI_Status status;
  CHECK_OK(read_by(mode, file, part->offset / element->bytes, origin, part, &status));
  long long bytes = map_bytes_below(&part->filetype, part->offset, part->bytes, model->size - disp);
  CHECK_COUNT(status, MPI_BYTE, bytes);
  map_gather(&part->filetype, part->offset, stream, bytes, model->file + disp);
  map_scatter(&part->memory, 0, stream, bytes, expected_origin);
  /* What lies where the end of the file left nothing is open. */
  map_gather(&part->memory, bytes, stream, part->bytes - bytes, origin);
  map_scatter(&part->memory, bytes, stream, part->bytes - bytes, expected_origin);
  CHECK_BYTES(memory, expected, room);
  free(stream);
  free(memory);
  free(expected);
}

static void one_round(MPI_File file, unsigned seed, int round, const struct Map* element,
                      struct Model* model) {
  struct Random common = random_from(seed, (unsigned)round, 2000);
  long long disp = random_below(&common, 20);
  int write_mode = random_below(&common, kModes), read_mode = random_below(&common, kModes);
  struct Part parts[kRanksMax];
  make_parts(seed, round, element, disp, model->below, parts);
  struct Part* mine = &parts[check_rank];
  CHECK_OK(
      MPI_File_set_view(file, disp, element->type, mine->filetype.type, "native", MPI_INFO_NULL));
  write_round(file, write_mode, parts, element, disp, seed + (unsigned)round, model);
  CHECK_OK(MPI_File_sync(file));
  check_barrier();
  CHECK_OK(MPI_File_sync(file));
  /* Another rank's view, and one of its own that may reach past the end. */
  struct Part* other = &parts[(check_rank + 1) % check_size];
  CHECK_OK(
      MPI_File_set_view(file, disp, element->type, other->filetype.type, "native", MPI_INFO_NULL));
  read_round(file, read_mode, other, element, disp, model);
  struct Random own = random_from(seed, (unsigned)round, 3000 + (unsigned)check_rank);
  struct Part free_part = {.filetype = random_filetype(&own, element),
                           .memory = random_memory_type(&own, element, model->below)};
  part_fit(&own, &free_part, element->bytes, disp);
  CHECK_OK(MPI_File_set_view(file, disp, element->type, free_part.filetype.type, "native",
                             MPI_INFO_NULL));
  read_round(file, (read_mode + 3) % kModes, &free_part, element, disp, model);
  check_barrier();
  part_free(&free_part);
  for (int r = 0; r < check_size; ++r) part_free(&parts[r]);
}

/* A file that begins empty, or filled and as long as it may become; the latter also where stock
 * libraries can be compared: they err at ends, in gaps and below buffers. */
static void random_file(unsigned seed, int which, bool filled) {
  const char* name = kElementNames[which];
  struct Model model = {.file = calloc(2 * kFileMax, 1), .below = !filled};
  struct Map element = element_of(which);
  if (filled) {
    model.size = kFileMax;
    check_fill(model.file, kFileMax, seed);
    check_make_file(check_path(name), model.file, kFileMax);
  }
  MPI_File file = check_create(check_path(name));
  for (int round = 0; round < kRounds; ++round) {
    long before = check_failures();
    one_round(file, seed + 1000u * (unsigned)which, round, &element, &model);
    if (check_failures() > before) {
      check_failed(__FILE__, __LINE__, "above: --seed %u, file %s, round %d", seed, name, round);
    }
  }
  CHECK_OK(MPI_File_close(&file));
  CHECK_FILE(check_path(name), model.file, (size_t)model.size);
  map_free(&element);
  free(model.file);
}

static void random_views(void) {
  for (int which = 0; which < 4; ++which) random_file(suite_seed, which, true);
}

static void random_views_from_empty(void) {
  for (int which = 0; which < 4; ++which) random_file(suite_seed + 7, which, false);
}

const struct Subtest random_subtests[] = {
    {"random_views", random_views, CHECK_ALWAYS},
    {"random_views_from_empty", random_views_from_empty, CHECK_ALWAYS},
    {0},
};
