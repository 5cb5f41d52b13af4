/* A peer: MPI_Pack and MPI_Unpack of one MPI library, as a process that measures on demand.
 *
 * Built once for each MPI, so that both run beside ours in the same run. It is a single MPI
 * process, started directly; it blocks in read() while others are measured. It says
 * "ready LIBRARY VERSION" and then answers lines until its input ends:
 *
 *   prepare RUN STRIDE COUNT [PACK-FORM UNPACK-FORM]   -> ok PACK-FORM UNPACK-FORM
 *       bytes of a run, bytes from run to run, runs, and the forms to use
 *   pack N                                             -> nanoseconds
 *   unpack N                                           -> nanoseconds
 *       N times in the next set of buffers
 *
 * An answer that begins with "error" says why.
 *
 * MPI libraries are not equally fast for every spelling of one and the same layout, so prepare
 * tries several forms (a vector, or a resized block repeated by the count argument; of bytes,
 * 32-bit integers or doubles), checks that each moves the right bytes, and keeps the fastest for
 * packing and the fastest for unpacking: the peer is the MPI at its best. */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <time.h>

#include "bench/memory.h"

enum { kFormsMax = 6, kTrialRounds = 2 };

struct Form {
  const char* name;
  MPI_Datatype type;
  int count; /* the count argument of MPI_Pack */
};

struct State {
  unsigned char* spread_sets[BENCH_SETS_MAX];
  unsigned char* packed_sets[BENCH_SETS_MAX];
  int set_count, set;
  unsigned char* spread; /* of the set in use: the strided side */
  unsigned char* packed;
  size_t run, stride, count;
  size_t spread_bytes, packed_bytes;
  struct Form forms[kFormsMax];
  int form_count;
  int best_pack, best_unpack;
};

/* Processor time, as ours is measured: packing only computes. */
static double cpu_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void pack_once(struct State* state, const struct Form* form) {
  int position = 0;
  MPI_Pack(state->spread, form->count, form->type, state->packed, (int)state->packed_bytes,
           &position, MPI_COMM_SELF);
}

static void unpack_once(struct State* state, const struct Form* form) {
  int position = 0;
  MPI_Unpack(state->packed, (int)state->packed_bytes, &position, state->spread, form->count,
             form->type, MPI_COMM_SELF);
}

static void next_set(struct State* state) {
  state->set = (state->set + 1) % state->set_count;
  state->spread = state->spread_sets[state->set];
  state->packed = state->packed_sets[state->set];
}

static double run_many(struct State* state, int unpacking, const struct Form* form, long many) {
  const double start = cpu_ns();
  for (long i = 0; i < many; ++i) {
    if (unpacking)
      unpack_once(state, form);
    else
      pack_once(state, form);
  }
  return cpu_ns() - start;
}

static void add_form(struct State* state, const char* name, MPI_Datatype type, int count) {
  struct Form* form = &state->forms[state->form_count++];
  MPI_Type_commit(&type);
  form->name = name;
  form->type = type;
  form->count = count;
}

/* Both spellings over one kind of element; nothing where run or stride is no multiple of it. */
static void add_forms(struct State* state, MPI_Datatype element, size_t size, const char* vector,
                      const char* resized) {
  if (state->run % size != 0 || state->stride % size != 0) return;
  const int length = (int)(state->run / size);
  MPI_Datatype type, block;
  MPI_Type_vector((int)state->count, length, (int)(state->stride / size), element, &type);
  add_form(state, vector, type, 1);
  MPI_Type_contiguous(length, element, &block);
  MPI_Type_create_resized(block, 0, (MPI_Aint)state->stride, &type);
  MPI_Type_free(&block);
  add_form(state, resized, type, (int)state->count);
}

/* Whether both directions of the form move exactly the bytes of the layout. */
static int moves_right_bytes(struct State* state, const struct Form* form) {
  bench_fill(state->spread, state->spread_bytes);
  memset(state->packed, 0, state->packed_bytes);
  pack_once(state, form);
  for (size_t i = 0; i < state->count; ++i) {
    if (memcmp(state->packed + i * state->run, state->spread + i * state->stride, state->run) != 0)
      return 0;
  }
  memset(state->spread, 0, state->spread_bytes);
  unpack_once(state, form);
  for (size_t i = 0; i < state->count; ++i) {
    if (memcmp(state->packed + i * state->run, state->spread + i * state->stride, state->run) != 0)
      return 0;
  }
  return 1;
}

static int fastest_form(struct State* state, int unpacking) {
  double best_ns = 0;
  int best = 0;
  for (int i = 0; i < state->form_count; ++i) {
    const struct Form* form = &state->forms[i];
    const double once = run_many(state, unpacking, form, 1) + 1;
    const long many = once > 1e6 ? 1 : (long)(1e6 / once) + 1;
    double ns = 0;
    for (int trial = 0; trial < kTrialRounds; ++trial) {
      const double this_ns = run_many(state, unpacking, form, many) / (double)many;
      if (trial == 0 || this_ns < ns) ns = this_ns;
    }
    if (i == 0 || ns < best_ns) {
      best_ns = ns;
      best = i;
    }
  }
  return best;
}

static void release(struct State* state) {
  for (int i = 0; i < state->form_count; ++i) MPI_Type_free(&state->forms[i].type);
  for (int i = 0; i < state->set_count; ++i) {
    free(state->spread_sets[i]);
    free(state->packed_sets[i]);
  }
  memset(state, 0, sizeof *state);
}

static const char* allocate_sets(struct State* state) {
  state->set_count = bench_set_count(state->packed_bytes);
  for (int i = 0; i < state->set_count; ++i) {
    state->spread_sets[i] = bench_allocate(state->spread_bytes);
    state->packed_sets[i] = bench_allocate(state->packed_bytes);
    if (state->spread_sets[i] == NULL || state->packed_sets[i] == NULL) return "no memory";
  }
  next_set(state);
  return NULL;
}

static const char* set_layout(struct State* state, size_t run, size_t stride, size_t count) {
  release(state);
  if (run == 0 || stride < run || count == 0 || count > ((size_t)1 << 31) / stride)
    return "layout out of range";
  state->run = run;
  state->stride = stride;
  state->count = count;
  state->spread_bytes = count * stride;
  state->packed_bytes = count * run;
  const char* error = allocate_sets(state);
  if (error != NULL) return error;
  add_forms(state, MPI_BYTE, 1, "byte-vector", "byte-resized");
  add_forms(state, MPI_INT32_T, 4, "int32-vector", "int32-resized");
  add_forms(state, MPI_DOUBLE, 8, "double-vector", "double-resized");
  return NULL;
}

static const char* prepare(struct State* state) {
  for (int i = 0; i < state->form_count; ++i) {
    if (!moves_right_bytes(state, &state->forms[i])) return "the MPI moved other bytes";
  }
  state->best_pack = fastest_form(state, 0);
  state->best_unpack = fastest_form(state, 1);
  return NULL;
}

static int form_named(const struct State* state, const char* name) {
  for (int i = 0; i < state->form_count; ++i) {
    if (strcmp(state->forms[i].name, name) == 0) return i;
  }
  return -1;
}

static const char* use_forms(struct State* state, const char* pack, const char* unpack) {
  state->best_pack = form_named(state, pack);
  state->best_unpack = form_named(state, unpack);
  return state->best_pack < 0 || state->best_unpack < 0 ? "no such form" : NULL;
}

static void say_prepared(struct State* state, const char* error) {
  if (error != NULL) {
    release(state);
    printf("error %s\n", error);
  } else {
    printf("ok %s %s\n", state->forms[state->best_pack].name,
           state->forms[state->best_unpack].name);
  }
}

static void answer(struct State* state, const char* line) {
  size_t run, stride, count;
  char pack[32], unpack[32];
  long many;
  const int words =
      sscanf(line, "prepare %zu %zu %zu %31s %31s", &run, &stride, &count, pack, unpack);
  if (words == 3 || words == 5) {
    const char* error = set_layout(state, run, stride, count);
    if (error == NULL) error = words == 3 ? prepare(state) : use_forms(state, pack, unpack);
    say_prepared(state, error);
  } else if (state->form_count > 0 && sscanf(line, "pack %ld", &many) == 1) {
    next_set(state);
    printf("%.0f\n", run_many(state, 0, &state->forms[state->best_pack], many));
  } else if (state->form_count > 0 && sscanf(line, "unpack %ld", &many) == 1) {
    next_set(state);
    printf("%.0f\n", run_many(state, 1, &state->forms[state->best_unpack], many));
  } else {
    printf("error not understood, or not prepared\n");
  }
  fflush(stdout);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  char version[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  MPI_Get_library_version(version, &length);
  version[strcspn(version, ",\n")] = '\0';
  for (char* tab = version; (tab = strchr(tab, '\t')) != NULL;) *tab = ' ';
  printf("ready %s\n", version);
  fflush(stdout);
  struct State state;
  memset(&state, 0, sizeof state);
  char line[256];
  while (fgets(line, sizeof line, stdin) != NULL) answer(&state, line);
  release(&state);
  MPI_Finalize();
  return 0;
}
