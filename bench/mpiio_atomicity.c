/* What atomic mode leaves: overlapping strided writes by all ranks at once (mpiio_peer.h). At the
 * end, what views with gaps and without them cost in turn.
 *
 * In each round every rank writes runs of kRunBytes, one in each of many blocks; the runs of any
 * two ranks overlap in every block that both touch, and which blocks those are changes by round.
 * A rank writes bytes that name it and the round. Whoever wrote a byte came after all others that
 * wrote there; in atomic mode all those orders of a round agree:
 *   (A1) of two ranks, one came after the other, wherever they meet;
 *   (A2) no ranks came after each other in a circle;
 *   (A3) no byte is older than the round.
 * Each pair that breaks (A1) is a violation, and so is a round that breaks only (A2) or (A3). */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/mpiio_peer.h"

enum {
  kRunBytes = 64,
  kBlockBytes = 192,
  kRuns = 800,
  kDriftMax = 200, /* blocks by which a rank's first one may differ */
  kBlocks = kRuns + kDriftMax,
  kRanksMax = 16,
  kRoundsNamed = 15, /* rounds that bytes tell apart */
  kAlternatingRuns = 64,
  kAlternatingRunBytes = 100,
  kAlternatingBytes = kAlternatingRuns * kAlternatingRunBytes, /* of a rank */
};

struct Round {
  int64_t number;
  int ranks;
  int64_t first[kRanksMax]; /* block of each rank */
};

/* Bit j of after[i]: j wrote a byte that i wrote before. The last word: an older byte was left. */
typedef uint64_t Orders[kRanksMax + 1];

/* Where in its blocks a rank's runs begin: all overlap, by at least one step, and end before
 * 2 * kRunBytes. */
static int64_t shift_of(int rank, int ranks) { return rank * (kRunBytes / ranks); }

static unsigned char mark_of(const struct Round* round, int rank) {
  return (unsigned char)(1 + rank + kRanksMax * (round->number % kRoundsNamed));
}

static uint64_t mixed(uint64_t value) {
  value = (value + 0x9E3779B97F4A7C15u) * 0xBF58476D1CE4E5B9u;
  return value ^ (value >> 31);
}

static struct Round round_of(int64_t number, int ranks) {
  struct Round round = {.number = number, .ranks = ranks};
  for (int rank = 0; rank < ranks; ++rank) {
    round.first[rank] =
        (int64_t)(mixed((uint64_t)(number * kRanksMax + rank)) >> 20) % (kDriftMax + 1);
  }
  return round;
}

static int covers(const struct Round* round, int rank, int64_t block, int64_t at) {
  const int64_t shift = shift_of(rank, round->ranks);
  return round->first[rank] <= block && block < round->first[rank] + kRuns && shift <= at &&
         at < shift + kRunBytes;
}

/* The rank whose byte each value is, -1 for none of this round. */
static void name_writers(const struct Round* round, int writers[256]) {
  for (int value = 0; value < 256; ++value) writers[value] = -1;
  for (int rank = 0; rank < round->ranks; ++rank) writers[mark_of(round, rank)] = rank;
}

/* What the bytes of one block say. */
static void read_block(const struct Round* round, const int writers[256], int64_t block,
                       const unsigned char* bytes, Orders orders) {
  for (int64_t at = 0; at < 2 * kRunBytes; ++at) {
    const int writer = writers[bytes[at]];
    for (int rank = 0; rank < round->ranks; ++rank) {
      if (!covers(round, rank, block, at)) continue;
      if (writer < 0) orders[kRanksMax] = 1;
      if (writer >= 0 && writer != rank) orders[rank] |= (uint64_t)1 << writer;
    }
  }
}

static int meet(const struct Round* round, int a, int b) {
  const int64_t apart = round->first[a] - round->first[b];
  return -kRuns < apart && apart < kRuns;
}

/* Whether the ranks can be put in a row: again and again one that nobody left came after is taken
 * away. */
static int fits_an_order(const struct Round* round, const Orders orders) {
  uint64_t left = ((uint64_t)1 << round->ranks) - 1;
  for (int taken = 1; taken && left != 0;) {
    taken = 0;
    for (int rank = 0; rank < round->ranks; ++rank) {
      if ((left >> rank & 1) == 0 || (orders[rank] & left) != 0) continue;
      left &= ~((uint64_t)1 << rank);
      taken = 1;
    }
  }
  return left == 0;
}

static void judge(const struct Round* round, const Orders orders, struct AtomicityFound* found) {
  int64_t pairs = 0;
  for (int a = 0; a < round->ranks; ++a) {
    for (int b = 0; b < a; ++b) {
      found->overlaps += meet(round, a, b);
      pairs += (orders[a] >> b & 1) != 0 && (orders[b] >> a & 1) != 0;
    }
  }
  if (pairs == 0 && (orders[kRanksMax] != 0 || !fits_an_order(round, orders))) pairs = 1;
  found->violations += pairs;
}

/* Every rank looks at its share of the blocks; all get the same orders. */
static const char* look(const struct Session* session, const struct Round* round, int fd,
                        Orders orders) {
  static unsigned char bytes[(size_t)kBlocks * kBlockBytes];
  Orders mine;
  int writers[256];
  name_writers(round, writers);
  memset(mine, 0, sizeof mine);
  memset(bytes, 0, sizeof bytes);
  const char* error = pread(fd, bytes, sizeof bytes, 0) < 0 ? "cannot read the scratch file" : NULL;
  for (int64_t block = session->rank; block < kBlocks; block += session->ranks) {
    read_block(round, writers, block, bytes + block * kBlockBytes, mine);
  }
  MPI_Allreduce(mine, orders, kRanksMax + 1, MPI_UINT64_T, MPI_BOR, MPI_COMM_WORLD);
  return agreed(error);
}

static int open_strided(const struct Session* session, const struct Request* request,
                        const char* path, MPI_File* file) {
  MPI_Datatype run, block;
  MPI_Type_contiguous(kRunBytes, MPI_BYTE, &run);
  MPI_Type_create_resized(run, 0, kBlockBytes, &block);
  MPI_Type_commit(&block);
  int code =
      MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR | MPI_MODE_CREATE, request->hints, file);
  if (code == MPI_SUCCESS && request->atomic) code = MPI_File_set_atomicity(*file, 1);
  if (code == MPI_SUCCESS) {
    code = MPI_File_set_view(*file, shift_of(session->rank, session->ranks), MPI_BYTE, block,
                             "native", request->hints);
  }
  MPI_Type_free(&run);
  MPI_Type_free(&block);
  return code;
}

static const char* run_rounds(const struct Session* session, MPI_File file, int fd, int64_t rounds,
                              struct AtomicityFound* found) {
  static unsigned char data[kRunBytes * kRuns];
  const char* error = NULL;
  for (int64_t number = 0; number < rounds && error == NULL; ++number) {
    const struct Round round = round_of(number, session->ranks);
    Orders orders;
    memset(data, mark_of(&round, session->rank), sizeof data);
    MPI_Barrier(MPI_COMM_WORLD);
    error =
        agreed(mpi_error_text(MPI_File_write_at(file, round.first[session->rank] * kRunBytes, data,
                                                sizeof data, MPI_BYTE, MPI_STATUS_IGNORE)));
    if (error == NULL) error = look(session, &round, fd, orders);
    if (error == NULL) judge(&round, orders, found);
  }
  return error;
}

const char* check_atomicity(struct Session* session, const struct Request* request,
                            int64_t operations, struct AtomicityFound* found) {
  if (session->ranks > kRanksMax) return "too many ranks";
  char path[512];
  MPI_File file = MPI_FILE_NULL;
  snprintf(path, sizeof path, "%s/atomicity", session->folder);
  const char* error = agreed(mpi_error_text(open_strided(session, request, path, &file)));
  const int fd = error == NULL ? open(path, O_RDONLY | O_CLOEXEC) : -1;
  if (error == NULL) error = agreed(fd < 0 ? "cannot open the scratch file" : NULL);
  const int64_t rounds = (operations + session->ranks - 1) / session->ranks;
  if (error == NULL) error = run_rounds(session, file, fd, rounds, found);
  if (fd >= 0) close(fd);
  if (file != MPI_FILE_NULL) MPI_File_close(&file);
  if (session->rank == 0) unlink(path);
  return error;
}

/* --- views with gaps and views without them, in turn -------------------------------------------
 */

struct Alternating {
  MPI_File file;
  MPI_Datatype spread; /* the runs of a rank among those of the others */
  int rank, ranks;
  unsigned char* all; /* what rank 0 reads */
};

static int view_of(const struct Alternating* alternating, MPI_Offset begin, MPI_Datatype type) {
  return MPI_File_set_view(alternating->file, begin, MPI_BYTE, type, "native", MPI_INFO_NULL);
}

static int write_spread(const struct Alternating* alternating, int value) {
  unsigned char data[kAlternatingBytes];
  memset(data, value, sizeof data);
  const int code = view_of(alternating, (MPI_Offset)alternating->rank * kAlternatingRunBytes,
                           alternating->spread);
  if (code != MPI_SUCCESS) return code;
  return MPI_File_write_at(alternating->file, 0, data, sizeof data, MPI_BYTE, MPI_STATUS_IGNORE);
}

static const char* read_whole(const struct Alternating* alternating, int value) {
  int code = view_of(alternating, 0, MPI_BYTE);
  if (code != MPI_SUCCESS || alternating->rank != 0) return mpi_error_text(code);
  const int bytes = kAlternatingBytes * alternating->ranks;
  memset(alternating->all, ~value, (size_t)bytes);
  code =
      MPI_File_read_at(alternating->file, 0, alternating->all, bytes, MPI_BYTE, MPI_STATUS_IGNORE);
  for (int i = 0; code == MPI_SUCCESS && i < bytes; ++i) {
    if (alternating->all[i] != value) return "wrong contents: a read is not of its round";
  }
  return mpi_error_text(code);
}

static const char* alternate(const struct Alternating* alternating, int64_t rounds, double* ns) {
  double mine[2], all[2];
  const char* error = NULL;
  MPI_Barrier(MPI_COMM_WORLD);
  mine[0] = -now_ns();
  for (int64_t round = 0; round < rounds; ++round) {
    const int value = (int)(1 + round % 100);
    const char* written = mpi_error_text(write_spread(alternating, value));
    MPI_Barrier(MPI_COMM_WORLD);
    const char* read = read_whole(alternating, value);
    MPI_Barrier(MPI_COMM_WORLD);
    if (error == NULL) error = written != NULL ? written : read;
  }
  mine[1] = now_ns();
  MPI_Allreduce(mine, all, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  *ns = all[0] + all[1];
  return agreed(error);
}

const char* measure_alternating(struct Session* session, const struct Request* request,
                                int64_t rounds, double* ns) {
  char path[512];
  snprintf(path, sizeof path, "%s/alternating", session->folder);
  struct Alternating alternating = {.file = MPI_FILE_NULL,
                                    .rank = session->rank,
                                    .ranks = session->ranks,
                                    .all = malloc((size_t)kAlternatingBytes * session->ranks)};
  int code = MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR | MPI_MODE_CREATE, request->hints,
                           &alternating.file);
  if (code == MPI_SUCCESS && request->atomic) code = MPI_File_set_atomicity(alternating.file, 1);
  const char* error = agreed(alternating.all == NULL ? "no memory" : mpi_error_text(code));
  MPI_Type_vector(kAlternatingRuns, kAlternatingRunBytes, kAlternatingRunBytes * session->ranks,
                  MPI_BYTE, &alternating.spread);
  MPI_Type_commit(&alternating.spread);
  if (error == NULL) error = alternate(&alternating, rounds, ns);
  MPI_Type_free(&alternating.spread);
  if (alternating.file != MPI_FILE_NULL) MPI_File_close(&alternating.file);
  free(alternating.all);
  if (session->rank == 0) unlink(path);
  return error;
}
