/* Conformance tests of MPI-IO: one program, many subtests.
 *
 *   mpiio_tests SCRATCH [--list] [--seed N] [--limit SECONDS] [--skip NAME]... [NAME]...
 *
 * Without names all subtests run that need nothing special; with names only those. Files are left
 * in SCRATCH under names that begin with the subtest's. Rank 0 prints "RUN name" before each
 * subtest and at the end "OK n" if all of them passed, else "FAILED n"; failures go to stderr as
 * "FAIL name: ...". The exit code is 0 if all passed. */
#include "suite.h"

#include <stdio.h>
#include <stdlib.h>

unsigned suite_seed = 1;

static const struct Subtest* const kTables[] = {
    open_subtests,       mode_subtests,    size_subtests,    info_subtests,   view_subtests,
    explicit_subtests,   pointer_subtests, shared_subtests,  split_subtests,  nonblocking_subtests,
    overlap_subtests,    type_subtests,    datarep_subtests, atomic_subtests, errhandler_subtests,
    failure_subtests,    large_subtests,   count_subtests,   random_subtests, repeat_subtests,
    replicated_subtests, guest_subtests,
};

struct Arguments {
  const char* scratch;
  bool list;
  unsigned limit_s;
  int name_count, skip_count;
  const char* names[256];
  const char* skips[256];
};

static void parse(int argc, char** argv, struct Arguments* arguments) {
  for (int i = 1; i < argc; ++i) {
    bool more = i + 1 < argc;
    if (strcmp(argv[i], "--list") == 0) {
      arguments->list = true;
    } else if (strcmp(argv[i], "--seed") == 0 && more) {
      suite_seed = (unsigned)strtoul(argv[++i], NULL, 10);
    } else if (strcmp(argv[i], "--limit") == 0 && more) {
      arguments->limit_s = (unsigned)strtoul(argv[++i], NULL, 10);
    } else if (strcmp(argv[i], "--skip") == 0 && more && arguments->skip_count < 256) {
      arguments->skips[arguments->skip_count++] = argv[++i];
    } else if (arguments->scratch == NULL) {
      arguments->scratch = argv[i];
    } else if (arguments->name_count < 256) {
      arguments->names[arguments->name_count++] = argv[i];
    }
  }
}

static bool contains(const char* const* list, int count, const char* name) {
  for (int i = 0; i < count; ++i) {
    if (strcmp(list[i], name) == 0) return true;
  }
  return false;
}

static bool wanted(const struct Arguments* arguments, const struct Subtest* subtest) {
  if (contains(arguments->skips, arguments->skip_count, subtest->name)) return false;
  if (arguments->name_count == 0) return subtest->when == CHECK_ALWAYS;
  return contains(arguments->names, arguments->name_count, subtest->name);
}

static void announce(const struct Subtest* subtest, bool list) {
  if (check_rank != 0) return;
  printf("%s %s\n", list ? (subtest->when == CHECK_NAMED ? "named" : "always") : "RUN",
         subtest->name);
  fflush(stdout);
}

/* Runs the wanted subtests of all tables; the number of those that failed. */
static int run_all(const struct Arguments* arguments, int* ran) {
  int failed = 0;
  for (size_t table = 0; table < sizeof kTables / sizeof *kTables; ++table) {
    for (const struct Subtest* subtest = kTables[table]; subtest->name; ++subtest) {
      if (!arguments->list && !wanted(arguments, subtest)) continue;
      announce(subtest, arguments->list);
      if (arguments->list) continue;
      ++*ran;
      if (check_run(subtest) > 0) ++failed;
    }
  }
  return failed;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  static struct Arguments arguments = {.limit_s = 20};
  parse(argc, argv, &arguments);
  if (arguments.scratch == NULL) {
    fprintf(stderr, "mpiio_tests: a scratch directory is needed\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  check_start(arguments.scratch, arguments.limit_s);
  if (!check_library_is_right()) {
    fprintf(stderr, "mpiio_tests: the library to test is not the one that is loaded\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  int ran = 0;
  int failed = run_all(&arguments, &ran);
  bool missing = arguments.name_count > 0 && ran < arguments.name_count;
  if (check_rank == 0 && missing) fprintf(stderr, "FAIL: a named subtest does not exist\n");
  if (check_rank == 0 && !arguments.list) {
    printf("%s %d\n", failed > 0 || missing ? "FAILED" : "OK", ran);
    fflush(stdout);
  }
  MPI_Finalize();
  return failed > 0 || missing;
}
