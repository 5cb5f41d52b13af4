/* Object files that something happens to while they are written.
 *
 *   losses FILE full FILLER    the disk is full, and stays so for a while
 *   losses FILE replaced OTHER another file takes its name
 *   losses FILE removed -      its name is removed
 *   losses FILE renamed OTHER  it gets another name
 *   losses FILE passing -      its name is removed, and it was to be deleted at its close anyway
 *   losses FILE elsewhere DIR  the program goes to another folder; FILE is relative
 *
 * Each rank says how the calls ended; after `full` also whether the file is what was written. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "content.h"

enum {
  kBlock = 100003,
  kBlocksMax = 100,
  kRankBytes = kBlock * kBlocksMax,
  kFillBytes = 4096,
  kLaterBytes = 1 << 20
};

static int rank_;
static const char* path_;

static const char* name_of(int code) {
  int error_class = 0;
  MPI_Error_class(code, &error_class);
  return error_class == MPI_SUCCESS            ? "well"
         : error_class == MPI_ERR_NO_SPACE     ? "no space"
         : error_class == MPI_ERR_NO_SUCH_FILE ? "no such file"
                                               : "other";
}

static void print(const char* what, int code) {
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  if (code != MPI_SUCCESS) MPI_Error_string(code, text, &length);
  printf("%s: rank %d: %s: %s\n", what, rank_, name_of(code), text);
}

static MPI_File open_file(int amode) {
  MPI_File file;
  NEED(MPI_File_open(MPI_COMM_WORLD, path_, amode, MPI_INFO_NULL, &file));
  return file;
}

/* The name without its prefix. */
static const char* name(void) { return strchr(path_, ':') ? strchr(path_, ':') + 1 : path_; }

static MPI_Offset offset_of(int block) {
  return (MPI_Offset)rank_ * kRankBytes + (MPI_Offset)block * kBlock;
}

static int write_block(MPI_File file, int block, int* count) {
  static unsigned char data[kBlock];
  for (int i = 0; i < kBlock; ++i) data[i] = content_byte(offset_of(block) + i, 1);
  MPI_Status status;
  const int code = MPI_File_write_at(file, offset_of(block), data, kBlock, MPI_BYTE, &status);
  MPI_Get_count(&status, MPI_BYTE, count);
  return code;
}

/* Takes space of the disk, as far as there is some. */
static void take_space(const char* filler, int pages) {
  static char block[kFillBytes];
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank_ == 0) {
    const int fd = open(filler, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    while (pages > 0 && write(fd, block, sizeof block) > 0) --pages;
    close(fd);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

static void give_back(const char* filler) {
  if (rank_ == 0) unlink(filler);
  MPI_Barrier(MPI_COMM_WORLD);
}

/* Whether blocks [0, good) are as they were written, and those behind hold nothing. */
static int is_as_written(MPI_File file, int good) {
  static unsigned char data[kBlock];
  int wrong = 0;
  for (int block = 0; block < kBlocksMax; ++block) {
    memset(data, 0, sizeof data);
    NEED(MPI_File_read_at(file, offset_of(block), data, kBlock, MPI_BYTE, MPI_STATUS_IGNORE));
    for (int i = 0; i < kBlock; ++i) {
      wrong += data[i] != (block < good ? content_byte(offset_of(block) + i, 1) : 0);
    }
  }
  return wrong == 0;
}

static void read_again(const char* when, int good) {
  MPI_File file = open_file(MPI_MODE_RDONLY);
  printf("%s: rank %d: %s\n", when, rank_, is_as_written(file, good) ? "as written" : "other");
  NEED(MPI_File_close(&file));
}

/* Each rank writes until there is no space, and then the disk is filled to the last page. */
static void run_full(const char* filler) {
  take_space(filler, kLaterBytes / kFillBytes);
  MPI_File file = open_file(MPI_MODE_CREATE | MPI_MODE_RDWR);
  int good = 1, count = 0, code = MPI_SUCCESS;
  NEED(write_block(file, 0, &count));
  MPI_Barrier(MPI_COMM_WORLD);
  while (good < kBlocksMax && code == MPI_SUCCESS) {
    code = write_block(file, good, &count);
    good += code == MPI_SUCCESS;
  }
  print("write", code);
  printf("failed write: rank %d: %d bytes\n", rank_, count);
  take_space(filler, INT_MAX);
  print("write again", write_block(file, good, &count));
  print("sync", MPI_File_sync(file));
  read_again("after the sync", good);
  give_back(filler);
  code = write_block(file, good, &count);
  print("write with space", code);
  good += code == MPI_SUCCESS;
  take_space(filler, INT_MAX);
  print("close", MPI_File_close(&file));
  read_again("after the close", good);
  give_back(filler);
}

/* What happens to the name while the file is open. */
static void befall(const char* what, const char* other) {
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank_ == 0) {
    int failed = 0;
    if (strcmp(what, "replaced") == 0) {
      close(open(other, O_RDWR | O_CREAT | O_CLOEXEC, 0600));
      failed = rename(other, name());
    } else if (strcmp(what, "renamed") == 0) {
      failed = rename(name(), other);
    } else if (strcmp(what, "elsewhere") == 0) {
      failed = chdir(other);
    } else {
      failed = unlink(name());
    }
    if (failed) MPI_Abort(MPI_COMM_WORLD, 2);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

static void run_name(const char* what, const char* other) {
  const int passing = strcmp(what, "passing") == 0 ? MPI_MODE_DELETE_ON_CLOSE : 0;
  MPI_File file = open_file(MPI_MODE_CREATE | MPI_MODE_RDWR | passing);
  int count = 0;
  NEED(write_block(file, 0, &count));
  /* A file that has not been synced yet. */
  if (strcmp(what, "elsewhere") != 0) NEED(MPI_File_sync(file));
  befall(what, other);
  NEED(write_block(file, 1, &count));
  print("sync", MPI_File_sync(file));
  print("close", MPI_File_close(&file));
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  if (argc != 4) MPI_Abort(MPI_COMM_WORLD, 2);
  path_ = argv[1];
  if (strcmp(argv[2], "full") == 0) {
    run_full(argv[3]);
  } else {
    run_name(argv[2], argv[3]);
  }
  MPI_Finalize();
  return 0;
}
