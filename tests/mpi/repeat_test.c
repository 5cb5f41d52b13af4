/* Accesses to the same place again and again: what a library keeps for them between two accesses
 * must follow the file, and the last of them is like the first. */
#include <sys/resource.h>
#include <sys/stat.h>
#include <utime.h>

#include "suite.h"

enum { kTimes = 100, kBlock = 1000 };

/* Collective accesses where `together` holds. */
static int write_block(MPI_File file, MPI_Offset at, const void* data, bool together) {
  return together ? MPI_File_write_at_all(file, at, data, kBlock, MPI_BYTE, MPI_STATUS_IGNORE)
                  : MPI_File_write_at(file, at, data, kBlock, MPI_BYTE, MPI_STATUS_IGNORE);
}

static int read_block(MPI_File file, MPI_Offset at, void* data, bool together, MPI_Status* status) {
  return together ? MPI_File_read_at_all(file, at, data, kBlock, MPI_BYTE, status)
                  : MPI_File_read_at(file, at, data, kBlock, MPI_BYTE, status);
}

static void sync_all(MPI_File file) {
  CHECK_OK(MPI_File_sync(file));
  check_barrier();
  CHECK_OK(MPI_File_sync(file));
}

/* Every rank rewrites its block, and reads that of the next one after each turn. */
static void repeat_turns(void) {
  MPI_File file = check_create(check_path("dat"));
  unsigned char data[kBlock], found[kBlock], expected[kBlock];
  const int next = (check_rank + 1) % check_size;
  for (int turn = 0; turn < 6; ++turn) {
    for (unsigned time = 0; time < kTimes; ++time) {
      check_fill(data, kBlock, 10 * (unsigned)check_rank + time);
      CHECK_OK(write_block(file, kBlock * check_rank, data, turn % 2 == 0));
    }
    check_fill(expected, kBlock, 10 * (unsigned)next + kTimes - 1);
    sync_all(file);
    for (int time = 0; time < kTimes; ++time) {
      MPI_Status status;
      memset(found, 0, kBlock);
      CHECK_OK(read_block(file, kBlock * next, found, turn % 2 == 0, &status));
      CHECK_COUNT(status, MPI_BYTE, kBlock);
      CHECK_BYTES(found, expected, kBlock);
    }
    sync_all(file);
  }
  CHECK_OK(MPI_File_close(&file));
}

/* Begins and ends with a barrier. */
static void read_often(MPI_File file, long long expected_bytes) {
  unsigned char found[kBlock];
  check_barrier();
  for (int time = 0; time < kTimes; ++time) {
    MPI_Status status;
    CHECK_OK(read_block(file, 500, found, false, &status));
    CHECK_COUNT(status, MPI_BYTE, expected_bytes);
  }
  check_barrier();
}

/* The file is cut and grows, while nobody reads, inside the page that all ranks read from. */
static void repeat_at_the_end(void) {
  MPI_File file = check_create(check_path("dat"));
  unsigned char data[kBlock];
  check_fill(data, kBlock, 1);
  CHECK_OK(MPI_File_set_size(file, 3000));
  read_often(file, 1000);
  CHECK_OK(MPI_File_set_size(file, 700));
  read_often(file, 200);
  CHECK_OK(write_block(file, 100, data, true));
  read_often(file, 600);
  CHECK_OK(MPI_File_set_size(file, 10));
  read_often(file, 0);
  CHECK_OK(MPI_File_close(&file));
}

/* Rank 0 cuts the file through a handle of its own; after a sync the others see it, and what they
 * write then is there. */
static void repeat_beside_another_handle(void) {
  const char* path = check_path("dat");
  MPI_File file = check_create(path);
  unsigned char data[kBlock], found[kBlock];
  check_fill(data, kBlock, 7);
  for (int time = 0; time < kTimes; ++time) {
    CHECK_OK(write_block(file, 5000 + kBlock * check_rank, data, false));
  }
  sync_all(file);
  if (check_rank == 0) {
    MPI_File own = check_open(MPI_COMM_SELF, path, MPI_MODE_RDWR);
    CHECK_OK(MPI_File_set_size(own, 5100));
    CHECK_OK(MPI_File_close(&own));
  }
  sync_all(file);
  MPI_Status status;
  CHECK_OK(read_block(file, 5000 + kBlock * check_rank, found, false, &status));
  CHECK_COUNT(status, MPI_BYTE, check_rank == 0 ? 100 : 0);
  check_barrier();
  CHECK_OK(write_block(file, 5000 + kBlock * check_rank, data, false));
  sync_all(file);
  CHECK_OK(read_block(file, 5000 + kBlock * check_rank, found, false, &status));
  CHECK_COUNT(status, MPI_BYTE, kBlock);
  CHECK_BYTES(found, data, kBlock);
  CHECK_EQ(check_file_size(path), 5000 + kBlock * check_size);
  CHECK_OK(MPI_File_close(&file));
}

/* Whoever looks at the file after it was closed sees that it was changed. */
static void repeat_changes_the_time(void) {
  const char* path = check_path("dat");
  MPI_File file = check_create(path);
  unsigned char data[kBlock];
  check_fill(data, kBlock, 3);
  for (int time = 0; time < kTimes; ++time) {
    CHECK_OK(write_block(file, kBlock * check_rank, data, true));
  }
  check_barrier();
  const struct utimbuf long_ago = {1000, 1000};
  if (check_rank == 0) CHECK_EQ(utime(path, &long_ago), 0);
  check_barrier();
  CHECK_OK(write_block(file, kBlock * check_rank, data, true));
  CHECK_OK(MPI_File_close(&file));
  struct stat status;
  CHECK_EQ(stat(path, &status), 0);
  CHECK(status.st_mtime > 1000);
}

/* All ranks extend the file while each rewrites its first block. */
static void repeat_while_it_grows(void) {
  MPI_File file = check_create(check_path("dat"));
  unsigned char data[kBlock], found[kBlock];
  check_fill(data, kBlock, (unsigned)check_rank);
  for (int time = 0; time < kTimes; ++time) {
    CHECK_OK(write_block(file, kBlock * check_rank, data, false));
    CHECK_OK(write_block(file, kBlock * ((MPI_Offset)time * check_size + check_rank), data, false));
  }
  sync_all(file);
  for (int time = 0; time < kTimes; ++time) {
    CHECK_OK(read_block(file, kBlock * ((MPI_Offset)time * check_size + check_rank), found, false,
                        MPI_STATUS_IGNORE));
    CHECK_BYTES(found, data, kBlock);
  }
  CHECK_OK(MPI_File_close(&file));
}

enum { kPieces = 40, kApart = 6, kSpan = kPieces * kApart };

/* Pieces of one to three elements of a type, some of which lie elsewhere in other variants. */
static MPI_Datatype pieces(int variant, MPI_Datatype element, int* count) {
  int lengths[kPieces], places[kPieces];
  MPI_Datatype type;
  *count = 0;
  for (int i = 0; i < kPieces; ++i) {
    lengths[i] = 1 + i % 3;
    places[i] = i * kApart + (i % 7 == variant ? 2 : 0);
    *count += lengths[i];
  }
  CHECK_OK(MPI_Type_indexed(kPieces, lengths, places, element, &type));
  CHECK_OK(MPI_Type_commit(&type));
  return type;
}

/* The elements that a variant's pieces lie on hold their number in the stream, all others -1. */
static void expect_pieces(const char* path, int variant) {
  int expected[kSpan], next = 0;
  for (int i = 0; i < kSpan; ++i) expected[i] = -1;
  for (int i = 0; i < kPieces; ++i) {
    for (int k = 0; k < 1 + i % 3; ++k) {
      expected[i * kApart + (i % 7 == variant ? 2 : 0) + k] = 100 * variant + next++;
    }
  }
  CHECK_FILE(path, expected, sizeof(expected));
}

/* Types that are made again from the same lists, and from lists and elements that differ a little:
 * each access goes where its own type says. */
static void repeat_types(void) {
  const char* path = check_path("dat");
  for (int turn = 0; turn < 12; ++turn) {
    const int variant = turn % 4;
    int blank[kSpan], data[kSpan], count;
    MPI_File file = check_create(path);
    for (int i = 0; i < kSpan; ++i) {
      blank[i] = -1;
      data[i] = 100 * variant + i;
    }
    CHECK_OK(MPI_File_write_at_all(file, 0, blank, kSpan, MPI_INT, MPI_STATUS_IGNORE));
    MPI_Datatype wide = pieces(variant, MPI_DOUBLE, &count);
    MPI_Datatype type = pieces(variant, MPI_INT, &count);
    CHECK_OK(MPI_File_set_view(file, 0, MPI_DOUBLE, wide, "native", MPI_INFO_NULL));
    CHECK_OK(MPI_File_set_view(file, 0, MPI_INT, type, "native", MPI_INFO_NULL));
    CHECK_OK(
        MPI_File_write_all(file, data, check_rank == 0 ? count : 0, MPI_INT, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Type_free(&type));
    CHECK_OK(MPI_Type_free(&wide));
    CHECK_OK(MPI_File_close(&file));
    expect_pieces(path, variant);
  }
}

/* Whether the call failed: with one answer on all ranks. */
static bool all_failed(int code) {
  int failed = code != MPI_SUCCESS, least, most;
  MPI_Allreduce(&failed, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  MPI_Allreduce(&failed, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  CHECK_EQ(least, most);
  return most;
}

static void rewrite(MPI_File file, int times) {
  unsigned char data[kBlock];
  check_fill(data, kBlock, (unsigned)check_rank);
  for (int time = 0; time < times; ++time) {
    CHECK_OK(write_block(file, kBlock * check_rank, data, true));
  }
}

/* Collective writes that the system refuses to the last rank, and arguments that are wrong there.
 * All ranks get the error, from that very call. An object file takes new space for new bytes,
 * wherever they are: it gets none. */
static void fail_on_last_rank(MPI_File file, bool is_plain) {
  const bool last = check_rank == check_size - 1;
  unsigned char data[kBlock];
  struct rlimit before, limit;
  check_fill(data, kBlock, (unsigned)check_rank);
  CHECK_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  limit = before;
  limit.rlim_cur = is_plain ? 1 << 20 : 16 << 10;
  if (last) CHECK_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
  const MPI_Offset at = last ? 2 << 20 : kBlock * check_rank;
  const int code = write_block(file, at, data, true);
  if (last) CHECK_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  CHECK(all_failed(code));
  CHECK(all_failed(MPI_File_write_at_all(file, kBlock * check_rank, data, last ? -1 : kBlock,
                                         MPI_BYTE, MPI_STATUS_IGNORE)));
}

/* However often the ranks have written the same bytes before: a write that fails on one of them
 * fails on all, and no later call has anything to report. */
static void repeat_until_one_fails(void) {
  const char* path = check_path("dat");
  MPI_File file = check_create(path);
  rewrite(file, 1);
  if (check_preloaded()) {
    for (int times = 0; times <= 40; ++times) {
      rewrite(file, times);
      fail_on_last_rank(file, strncmp(path, "obj:", 4) != 0);
    }
    CHECK_OK(MPI_File_sync(file));
  }
  CHECK_OK(MPI_File_close(&file));
}

/* One direction after the other, without a sync in between: nobody reads what was there before the
 * last write, or what is written later. */
static void repeat_by_turns(void) {
  MPI_File file = check_create(check_path("dat"));
  const int next = (check_rank + 1) % check_size;
  unsigned char data[kBlock], found[kBlock], expected[kBlock];
  for (int turn = 1; turn < 30; ++turn) {
    check_fill(data, kBlock, (unsigned)(check_rank + turn));
    check_fill(expected, kBlock, (unsigned)(next + turn));
    for (int time = 0; time < turn; ++time) {
      CHECK_OK(write_block(file, kBlock * check_rank, data, true));
    }
    if (!check_preloaded()) sync_all(file);
    for (int time = 0; time < turn; ++time) {
      CHECK_OK(read_block(file, kBlock * next, found, true, MPI_STATUS_IGNORE));
      CHECK_BYTES(found, expected, kBlock);
    }
    if (!check_preloaded()) sync_all(file);
  }
  CHECK_OK(MPI_File_close(&file));
}

/* Collective writes to one block, of one rank after the other: the last one's is there. */
static void repeat_one_after_the_other(void) {
  MPI_File file = check_create(check_path("dat"));
  unsigned char data[kBlock], found[kBlock];
  for (int turn = 0; turn < 200; ++turn) {
    const int count = turn % check_size == check_rank ? kBlock : 0;
    check_fill(data, kBlock, (unsigned)turn);
    CHECK_OK(MPI_File_write_at_all(file, 0, data, count, MPI_BYTE, MPI_STATUS_IGNORE));
    if (!check_preloaded()) sync_all(file);
    if (turn % 23 != 22) continue;
    CHECK_OK(read_block(file, 0, found, true, MPI_STATUS_IGNORE));
    CHECK_BYTES(found, data, kBlock);
    if (!check_preloaded()) sync_all(file);
  }
  CHECK_OK(MPI_File_close(&file));
}

const struct Subtest repeat_subtests[] = {
    {"repeat_turns", repeat_turns, CHECK_ALWAYS},
    {"repeat_at_the_end", repeat_at_the_end, CHECK_ALWAYS},
    {"repeat_beside_another_handle", repeat_beside_another_handle, CHECK_ALWAYS},
    {"repeat_changes_the_time", repeat_changes_the_time, CHECK_ALWAYS},
    {"repeat_while_it_grows", repeat_while_it_grows, CHECK_ALWAYS},
    {"repeat_types", repeat_types, CHECK_ALWAYS},
    {"repeat_until_one_fails", repeat_until_one_fails, CHECK_ALWAYS},
    {"repeat_by_turns", repeat_by_turns, CHECK_ALWAYS},
    {"repeat_one_after_the_other", repeat_one_after_the_other, CHECK_ALWAYS},
    {0},
};
