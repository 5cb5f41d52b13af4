#include "random_type.h"

#include <stdlib.h>

enum { kBlocks = 4, kBytesMax = 600, kExtentMax = 3000 };

struct Random random_from(unsigned seed, unsigned a, unsigned b) {
  struct Random random = {((uint64_t)seed << 40) ^ ((uint64_t)a << 20) ^ b};
  random_below(&random, 1);
  return random;
}

int random_below(struct Random* random, int below) {
  uint64_t z = (random->state += 0x9E3779B97F4A7C15u);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return (int)((z ^ (z >> 31)) % (uint64_t)below);
}

/* Lengths, and places in items and in bytes that do not overlap, forward. */
struct Blocks {
  int count;
  int lengths[kBlocks];
  int at[kBlocks];
  MPI_Aint bytes_at[kBlocks];
};

static struct Blocks random_blocks(struct Random* random, long long extent, long long unit,
                                   int length) {
  struct Blocks blocks = {.count = 1 + random_below(random, kBlocks)};
  int next = random_below(random, 3);
  MPI_Aint next_bytes = unit * random_below(random, 5);
  for (int i = 0; i < blocks.count; ++i) {
    blocks.lengths[i] = length > 0 ? length : random_below(random, 4);
    blocks.at[i] = next;
    blocks.bytes_at[i] = next_bytes;
    next += blocks.lengths[i] + random_below(random, 3);
    next_bytes += blocks.lengths[i] * extent + unit * random_below(random, 4);
  }
  return blocks;
}

static void shuffle(struct Random* random, struct Blocks* blocks) {
  for (int i = blocks->count - 1; i > 0; --i) {
    int k = random_below(random, i + 1);
    int length = blocks->lengths[i], at = blocks->at[i];
    MPI_Aint bytes_at = blocks->bytes_at[i];
    blocks->lengths[i] = blocks->lengths[k];
    blocks->at[i] = blocks->at[k];
    blocks->bytes_at[i] = blocks->bytes_at[k];
    blocks->lengths[k] = length;
    blocks->at[k] = at;
    blocks->bytes_at[k] = bytes_at;
  }
}

static struct Map random_struct(const struct Blocks* blocks, const struct Map* of) {
  struct Map parts[kBlocks];
  for (int i = 0; i < blocks->count; ++i) parts[i] = *of;
  return map_struct(blocks->count, blocks->lengths, blocks->bytes_at, parts);
}

static struct Map random_subarray(struct Random* random, const struct Map* of) {
  int sizes[2], subsizes[2], starts[2];
  for (int d = 0; d < 2; ++d) {
    sizes[d] = 1 + random_below(random, 5);
    subsizes[d] = 1 + random_below(random, sizes[d]);
    starts[d] = random_below(random, sizes[d] - subsizes[d] + 1);
  }
  int order = random_below(random, 2) ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
  if (of->run_count == 1 && of->bytes == of->extent) {
    return map_subarray(2, sizes, subsizes, starts, order, of);
  }
  return map_dup(of);
}

/* One step around a map whose items lie beside each other. */
static struct Map wrap(struct Random* random, const struct Map* of, long long unit, int shuffled) {
  int kind = random_below(random, 9);
  int length = kind == 4 || kind == 5 ? 1 + random_below(random, 3) : 0;
  struct Blocks blocks = random_blocks(random, of->extent, unit, length);
  if (shuffled) shuffle(random, &blocks);
  int count = 1 + random_below(random, 4), run = 1 + random_below(random, 3);
  int gap = random_below(random, 3);
  switch (kind) {
    case 0:
      return map_contiguous(count, of);
    case 1:
      return map_vector(count, run, run + gap, of);
    case 2:
      return map_indexed(blocks.count, blocks.lengths, blocks.at, of);
    case 3:
      return map_hindexed(blocks.count, blocks.lengths, blocks.bytes_at, of);
    case 4:
      return map_indexed_block(blocks.count, length, blocks.at, of);
    case 5:
      return map_hindexed_block(blocks.count, length, blocks.bytes_at, of);
    case 6:
      return random_struct(&blocks, of);
    case 7:
      return map_hvector(count, run, run * of->extent + gap * unit, of);
    default:
      return random_subarray(random, of);
  }
}

/* Nested steps; each level is resized so that its items lie beside each other from 0 on. */
static struct Map random_nested(struct Random* random, const struct Map* element, int shuffled) {
  long long unit = element->bytes;
  struct Map map = map_dup(element);
  int depth = 1 + random_below(random, 3);
  for (int level = 0; level < depth; ++level) {
    struct Map next = wrap(random, &map, unit, shuffled);
    struct Run span = map_span(&next, 1);
    long long extent = span.end + unit * random_below(random, 3);
    if (next.bytes == 0 || next.bytes > kBytesMax || extent > kExtentMax) {
      map_free(&next);
      continue;
    }
    if (next.lb != 0 || next.extent < span.end || random_below(random, 2)) {
      map_replace(&next, map_resized(0, extent, &next));
    }
    map_free(&map);
    map = next;
  }
  return map;
}

struct Map random_filetype(struct Random* random, const struct Map* element) {
  return random_nested(random, element, 0);
}

struct Map random_memory_type(struct Random* random, const struct Map* element, bool below) {
  struct Map map = random_nested(random, element, random_below(random, 2));
  if (random_below(random, 3) || !below) return map;
  /* Moved below its origin. */
  MPI_Aint shift = -(MPI_Aint)(element->bytes * random_below(random, 20));
  long long extent = map.extent;
  map_replace(&map, map_hindexed(1, (int[]){1}, &shift, &map));
  map_replace(&map, map_resized(shift - 4 * random_below(random, 5), extent + 20, &map));
  return map;
}
