/* Random datatypes with their maps, the same for the same seed everywhere. */
#ifndef TESTS_MPI_RANDOM_TYPE_H
#define TESTS_MPI_RANDOM_TYPE_H

#include <stdbool.h>
#include <stdint.h>

#include "typemap.h"

struct Random {
  uint64_t state;
};

struct Random random_from(unsigned seed, unsigned a, unsigned b);
/* 0 <= value < below */
int random_below(struct Random* random, int below);

/* A type that may be a filetype: forward, nothing twice, from 0, gaps of whole elements, items
 * beside each other. At least one element. */
struct Map random_filetype(struct Random* random, const struct Map* element);
/* A type for memory: any order, and at times below its origin if that is wanted; items do not
 * overlap. */
struct Map random_memory_type(struct Random* random, const struct Map* element, bool below);

#endif
