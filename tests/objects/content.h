/* What the programs of this folder write and read: bytes that tell their offset and their round,
 * and views of a file that any number of ranks share among them. One thread. */
#ifndef TESTS_OBJECTS_CONTENT_H
#define TESTS_OBJECTS_CONTENT_H

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* Ends the job with the text of an MPI error. */
static inline void need(int code, const char* call) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  fprintf(stderr, "%s: %s\n", call, text);
  MPI_Abort(MPI_COMM_WORLD, 1);
}
#define NEED(call) need((call), #call)

/* The byte at an offset in a round; run.py computes the same. */
static inline unsigned char content_byte(int64_t offset, int64_t round) {
  return (unsigned char)((offset * 31 + (offset >> 8) * 7 + round) & 255);
}
/* The round of a byte, modulo 256. */
static inline int content_round(int64_t offset, unsigned char byte) {
  return (byte - content_byte(offset, 0)) & 255;
}

/* How a file of rows of kColumns bytes is dealt to ranks. */
enum { kColumns = 840 };
enum ViewKind { kBlocks, kIrregular, kViewKinds };

/* What one rank has of the file: byte i of its data is byte where[i] of the file. */
struct View {
  MPI_Datatype type;
  int* where;
  int count;
};

static inline unsigned view_mix(unsigned value) {
  value = (value ^ (value >> 16)) * 0x45d9f3bu;
  value = (value ^ (value >> 16)) * 0x45d9f3bu;
  return value ^ (value >> 16);
}

static inline void view_add(struct View* view, int offset, int length) {
  for (int i = 0; i < length; ++i) view->where[view->count++] = offset + i;
}

/* A block of rows and columns; the ranks form a grid. */
static inline void view_blocks(struct View* view, int bytes, int rank, int ranks) {
  int grid[2] = {0, 0};
  MPI_Dims_create(ranks, 2, grid);
  const int rows = bytes / kColumns, at[2] = {rank / grid[1], rank % grid[1]};
  const int sizes[2] = {rows, kColumns};
  const int begin[2] = {rows * at[0] / grid[0], kColumns * at[1] / grid[1]};
  const int end[2] = {rows * (at[0] + 1) / grid[0], kColumns * (at[1] + 1) / grid[1]};
  const int parts[2] = {end[0] - begin[0], end[1] - begin[1]};
  for (int row = begin[0]; row < end[0]; ++row) {
    view_add(view, row * kColumns + begin[1], parts[1]);
  }
  MPI_Type_create_subarray(2, sizes, parts, begin, MPI_ORDER_C, MPI_BYTE, &view->type);
}

/* Runs of 1 to `longest` bytes; each `ranks` of them are dealt out, beginning with any rank. */
static inline void view_irregular(struct View* view, int bytes, int longest, int rank, int ranks) {
  int* lengths = malloc((size_t)bytes * sizeof *lengths);
  int* offsets = malloc((size_t)bytes * sizeof *offsets);
  int runs = 0, offset = 0;
  for (unsigned run = 0; offset < bytes; ++run) {
    int length = 1 + (int)(view_mix(run) % (unsigned)longest);
    if (length > bytes - offset) length = bytes - offset;
    const unsigned deal = run / (unsigned)ranks;
    if ((int)((run + view_mix(deal)) % (unsigned)ranks) == rank) {
      lengths[runs] = length;
      offsets[runs++] = offset;
      view_add(view, offset, length);
    }
    offset += length;
  }
  MPI_Type_indexed(runs, lengths, offsets, MPI_BYTE, &view->type);
  free(lengths);
  free(offsets);
}

/* Requires whole rows. */
static inline struct View view_make(enum ViewKind kind, int bytes, int longest, int rank,
                                    int ranks) {
  struct View view = {MPI_DATATYPE_NULL, malloc((size_t)bytes * sizeof(int)), 0};
  if (kind == kBlocks) {
    view_blocks(&view, bytes, rank, ranks);
  } else {
    view_irregular(&view, bytes, longest, rank, ranks);
  }
  MPI_Type_commit(&view.type);
  return view;
}

static inline void view_free(struct View* view) {
  MPI_Type_free(&view->type);
  free(view->where);
}

#endif
