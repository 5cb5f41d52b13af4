/* Object files that some ranks write and others read.
 *
 *   restart FILE matrix 0     for all n and m up to the ranks of the job: n write, m read
 *   restart FILE write 0      all ranks write
 *   restart FILE read WRITERS all ranks read what `write` of so many ranks has left
 *
 * A file is written whole in one view, and partly again in the other; its readers use both. Writes
 * and reads are independent, collective, nonblocking and split in turn, and every byte is compared.
 * Prints "OK COUNT", the number of files read. */
#include <string.h>

#include "content.h"

enum { kRows = 60, kBytes = kRows * kColumns, kLongest = 100 };
enum Way { kIndependent, kCollective, kNonblocking, kSplit, kWays };

/* The round of every byte of a file: 1, and 2 where it was written again. */
static unsigned char rounds_[kBytes];

static void write_by(enum Way way, MPI_File file, const void* data, int count) {
  MPI_Request request;
  MPI_Status status;
  int written = -1;
  if (way == kIndependent) NEED(MPI_File_write_at(file, 0, data, count, MPI_BYTE, &status));
  if (way == kCollective) NEED(MPI_File_write_at_all(file, 0, data, count, MPI_BYTE, &status));
  if (way == kNonblocking) {
    NEED(MPI_File_iwrite_at(file, 0, data, count, MPI_BYTE, &request));
    NEED(MPI_Wait(&request, &status));
  }
  if (way == kSplit) {
    NEED(MPI_File_write_all_begin(file, data, count, MPI_BYTE));
    NEED(MPI_File_write_all_end(file, data, &status));
  }
  MPI_Get_count(&status, MPI_BYTE, &written);
  if (written != count) MPI_Abort(MPI_COMM_WORLD, 3);
}

static void read_by(enum Way way, MPI_File file, void* data, int count) {
  MPI_Request request;
  MPI_Status status;
  int read = -1;
  if (way == kIndependent) NEED(MPI_File_read_at(file, 0, data, count, MPI_BYTE, &status));
  if (way == kCollective) NEED(MPI_File_read_at_all(file, 0, data, count, MPI_BYTE, &status));
  if (way == kNonblocking) {
    NEED(MPI_File_iread_at(file, 0, data, count, MPI_BYTE, &request));
    NEED(MPI_Wait(&request, &status));
  }
  if (way == kSplit) {
    NEED(MPI_File_read_all_begin(file, data, count, MPI_BYTE));
    NEED(MPI_File_read_all_end(file, data, &status));
  }
  MPI_Get_count(&status, MPI_BYTE, &read);
  if (read != count) MPI_Abort(MPI_COMM_WORLD, 3);
}

static struct View my_view(MPI_Comm comm, enum ViewKind kind) {
  int rank, ranks;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  return view_make(kind, kBytes, kLongest, rank, ranks);
}

/* All that the rank has in that view; in the second round the first third of it. */
static void write_round(MPI_Comm comm, MPI_File file, enum ViewKind kind, enum Way way, int round) {
  struct View view = my_view(comm, kind);
  const int count = round == 1 ? view.count : view.count / 3;
  unsigned char* data = malloc((size_t)view.count);
  for (int i = 0; i < count; ++i) data[i] = content_byte(view.where[i], round);
  NEED(MPI_File_set_view(file, 0, MPI_BYTE, view.type, "native", MPI_INFO_NULL));
  write_by(way, file, data, count);
  free(data);
  view_free(&view);
}

static void write_file(MPI_Comm comm, const char* path, enum ViewKind kind, int turn) {
  MPI_File file;
  int rank;
  MPI_Comm_rank(comm, &rank);
  if (rank == 0) MPI_File_delete(path, MPI_INFO_NULL);
  MPI_Barrier(comm);
  NEED(MPI_File_open(comm, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file));
  write_round(comm, file, kind, (enum Way)(turn % kWays), 1);
  if (turn % 3 != 0) {
    NEED(MPI_File_sync(file));
    MPI_Barrier(comm);
    NEED(MPI_File_sync(file));
  } else {
    NEED(MPI_File_close(&file));
    NEED(MPI_File_open(comm, path, MPI_MODE_RDWR, MPI_INFO_NULL, &file));
  }
  write_round(comm, file, 1 - kind, (enum Way)((turn + 1) % kWays), 2);
  NEED(MPI_File_close(&file));
}

/* What write_file() of so many writers leaves. */
static void expect(enum ViewKind kind, int writers) {
  memset(rounds_, 1, sizeof rounds_);
  for (int rank = 0; rank < writers; ++rank) {
    struct View view = view_make(1 - kind, kBytes, kLongest, rank, writers);
    for (int i = 0; i < view.count / 3; ++i) rounds_[view.where[i]] = 2;
    view_free(&view);
  }
}

static int count_wrong(const struct View* view, const unsigned char* data) {
  int wrong = 0;
  for (int i = 0; i < view->count; ++i) {
    wrong += data[i] != content_byte(view->where[i], rounds_[view->where[i]]);
  }
  return wrong;
}

static void read_file(MPI_Comm comm, const char* path, enum ViewKind kind, int turn) {
  MPI_File file;
  MPI_Offset size = 0;
  NEED(MPI_File_open(comm, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
  NEED(MPI_File_get_size(file, &size));
  struct View view = my_view(comm, kind);
  unsigned char* data = calloc((size_t)view.count, 1);
  NEED(MPI_File_set_view(file, 0, MPI_BYTE, view.type, "native", MPI_INFO_NULL));
  read_by((enum Way)(turn % kWays), file, data, view.count);
  const int wrong = count_wrong(&view, data);
  if (wrong > 0 || size != kBytes) {
    int ranks;
    MPI_Comm_size(comm, &ranks);
    fprintf(stderr, "%d readers, view %d, way %d: %d bytes are wrong, the size is %lld\n", ranks,
            kind, turn % kWays, wrong, (long long)size);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  NEED(MPI_File_close(&file));
  free(data);
  view_free(&view);
}

/* A communicator of the first `count` ranks; null on the others. */
static MPI_Comm first_ranks(int rank, int count) {
  MPI_Comm comm;
  MPI_Comm_split(MPI_COMM_WORLD, rank < count ? 0 : MPI_UNDEFINED, rank, &comm);
  return comm;
}

static void leave(MPI_Comm comm) {
  if (comm != MPI_COMM_NULL) MPI_Comm_free(&comm);
  MPI_Barrier(MPI_COMM_WORLD);
}

static int read_matrix(int rank, int ranks, const char* path, int turn) {
  int files = 0;
  for (int readers = 1; readers <= ranks; ++readers) {
    MPI_Comm comm = first_ranks(rank, readers);
    for (int kind = 0; kind < kViewKinds; ++kind, ++files) {
      if (comm != MPI_COMM_NULL) read_file(comm, path, (enum ViewKind)kind, turn + files);
    }
    leave(comm);
  }
  return files;
}

static int matrix(int rank, int ranks, const char* path) {
  int files = 0, turn = 0;
  for (int writers = 1; writers <= ranks; ++writers) {
    for (int kind = 0; kind < kViewKinds; ++kind, ++turn) {
      MPI_Comm comm = first_ranks(rank, writers);
      if (comm != MPI_COMM_NULL) write_file(comm, path, (enum ViewKind)kind, turn);
      leave(comm);
      expect((enum ViewKind)kind, writers);
      files += read_matrix(rank, ranks, path, turn);
    }
  }
  return files;
}

int main(int argc, char** argv) {
  int rank, ranks, files = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc != 4) MPI_Abort(MPI_COMM_WORLD, 2);
  const int writers = atoi(argv[3]);
  if (strcmp(argv[2], "matrix") == 0) files = matrix(rank, ranks, argv[1]);
  if (strcmp(argv[2], "write") == 0) write_file(MPI_COMM_WORLD, argv[1], kIrregular, 1);
  if (strcmp(argv[2], "read") == 0) {
    expect(kIrregular, writers);
    for (; files < kViewKinds * kWays; ++files) {
      read_file(MPI_COMM_WORLD, argv[1], (enum ViewKind)(files % kViewKinds), files / kViewKinds);
    }
  }
  if (rank == 0) printf("OK %d\n", files);
  MPI_Finalize();
  return 0;
}
