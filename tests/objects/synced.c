/* An object file that is written again and again, with a sync after each round.
 *
 *   synced FILE rewrite COUNTS ROUNDS   overwrites the file, round after round; ROUNDS 0: for ever
 *   synced FILE follow ROUNDS           opens and reads it until it has seen so many rounds
 *   synced FILE hold ROUNDS             opens it once, and reads it so often, 10 ms apart
 *   synced FILE writer                  opens it for writing, and tells what came of it
 *   synced FILE full FILLER             a file system that is full when it is synced and closed
 *
 * COUNTS is a file of two 8-byte integers: the last round that was begun and the last that was
 * synced, so that whoever finds the file after a crash knows what to expect. A round writes each
 * byte once, the first half by one call and the rest by another; readers look for bytes of two
 * rounds in one read ("torn"), and for rounds that go backwards. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "content.h"

enum { kRows = 1250, kBytes = kRows * kColumns, kLongest = 4000, kFillBytes = 4096, kMore = 8 };

static int rank_, ranks_;

struct Counts {
  int64_t begun, synced;
};

static void store(int counts, const struct Counts* now) {
  if (rank_ == 0 && pwrite(counts, now, sizeof *now, 0) != sizeof *now) {
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
}

static void print_error(const char* what, int code) {
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0, error_class = 0;
  MPI_Error_string(code, text, &length);
  MPI_Error_class(code, &error_class);
  const char* name = error_class == MPI_ERR_FILE_IN_USE ? "in use"
                     : error_class == MPI_ERR_NO_SPACE  ? "no space"
                                                        : "other";
  printf("%s: rank %d: %s: %s\n", what, rank_, name, text);
}

static struct View set_view(MPI_File file, enum ViewKind kind) {
  struct View view = view_make(kind, kBytes, kLongest, rank_, ranks_);
  NEED(MPI_File_set_view(file, 0, MPI_BYTE, view.type, "native", MPI_INFO_NULL));
  return view;
}

static MPI_File open_file(const char* path, int amode) {
  MPI_File file;
  NEED(MPI_File_open(MPI_COMM_WORLD, path, amode, MPI_INFO_NULL, &file));
  return file;
}

static unsigned char* make_data(const struct View* view, int64_t round) {
  unsigned char* data = malloc((size_t)view->count);
  for (int i = 0; i < view->count; ++i) data[i] = content_byte(view->where[i], round);
  return data;
}

static void write_round(MPI_File file, const struct View* view, int64_t round) {
  unsigned char* data = make_data(view, round);
  const int half = view->count / 2;
  NEED(MPI_File_write_at(file, 0, data, half, MPI_BYTE, MPI_STATUS_IGNORE));
  NEED(MPI_File_write_at(file, half, data + half, view->count - half, MPI_BYTE, MPI_STATUS_IGNORE));
  free(data);
}

static void rewrite(const char* path, const char* counts_path, int64_t rounds) {
  const int counts = open(counts_path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  struct Counts now = {0, 0};
  if (counts < 0) MPI_Abort(MPI_COMM_WORLD, 2);
  if (pread(counts, &now, sizeof now, 0) != sizeof now) now = (struct Counts){0, 0};
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_File file = open_file(path, MPI_MODE_CREATE | MPI_MODE_RDWR);
  struct View view = set_view(file, kIrregular);
  for (int64_t i = 0; rounds == 0 || i < rounds; ++i) {
    ++now.begun;
    store(counts, &now);
    write_round(file, &view, now.begun);
    NEED(MPI_File_sync(file));
    now.synced = now.begun;
    store(counts, &now);
  }
  NEED(MPI_File_close(&file));
  view_free(&view);
}

/* The round of all bytes of all ranks, -1 if they are of several. */
static int read_round(MPI_File file, const struct View* view) {
  unsigned char* data = calloc((size_t)view->count, 1);
  NEED(MPI_File_read_at_all(file, 0, data, view->count, MPI_BYTE, MPI_STATUS_IGNORE));
  int mine = content_round(view->where[0], data[0]), least = 0, most = 0;
  for (int i = 1; i < view->count && mine >= 0; ++i) {
    if (content_round(view->where[i], data[i]) != mine) mine = -1;
  }
  MPI_Allreduce(&mine, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  MPI_Allreduce(&mine, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  free(data);
  return least == most ? least : -1;
}

/* Rounds are known modulo 256; nobody is overtaken by more than half of that. */
static int goes_back(int last, int round) { return ((round - last) & 255) >= 128; }

static void follow(const char* path, int rounds) {
  int torn = 0, back = 0, seen = 0, last = -1;
  while (seen < rounds && torn == 0) {
    MPI_File file = open_file(path, MPI_MODE_RDONLY);
    struct View view = set_view(file, kBlocks);
    const int round = read_round(file, &view);
    torn += round < 0;
    back += last >= 0 && round >= 0 && goes_back(last, round);
    seen += round >= 0 && round != last;
    if (round >= 0) last = round;
    NEED(MPI_File_close(&file));
    view_free(&view);
  }
  if (rank_ == 0) printf("follow: %d torn, %d back, %d seen\n", torn, back, seen);
}

static void hold(const char* path, int rounds) {
  MPI_File file = open_file(path, MPI_MODE_RDONLY);
  struct View view = set_view(file, kBlocks);
  const struct timespec nap = {0, 10000000};
  int torn = 0, first = -1, others = 0;
  for (int i = 0; i < rounds; ++i) {
    const int round = read_round(file, &view);
    if (first < 0) first = round;
    torn += round < 0;
    others += round >= 0 && round != first;
    nanosleep(&nap, NULL);
  }
  NEED(MPI_File_close(&file));
  view_free(&view);
  if (rank_ == 0) printf("hold: %d torn, %d others\n", torn, others);
}

static void be_writer(const char* path) {
  MPI_File file;
  const int code =
      MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
  if (code != MPI_SUCCESS) {
    print_error("writer", code);
    return;
  }
  printf("writer: rank %d: open\n", rank_);
  NEED(MPI_File_close(&file));
}

/* --- a full file system ------------------------------------------------------------------------
 */

/* Takes all space that there is; removed again by its name. */
static void fill_up(const char* filler) {
  static char block[kFillBytes];
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank_ == 0) {
    const int fd = open(filler, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    while (write(fd, block, sizeof block) > 0) continue;
    close(fd);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

static void empty(const char* filler) {
  if (rank_ == 0) unlink(filler);
  MPI_Barrier(MPI_COMM_WORLD);
}

/* What a stranger who opens the file now would see. */
static void print_seen(const char* when, const char* path) {
  MPI_File file = open_file(path, MPI_MODE_RDONLY);
  struct View view = set_view(file, kBlocks);
  const int round = read_round(file, &view);
  NEED(MPI_File_close(&file));
  view_free(&view);
  if (rank_ == 0) printf("%s: round %d\n", when, round);
}

/* Round 2 is written and synced, and round 3 closed, when there is no space. Behind round 3, which
 * takes the place of round 1, come more bytes than there is room for. */
static void run_full(const char* path, const char* filler) {
  MPI_File file = open_file(path, MPI_MODE_CREATE | MPI_MODE_RDWR);
  struct View view = set_view(file, kIrregular);
  write_round(file, &view, 1);
  NEED(MPI_File_sync(file));
  write_round(file, &view, 2);
  fill_up(filler);
  NEED(MPI_File_sync(file));
  print_seen("after the sync", path);
  empty(filler);
  write_round(file, &view, 3);
  fill_up(filler);
  unsigned char* data = make_data(&view, 3);
  NEED(MPI_File_set_view(file, kBytes, MPI_BYTE, view.type, "native", MPI_INFO_NULL));
  int code = MPI_SUCCESS;
  for (int i = 0; i < kMore; ++i) {
    code = MPI_File_write_at_all(file, (MPI_Offset)i * view.count, data, view.count, MPI_BYTE,
                                 MPI_STATUS_IGNORE);
    if (code != MPI_SUCCESS) break;
  }
  if (code != MPI_SUCCESS) print_error("write", code);
  free(data);
  NEED(MPI_File_close(&file));
  view_free(&view);
  print_seen("after the close", path);
  empty(filler);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks_);
  if (argc < 3) MPI_Abort(MPI_COMM_WORLD, 2);
  const char* path = argv[1];
  const char* what = argv[2];
  if (strcmp(what, "rewrite") == 0 && argc == 5) {
    rewrite(path, argv[3], atoll(argv[4]));
  } else if (strcmp(what, "follow") == 0 && argc == 4) {
    follow(path, atoi(argv[3]));
  } else if (strcmp(what, "hold") == 0 && argc == 4) {
    hold(path, atoi(argv[3]));
  } else if (strcmp(what, "writer") == 0) {
    be_writer(path);
  } else if (strcmp(what, "full") == 0 && argc == 4) {
    run_full(path, argv[3]);
  } else {
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  MPI_Finalize();
  return 0;
}
