#include "typemap.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static void add_run(struct Map* map, long long begin, long long end) {
  if (begin == end) return;
  map->runs = realloc(map->runs, (map->run_count + 1) * sizeof *map->runs);
  map->runs[map->run_count++] = (struct Run){begin, end};
  map->bytes += end - begin;
}

/* length items of a map, one after the other from byte at. */
static void add_block(struct Map* map, int length, long long at, const struct Map* of) {
  for (int i = 0; i < length; ++i) {
    for (size_t k = 0; k < of->run_count; ++k) {
      long long shift = at + i * of->extent;
      add_run(map, of->runs[k].begin + shift, of->runs[k].end + shift);
    }
  }
}

static void commit(struct Map* map) {
  MPI_Aint lb, extent;
  MPI_Type_commit(&map->type);
  MPI_Type_get_extent(map->type, &lb, &extent);
  map->lb = lb;
  map->extent = extent;
}

struct Map map_named(MPI_Datatype type) {
  struct Map map = {0};
  MPI_Type_dup(type, &map.type);
  int size;
  MPI_Type_size(type, &size);
  add_run(&map, 0, size);
  commit(&map);
  return map;
}

struct Map map_contiguous(int count, const struct Map* of) {
  struct Map map = {0};
  add_block(&map, count, 0, of);
  MPI_Type_contiguous(count, of->type, &map.type);
  commit(&map);
  return map;
}

struct Map map_vector(int count, int length, int stride, const struct Map* of) {
  struct Map map = {0};
  for (int i = 0; i < count; ++i) add_block(&map, length, i * stride * of->extent, of);
  MPI_Type_vector(count, length, stride, of->type, &map.type);
  commit(&map);
  return map;
}

struct Map map_hvector(int count, int length, MPI_Aint stride, const struct Map* of) {
  struct Map map = {0};
  for (int i = 0; i < count; ++i) add_block(&map, length, i * stride, of);
  MPI_Type_create_hvector(count, length, stride, of->type, &map.type);
  commit(&map);
  return map;
}

struct Map map_indexed(int count, const int* lengths, const int* at, const struct Map* of) {
  struct Map map = {0};
  for (int i = 0; i < count; ++i) add_block(&map, lengths[i], at[i] * of->extent, of);
  MPI_Type_indexed(count, lengths, at, of->type, &map.type);
  commit(&map);
  return map;
}

struct Map map_hindexed(int count, const int* lengths, const MPI_Aint* at, const struct Map* of) {
  struct Map map = {0};
  for (int i = 0; i < count; ++i) add_block(&map, lengths[i], at[i], of);
  MPI_Type_create_hindexed(count, lengths, at, of->type, &map.type);
  commit(&map);
  return map;
}

struct Map map_indexed_block(int count, int length, const int* at, const struct Map* of) {
  struct Map map = {0};
  for (int i = 0; i < count; ++i) add_block(&map, length, at[i] * of->extent, of);
  MPI_Type_create_indexed_block(count, length, at, of->type, &map.type);
  commit(&map);
  return map;
}

struct Map map_hindexed_block(int count, int length, const MPI_Aint* at, const struct Map* of) {
  struct Map map = {0};
  for (int i = 0; i < count; ++i) add_block(&map, length, at[i], of);
  MPI_Type_create_hindexed_block(count, length, at, of->type, &map.type);
  commit(&map);
  return map;
}

struct Map map_struct(int count, const int* lengths, const MPI_Aint* at, const struct Map* of) {
  struct Map map = {0};
  MPI_Datatype types[16];
  for (int i = 0; i < count; ++i) {
    add_block(&map, lengths[i], at[i], &of[i]);
    types[i] = of[i].type;
  }
  MPI_Type_create_struct(count, lengths, at, types, &map.type);
  commit(&map);
  return map;
}

struct Map map_resized(MPI_Aint lb, MPI_Aint extent, const struct Map* of) {
  struct Map map = {0};
  add_block(&map, 1, 0, of);
  MPI_Type_create_resized(of->type, lb, extent, &map.type);
  commit(&map);
  return map;
}

struct Map map_dup(const struct Map* of) {
  struct Map map = {0};
  add_block(&map, 1, 0, of);
  MPI_Type_dup(of->type, &map.type);
  commit(&map);
  return map;
}

/* An array, and which indices of each dimension belong to a process. */
struct Owner {
  int dims;
  const int* sizes;
  int order;
  bool (*owns)(const struct Owner* owner, int dim, int index);
  const int *subsizes, *starts;                     /* of a subarray */
  const int *distributions, *arguments, *processes; /* of a darray */
  int coordinates[8];
};

static bool subarray_owns(const struct Owner* owner, int dim, int index) {
  return index >= owner->starts[dim] && index < owner->starts[dim] + owner->subsizes[dim];
}

static bool darray_owns(const struct Owner* owner, int dim, int index) {
  int processes = owner->processes[dim];
  int argument = owner->arguments[dim];
  int owned_by = 0;
  if (owner->distributions[dim] == MPI_DISTRIBUTE_BLOCK) {
    int block = argument != MPI_DISTRIBUTE_DFLT_DARG
                    ? argument
                    : (owner->sizes[dim] + processes - 1) / processes;
    owned_by = index / block;
  } else if (owner->distributions[dim] == MPI_DISTRIBUTE_CYCLIC) {
    int block = argument != MPI_DISTRIBUTE_DFLT_DARG ? argument : 1;
    owned_by = index / block % processes;
  }
  return owned_by == owner->coordinates[dim];
}

/* All elements of the array in the order of storage, those that are owned as runs. */
static void add_owned(struct Map* map, const struct Owner* owner, long long element_bytes) {
  long long elements = 1;
  for (int d = 0; d < owner->dims; ++d) elements *= owner->sizes[d];
  for (long long e = 0; e < elements; ++e) {
    long long rest = e;
    bool owned = true;
    for (int i = 0; i < owner->dims; ++i) {
      int dim = owner->order == MPI_ORDER_C ? owner->dims - 1 - i : i;
      owned = owned && owner->owns(owner, dim, (int)(rest % owner->sizes[dim]));
      rest /= owner->sizes[dim];
    }
    if (owned) add_run(map, e * element_bytes, (e + 1) * element_bytes);
  }
}

struct Map map_subarray(int dims, const int* sizes, const int* subsizes, const int* starts,
                        int order, const struct Map* of) {
  struct Map map = {0};
  struct Owner owner = {.dims = dims, .sizes = sizes, .order = order, .owns = subarray_owns};
  owner.subsizes = subsizes;
  owner.starts = starts;
  add_owned(&map, &owner, of->extent);
  MPI_Type_create_subarray(dims, sizes, subsizes, starts, order, of->type, &map.type);
  commit(&map);
  return map;
}

struct Map map_darray(int size, int rank, int dims, const int* sizes, const int* distributions,
                      const int* arguments, const int* processes, int order, const struct Map* of) {
  struct Map map = {0};
  struct Owner owner = {.dims = dims, .sizes = sizes, .order = order, .owns = darray_owns};
  owner.distributions = distributions;
  owner.arguments = arguments;
  owner.processes = processes;
  /* The process grid is in C order whatever the order of the array. */
  int rest = rank;
  for (int dim = dims - 1; dim >= 0; --dim) {
    owner.coordinates[dim] = rest % processes[dim];
    rest /= processes[dim];
  }
  add_owned(&map, &owner, of->extent);
  MPI_Type_create_darray(size, rank, dims, sizes, distributions, arguments, processes, order,
                         of->type, &map.type);
  commit(&map);
  return map;
}

void map_free(struct Map* map) {
  if (map->type != MPI_DATATYPE_NULL) MPI_Type_free(&map->type);
  free(map->runs);
  *map = (struct Map){.type = MPI_DATATYPE_NULL};
}

struct Run map_span(const struct Map* map, long long count) {
  struct Run span = {0, 0};
  if (count == 0 || map->bytes == 0) return span;
  span = map->runs[0];
  for (size_t i = 0; i < map->run_count; ++i) {
    long long shift = (count - 1) * map->extent;
    long long low = shift < 0 ? shift : 0;
    long long high = shift > 0 ? shift : 0;
    if (map->runs[i].begin + low < span.begin) span.begin = map->runs[i].begin + low;
    if (map->runs[i].end + high > span.end) span.end = map->runs[i].end + high;
  }
  return span;
}

/* Where a walk over the stream of a tiled map stands. */
struct Walk {
  const struct Map* map;
  long long tile;
  size_t run;
  long long inside;
};

static struct Walk walk_from(const struct Map* map, long long from) {
  struct Walk walk = {.map = map, .tile = from / map->bytes};
  long long rest = from % map->bytes;
  while (rest >= map->runs[walk.run].end - map->runs[walk.run].begin) {
    rest -= map->runs[walk.run].end - map->runs[walk.run].begin;
    ++walk.run;
  }
  walk.inside = rest;
  return walk;
}

/* The place of the next byte of the stream. */
static long long walk_next(struct Walk* walk) {
  const struct Run* run = &walk->map->runs[walk->run];
  long long place = walk->tile * walk->map->extent + run->begin + walk->inside;
  if (run->begin + ++walk->inside == run->end) {
    walk->inside = 0;
    if (++walk->run == walk->map->run_count) {
      walk->run = 0;
      ++walk->tile;
    }
  }
  return place;
}

long long map_scatter(const struct Map* map, long long from, const unsigned char* stream,
                      long long bytes, unsigned char* origin) {
  if (bytes == 0) return 0;
  struct Walk walk = walk_from(map, from);
  long long end = 0;
  for (long long i = 0; i < bytes; ++i) {
    long long place = walk_next(&walk);
    origin[place] = stream[i];
    if (place + 1 > end) end = place + 1;
  }
  return end;
}

void map_gather(const struct Map* map, long long from, unsigned char* stream, long long bytes,
                const unsigned char* origin) {
  if (bytes == 0) return;
  struct Walk walk = walk_from(map, from);
  for (long long i = 0; i < bytes; ++i) stream[i] = origin[walk_next(&walk)];
}

long long map_bytes_below(const struct Map* map, long long from, long long bytes, long long limit) {
  if (bytes == 0) return 0;
  struct Walk walk = walk_from(map, from);
  for (long long i = 0; i < bytes; ++i) {
    if (walk_next(&walk) >= limit) return i;
  }
  return bytes;
}
