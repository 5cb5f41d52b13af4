/* The command loop of the MPI-IO peer (mpiio_peer.h).
 *
 *   tessera-mpiio-peer-MPI FOLDER
 *
 * FOLDER holds the FIFOs command.RANK and answer, and takes the scratch files. Rank 0 answers
 * "ready tessera|stock LIBRARY VERSION" and then one line for each command:
 *
 *   prepare WORKLOAD A B C                              -> ok BYTES-OF-ALL-RANKS
 *       makes datatypes, buffers and the warm scratch files of a workload (mpiio_layout.c)
 *   run MODE DIRECTION TIMED REPETITIONS FLAGS HINTS    -> ok NANOSECONDS
 *       MODE independent, collective or posix; DIRECTION read or write; TIMED transfer, whole or
 *       typed; FLAGS letters or -: v checks one more repetition before, a sets atomic mode, s is
 *       for slow operations, o is the object file and r the replicated one, y syncs what was
 *       written, c reads a file that is not in memory (struct Request); HINTS
 *       key=value,key=value or -
 *   atomicity OPERATIONS FLAGS HINTS                    -> ok VIOLATIONS OVERLAPS
 *       overlapping strided writes by all ranks (mpiio_atomicity.c); without a in FLAGS not atomic
 *   alternating ROUNDS FLAGS HINTS                      -> ok NANOSECONDS
 *       strided writes and contiguous reads in turn (mpiio_atomicity.c), FLAGS as for atomicity
 *   files COUNT PREFIX                                  -> ok NANOSECONDS
 *       creates and closes files, each of which all ranks open (mpiio_objects.c); PREFIX obj: or -
 *   sharing WAY ROUNDS HINTS                            -> ok NANOSECONDS
 *       ranks that share bytes of an object file (mpiio_objects.c)
 *   produce FRAMES SIDE STEPS                           -> ok NANOSECONDS COMPUTE-NS
 *       computes, writes and syncs frame after frame of an object file (mpiio_produce.c)
 *   memory DIRECTION                                    -> ok GROWTH CB_BUFFER_SIZE CB_NODES
 *   overlap BYTES CORES                                 -> ok IO-NS COMPUTE-NS BOTH-NS
 *
 * or "error WHY". The end of the FIFO ends the job. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bench/mpiio_peer.h"

/* Whether Tessera's library is in this process: the harness believes nothing else. */
static int tessera_is_loaded(void) {
  FILE* maps = fopen("/proc/self/maps", "r");
  if (maps == NULL) return 0;
  char line[1024];
  int found = 0;
  while (!found && fgets(line, sizeof line, maps) != NULL) {
    found = strstr(line, "libtessera-mpiio") != NULL;
  }
  fclose(maps);
  return found;
}

static void greeting(char* line, size_t size) {
  char version[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0, mine = tessera_is_loaded(), loaded = 0;
  MPI_Get_library_version(version, &length);
  version[strcspn(version, ",\n")] = '\0';
  for (char* tab = version; (tab = strchr(tab, '\t')) != NULL;) *tab = ' ';
  MPI_Allreduce(&mine, &loaded, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  snprintf(line, size, "ready %s %.100s", loaded ? "tessera" : "stock", version);
}

static void parse_hints(char* words, MPI_Info* info) {
  *info = MPI_INFO_NULL;
  if (strcmp(words, "-") == 0) return;
  MPI_Info_create(info);
  char* rest = NULL;
  for (char* word = strtok_r(words, ",", &rest); word != NULL; word = strtok_r(NULL, ",", &rest)) {
    char* value = strchr(word, '=');
    if (value == NULL) continue;
    *value = '\0';
    MPI_Info_set(*info, word, value + 1);
  }
}

/* The place of `word` in `words`, or -1. */
static int named(const char* word, const char* const* words, int count) {
  for (int i = 0; i < count; ++i) {
    if (strcmp(word, words[i]) == 0) return i;
  }
  return -1;
}

static const char* const kModes[] = {"independent", "collective", "posix"};
static const char* const kDirections[] = {"read", "write"};
static const char* const kTimes[] = {"transfer", "whole", "typed"};

static const char* answer_prepare(struct Session* session, const char* line, char* out,
                                  size_t size) {
  char workload[32];
  int64_t args[3] = {0, 0, 0}, total = 0;
  if (sscanf(line, "prepare %31s %" SCNd64 " %" SCNd64 " %" SCNd64, workload, &args[0], &args[1],
             &args[2]) != 4)
    return "not understood";
  const char* error = session_prepare(session, workload, args);
  if (error != NULL) return error;
  MPI_Allreduce(&session->layout.bytes, &total, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  snprintf(out, size, "ok %" PRId64, total);
  return NULL;
}

static void parse_flags(const char* letters, struct Request* request) {
  request->verify = strchr(letters, 'v') != NULL;
  request->atomic = strchr(letters, 'a') != NULL;
  request->slow = strchr(letters, 's') != NULL;
  if (strchr(letters, 'o') != NULL) request->objects = kObjects;
  if (strchr(letters, 'r') != NULL) request->objects = kReplicated;
  request->synced = strchr(letters, 'y') != NULL;
  request->cold = strchr(letters, 'c') != NULL;
  request->fresh = strchr(letters, 'n') != NULL;
}

static const char* answer_run(struct Session* session, const char* line, char* out, size_t size) {
  char mode[16], direction[8], timed[16], flags[8], hints[512];
  struct Request request;
  memset(&request, 0, sizeof request);
  if (sscanf(line, "run %15s %7s %15s %ld %7s %511s", mode, direction, timed, &request.repetitions,
             flags, hints) != 6)
    return "not understood";
  const int words[3] = {named(mode, kModes, 3), named(direction, kDirections, 2),
                        named(timed, kTimes, 3)};
  if (words[0] < 0 || words[1] < 0 || words[2] < 0) return "not understood";
  if (!session->prepared) return "nothing is prepared";
  request.mode = (enum Mode)words[0];
  request.direction = (enum Direction)words[1];
  request.timed = (enum Timed)words[2];
  parse_flags(flags, &request);
  parse_hints(hints, &request.hints);
  double ns = 0;
  const char* error = session_run(session, &request, &ns);
  if (request.hints != MPI_INFO_NULL) MPI_Info_free(&request.hints);
  snprintf(out, size, "ok %.0f", ns);
  return error;
}

static const char* answer_memory(struct Session* session, const char* line, char* out,
                                 size_t size) {
  char word[8];
  if (sscanf(line, "memory %7s", word) != 1) return "not understood";
  const int direction = named(word, kDirections, 2);
  if (direction < 0) return "not understood";
  if (!session->prepared) return "nothing is prepared";
  struct Request request;
  memset(&request, 0, sizeof request);
  request.mode = kCollective;
  request.direction = (enum Direction)direction;
  request.hints = MPI_INFO_NULL;
  struct MemoryUse use;
  const char* error = measure_memory(session, &request, &use);
  snprintf(out, size, "ok %" PRId64 " %" PRId64 " %" PRId64, use.growth_bytes, use.buffer_bytes,
           use.aggregators);
  return error;
}

static const char* answer_overlap(struct Session* session, const char* line, char* out,
                                  size_t size) {
  int64_t bytes;
  int cores;
  if (sscanf(line, "overlap %" SCNd64 " %d", &bytes, &cores) != 2) return "not understood";
  struct OverlapTimes times = {0, 0, 0};
  const char* error = measure_overlap(session, bytes, cores, &times);
  snprintf(out, size, "ok %.0f %.0f %.0f", times.io_ns, times.compute_ns, times.both_ns);
  return error;
}

static const char* answer_atomicity(struct Session* session, const char* line, char* out,
                                    size_t size) {
  int64_t operations;
  char flags[8], hints[512];
  struct Request request;
  memset(&request, 0, sizeof request);
  if (sscanf(line, "atomicity %" SCNd64 " %7s %511s", &operations, flags, hints) != 3)
    return "not understood";
  parse_flags(flags, &request);
  parse_hints(hints, &request.hints);
  struct AtomicityFound found = {0, 0};
  const char* error = check_atomicity(session, &request, operations, &found);
  if (request.hints != MPI_INFO_NULL) MPI_Info_free(&request.hints);
  snprintf(out, size, "ok %" PRId64 " %" PRId64, found.violations, found.overlaps);
  return error;
}

static const char* answer_alternating(struct Session* session, const char* line, char* out,
                                      size_t size) {
  int64_t rounds;
  char flags[8], hints[512];
  struct Request request;
  memset(&request, 0, sizeof request);
  if (sscanf(line, "alternating %" SCNd64 " %7s %511s", &rounds, flags, hints) != 3)
    return "not understood";
  parse_flags(flags, &request);
  parse_hints(hints, &request.hints);
  double ns = 0;
  const char* error = measure_alternating(session, &request, rounds, &ns);
  if (request.hints != MPI_INFO_NULL) MPI_Info_free(&request.hints);
  snprintf(out, size, "ok %.0f", ns);
  return error;
}

static const char* answer_files(struct Session* session, const char* line, char* out, size_t size) {
  int64_t count;
  char prefix[8];
  if (sscanf(line, "files %" SCNd64 " %7s", &count, prefix) != 2) return "not understood";
  double ns = 0;
  const char* error = measure_files(session, count, strcmp(prefix, "-") == 0 ? "" : prefix, &ns);
  snprintf(out, size, "ok %.0f", ns);
  return error;
}

static const char* answer_sharing(struct Session* session, const char* line, char* out,
                                  size_t size) {
  char way[32], hints[512];
  int64_t rounds;
  MPI_Info info;
  if (sscanf(line, "sharing %31s %" SCNd64 " %511s", way, &rounds, hints) != 3)
    return "not understood";
  parse_hints(hints, &info);
  double ns = 0;
  const char* error = measure_sharing(session, way, rounds, info, &ns);
  if (info != MPI_INFO_NULL) MPI_Info_free(&info);
  snprintf(out, size, "ok %.0f", ns);
  return error;
}

static const char* answer_produce(struct Session* session, const char* line, char* out,
                                  size_t size) {
  struct Production wanted;
  if (sscanf(line, "produce %" SCNd64 " %" SCNd64 " %" SCNd64, &wanted.frames, &wanted.side,
             &wanted.steps) != 3)
    return "not understood";
  double times[2] = {0, 0};
  const char* error = produce(session, &wanted, times);
  snprintf(out, size, "ok %.0f %.0f", times[0], times[1]);
  return error;
}

static void answer(struct Session* session, const char* line, char* out, size_t size) {
  const char* error = "not understood";
  if (strncmp(line, "prepare ", 8) == 0) error = answer_prepare(session, line, out, size);
  if (strncmp(line, "run ", 4) == 0) error = answer_run(session, line, out, size);
  if (strncmp(line, "memory ", 7) == 0) error = answer_memory(session, line, out, size);
  if (strncmp(line, "overlap ", 8) == 0) error = answer_overlap(session, line, out, size);
  if (strncmp(line, "atomicity ", 10) == 0) error = answer_atomicity(session, line, out, size);
  if (strncmp(line, "alternating ", 12) == 0) error = answer_alternating(session, line, out, size);
  if (strncmp(line, "files ", 6) == 0) error = answer_files(session, line, out, size);
  if (strncmp(line, "sharing ", 8) == 0) error = answer_sharing(session, line, out, size);
  if (strncmp(line, "produce ", 8) == 0) error = answer_produce(session, line, out, size);
  if (error != NULL) snprintf(out, size, "error %s", error);
}

static int say(int fd, const char* text) {
  char line[700];
  const int length = snprintf(line, sizeof line, "%s\n", text);
  return write(fd, line, (size_t)length) == length;
}

static int serve(struct Session* session) {
  char path[512], line[700], out[600];
  snprintf(path, sizeof path, "%s/command.%d", session->folder, session->rank);
  FILE* commands = fopen(path, "re");
  snprintf(path, sizeof path, "%s/answer", session->folder);
  const int answers = session->rank == 0 ? open(path, O_WRONLY | O_CLOEXEC) : -1;
  if (commands == NULL || (session->rank == 0 && answers < 0)) {
    fprintf(stderr, "cannot open %s: %s\n", path, strerror(errno));
    return 1;
  }
  greeting(out, sizeof out);
  if (session->rank == 0) say(answers, out);
  while (fgets(line, sizeof line, commands) != NULL) {
    answer(session, line, out, sizeof out);
    if (session->rank == 0 && !say(answers, out)) break;
  }
  session_release(session);
  fclose(commands);
  return 0;
}

/* Gives each rank a core, in turn: which ranks share one decides how long they wait for each other,
 * and would be luck. One rank alone is not bound, since its library may have threads. */
static void bind_to_core(int rank, int ranks) {
  cpu_set_t allowed, own;
  CPU_ZERO(&own);
  if (ranks == 1 || sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  int turn = rank % CPU_COUNT(&allowed);
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(core, &allowed) && turn-- == 0) CPU_SET(core, &own);
  }
  (void)sched_setaffinity(0, sizeof own, &own);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  struct Session session;
  memset(&session, 0, sizeof session);
  MPI_Comm_rank(MPI_COMM_WORLD, &session.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &session.ranks);
  bind_to_core(session.rank, session.ranks);
  int failed = 1;
  if (argc == 2 && strlen(argv[1]) < sizeof session.folder) {
    strcpy(session.folder, argv[1]);
    failed = serve(&session);
  } else {
    fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
  }
  MPI_Finalize();
  return failed;
}
