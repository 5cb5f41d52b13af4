/* Posted collectives and progress: nothing synchronises that need not, and whoever waits in a file
 * operation still lets messages through. */
#include <stdlib.h>

#include "suite.h"

enum { kInts = 1000, kLarge = 4 << 20 };

static void fill(int* data, int seed) {
  for (int i = 0; i < kInts; ++i) data[i] = 1000000 * seed + 10000 * check_rank + i;
}

static MPI_Offset place(int part) { return 4LL * kInts * (part * check_size + check_rank); }

/* Rank 0 posts, then tells the others; they post only after they heard. */
static void posted_collective_order(void) {
  MPI_File file = check_create(check_path("dat"));
  int data[kInts], found[kInts], token = 1;
  fill(data, 1);
  MPI_Request request;
  MPI_Status status;
  for (int round = 0; round < 2; ++round) {
    void* buffer = round == 0 ? (void*)data : (void*)found;
    if (check_rank > 0) {
      MPI_Recv(&token, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    CHECK_OK(round == 0 ? MPI_File_iwrite_at_all(file, place(0), buffer, kInts, MPI_INT, &request)
                        : MPI_File_iread_at_all(file, place(0), buffer, kInts, MPI_INT, &request));
    for (int to = 1; check_rank == 0 && to < check_size; ++to) {
      MPI_Send(&token, 1, MPI_INT, to, 5, MPI_COMM_WORLD);
    }
    CHECK_OK(MPI_Wait(&request, &status));
    CHECK_COUNT(status, MPI_INT, kInts);
  }
  CHECK_BYTES(found, data, sizeof data);
  CHECK_OK(MPI_File_close(&file));
}

/* The same with individual pointers, and a barrier instead of messages. */
static void posted_collective_barrier(void) {
  MPI_File file = check_create(check_path("dat"));
  CHECK_OK(MPI_File_set_view(file, place(0), MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
  int data[kInts], found[kInts];
  fill(data, 2);
  MPI_Request request;
  if (check_rank % 2) check_barrier();
  CHECK_OK(MPI_File_iwrite_all(file, data, kInts, MPI_INT, &request));
  if (check_rank % 2 == 0) check_barrier();
  CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  CHECK_OK(MPI_File_seek(file, 0, MPI_SEEK_SET));
  if (check_rank % 2 == 0) check_barrier();
  CHECK_OK(MPI_File_iread_all(file, found, kInts, MPI_INT, &request));
  if (check_rank % 2) check_barrier();
  CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  CHECK_BYTES(found, data, sizeof data);
  CHECK_OK(MPI_File_close(&file));
}

/* Two files, several operations on each, completed in opposite orders. */
static void posted_collective_many(void) {
  MPI_File files[2] = {check_create(check_path("a")), check_create(check_path("b"))};
  int data[4][kInts], found[4][kInts];
  MPI_Request requests[4];
  for (int i = 0; i < 4; ++i) {
    fill(data[i], i);
    CHECK_OK(
        MPI_File_iwrite_at_all(files[i % 2], place(i / 2), data[i], kInts, MPI_INT, &requests[i]));
  }
  for (int i = 0; i < 4; ++i) {
    int which = check_rank % 2 ? i : 3 - i;
    CHECK_OK(MPI_Wait(&requests[which], MPI_STATUS_IGNORE));
  }
  for (int i = 0; i < 4; ++i) {
    CHECK_OK(
        MPI_File_iread_at_all(files[i % 2], place(i / 2), found[i], kInts, MPI_INT, &requests[i]));
  }
  MPI_Status statuses[4];
  CHECK_OK(MPI_Waitall(4, requests, statuses));
  for (int i = 0; i < 4; ++i) CHECK_COUNT(statuses[i], MPI_INT, kInts);
  CHECK_BYTES(found, data, sizeof data);
  CHECK_OK(MPI_File_close(&files[0]));
  CHECK_OK(MPI_File_close(&files[1]));
}

/* Posted collectives of interleaved columns, in the pointer and the offset form. */
static void posted_collective_columns(void) {
  MPI_File file = check_create(check_path("dat"));
  MPI_Datatype column;
  MPI_Type_create_resized(MPI_INT, 0, 4 * (MPI_Aint)check_size, &column);
  MPI_Type_commit(&column);
  CHECK_OK(MPI_File_set_view(file, 4 * check_rank, MPI_INT, column, "native", MPI_INFO_NULL));
  int data[kInts], found[kInts];
  fill(data, 6);
  MPI_Request requests[2];
  MPI_Status statuses[2];
  CHECK_OK(MPI_File_iwrite_all(file, data, kInts / 2, MPI_INT, &requests[0]));
  CHECK_OK(
      MPI_File_iwrite_at_all(file, kInts / 2, data + kInts / 2, kInts / 2, MPI_INT, &requests[1]));
  CHECK_OK(MPI_Waitall(2, requests, statuses));
  CHECK_COUNT(statuses[0], MPI_INT, kInts / 2);
  CHECK_COUNT(statuses[1], MPI_INT, kInts / 2);
  CHECK_OK(MPI_File_iread_at_all(file, 0, found, kInts / 2, MPI_INT, &requests[0]));
  CHECK_OK(MPI_File_iread_all(file, found + kInts / 2, kInts / 2, MPI_INT, &requests[1]));
  CHECK_OK(MPI_Waitall(2, requests, statuses));
  CHECK_BYTES(found, data, sizeof data);
  MPI_Type_free(&column);
  CHECK_OK(MPI_File_close(&file));
}

/* Rank 0 sits in a collective; the last rank joins it only after its large message to rank 0 has
 * left, which needs rank 0's help. */
static void progress_in_collective(void) {
  MPI_File file = check_create(check_path("dat"));
  static char message[kLarge];
  int data[kInts], found[kInts];
  fill(data, 3);
  int last = check_size - 1;
  MPI_Request request = MPI_REQUEST_NULL;
  for (int round = 0; round < 2; ++round) {
    if (check_rank == 0 && last > 0) {
      MPI_Irecv(message, kLarge, MPI_BYTE, last, 6, MPI_COMM_WORLD, &request);
    } else if (check_rank == last && last > 0) {
      memset(message, 'm' + round, kLarge);
      MPI_Send(message, kLarge, MPI_BYTE, 0, 6, MPI_COMM_WORLD);
    }
    CHECK_OK(round == 0
                 ? MPI_File_write_at_all(file, place(0), data, kInts, MPI_INT, MPI_STATUS_IGNORE)
                 : MPI_File_read_at_all(file, place(0), found, kInts, MPI_INT, MPI_STATUS_IGNORE));
    if (check_rank == 0 && last > 0) {
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      CHECK_EQ(message[kLarge - 1], 'm' + round);
    }
  }
  CHECK_BYTES(found, data, sizeof data);
  CHECK_OK(MPI_File_close(&file));
}

/* The same in the procedures that open, size and close. */
static void progress_in_control(void) {
  static char message[kLarge];
  int last = check_size - 1;
  MPI_File file = MPI_FILE_NULL;
  MPI_Request request = MPI_REQUEST_NULL;
  for (int step = 0; step < 4; ++step) {
    if (check_rank == 0 && last > 0) {
      MPI_Irecv(message, kLarge, MPI_BYTE, last, 7, MPI_COMM_WORLD, &request);
    } else if (check_rank == last && last > 0) {
      MPI_Send(message, kLarge, MPI_BYTE, 0, 7, MPI_COMM_WORLD);
    }
    if (step == 0) file = check_create(check_path("dat"));
    if (step == 1) CHECK_OK(MPI_File_set_size(file, 100));
    if (step == 2) {
      CHECK_OK(MPI_File_write_ordered(file, &check_rank, 1, MPI_INT, MPI_STATUS_IGNORE));
    }
    if (step == 3) CHECK_OK(MPI_File_close(&file));
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
}

/* Waiting for a file operation lets a message through that its sender needs to go on. */
static void progress_in_wait(void) {
  MPI_File file = check_create(check_path("dat"));
  static char message[kLarge];
  int data[kInts];
  fill(data, 4);
  int last = check_size - 1;
  MPI_Request request = MPI_REQUEST_NULL, posted;
  if (check_rank == 0 && last > 0) {
    MPI_Irecv(message, kLarge, MPI_BYTE, last, 8, MPI_COMM_WORLD, &request);
  }
  if (check_rank == last && last > 0) MPI_Send(message, kLarge, MPI_BYTE, 0, 8, MPI_COMM_WORLD);
  CHECK_OK(MPI_File_iwrite_at_all(file, place(0), data, kInts, MPI_INT, &posted));
  CHECK_OK(MPI_Wait(&posted, MPI_STATUS_IGNORE));
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  CHECK_OK(MPI_File_close(&file));
}

const struct Subtest overlap_subtests[] = {
    {"posted_collective_order", posted_collective_order, CHECK_ALWAYS},
    {"posted_collective_barrier", posted_collective_barrier, CHECK_ALWAYS},
    {"posted_collective_many", posted_collective_many, CHECK_ALWAYS},
    {"posted_collective_columns", posted_collective_columns, CHECK_ALWAYS},
    {"progress_in_collective", progress_in_collective, CHECK_ALWAYS},
    {"progress_in_control", progress_in_control, CHECK_ALWAYS},
    {"progress_in_wait", progress_in_wait, CHECK_ALWAYS},
    {0},
};
