/* Completion of posted operations: each procedure that waits or tests, also mixed with messages. */
#include <stdlib.h>
#include <time.h>

#include "suite.h"

enum { kRequests = 12, kInts = 100, kBytes = 4 * kInts };

/* Requests of which some write parts of a file and some are messages to the right and from the
 * left; one is MPI_REQUEST_NULL. */
struct Mix {
  MPI_File file;
  MPI_Request requests[kRequests];
  int data[kRequests][kInts];
  int done[kRequests];
};

static bool is_message(int i) { return i % 3 == 1; }
static bool is_null(int i) { return i == 5; }

static void mix_start(struct Mix* mix) {
  mix->file = check_create(check_path("dat"));
  int right = (check_rank + 1) % check_size;
  int left = (check_rank + check_size - 1) % check_size;
  memset(mix->done, 0, sizeof mix->done);
  for (int i = 0; i < kRequests; ++i) {
    for (int k = 0; k < kInts; ++k) mix->data[i][k] = 1000 * i + k + 100000 * check_rank;
    mix->requests[i] = MPI_REQUEST_NULL;
    if (is_null(i)) continue;
    if (!is_message(i)) {
      MPI_Offset at = (MPI_Offset)kBytes * (check_rank * kRequests + i);
      CHECK_OK(MPI_File_iwrite_at(mix->file, at, mix->data[i], kInts, MPI_INT, &mix->requests[i]));
    } else if (i % 2 == 0) {
      MPI_Irecv(mix->data[i], kInts, MPI_INT, left, i / 6, MPI_COMM_WORLD, &mix->requests[i]);
    } else {
      MPI_Isend(mix->data[i], kInts, MPI_INT, right, i / 6, MPI_COMM_WORLD, &mix->requests[i]);
    }
  }
}

static void mix_done(struct Mix* mix, int i, const MPI_Status* status) {
  CHECK(i >= 0 && i < kRequests && !is_null(i));
  if (i < 0 || i >= kRequests) return;
  ++mix->done[i];
  CHECK(mix->requests[i] == MPI_REQUEST_NULL);
  if (status && !(is_message(i) && i % 2 == 1)) {
    check_count(__FILE__, __LINE__, status, MPI_INT, kInts);
  }
}

static void mix_all_done(struct Mix* mix, const MPI_Status* statuses) {
  for (int i = 0; i < kRequests; ++i) {
    if (!is_null(i)) mix_done(mix, i, statuses ? &statuses[i] : NULL);
  }
}

/* Every request is complete once; the file holds what was written. */
static void mix_end(struct Mix* mix) {
  for (int i = 0; i < kRequests; ++i) CHECK_EQ(mix->done[i], is_null(i) ? 0 : 1);
  CHECK_OK(MPI_File_sync(mix->file));
  check_barrier();
  int next = (check_rank + 1) % check_size;
  for (int i = 0; i < kRequests; ++i) {
    if (is_message(i) || is_null(i)) continue;
    int found[kInts];
    MPI_Offset at = (MPI_Offset)kBytes * (next * kRequests + i);
    CHECK_OK(MPI_File_read_at(mix->file, at, found, kInts, MPI_INT, MPI_STATUS_IGNORE));
    CHECK_EQ(found[kInts - 1], 1000 * i + kInts - 1 + 100000 * next);
  }
  check_barrier();
  CHECK_OK(MPI_File_close(&mix->file));
}

static struct Mix mix_;

static void complete_wait(void) {
  mix_start(&mix_);
  for (int i = kRequests - 1; i >= 0; --i) {
    MPI_Status status;
    CHECK_OK(MPI_Wait(&mix_.requests[i], &status));
    if (!is_null(i)) mix_done(&mix_, i, &status);
  }
  mix_end(&mix_);
}

static void complete_test(void) {
  mix_start(&mix_);
  for (int left = kRequests - 1; left > 0;) {
    for (int i = 0; i < kRequests; ++i) {
      if (is_null(i) || mix_.done[i]) continue;
      int flag = 0;
      MPI_Status status;
      CHECK_OK(MPI_Test(&mix_.requests[i], &flag, &status));
      if (!flag) continue;
      mix_done(&mix_, i, &status);
      --left;
    }
  }
  mix_end(&mix_);
}

static void complete_waitall(void) {
  mix_start(&mix_);
  MPI_Status statuses[kRequests];
  CHECK_OK(MPI_Waitall(kRequests, mix_.requests, statuses));
  mix_all_done(&mix_, statuses);
  mix_end(&mix_);
}

static void complete_waitall_ignore(void) {
  mix_start(&mix_);
  CHECK_OK(MPI_Waitall(kRequests, mix_.requests, MPI_STATUSES_IGNORE));
  mix_all_done(&mix_, NULL);
  mix_end(&mix_);
}

static void complete_testall(void) {
  mix_start(&mix_);
  MPI_Status statuses[kRequests];
  int flag = 0;
  while (!flag) CHECK_OK(MPI_Testall(kRequests, mix_.requests, &flag, statuses));
  mix_all_done(&mix_, statuses);
  CHECK_OK(MPI_Testall(kRequests, mix_.requests, &flag, MPI_STATUSES_IGNORE));
  CHECK(flag);
  mix_end(&mix_);
}

static void complete_waitany(void) {
  mix_start(&mix_);
  MPI_Status status;
  int index = -1;
  for (int left = kRequests - 1; left > 0; --left) {
    CHECK_OK(MPI_Waitany(kRequests, mix_.requests, &index, &status));
    mix_done(&mix_, index, &status);
  }
  CHECK_OK(MPI_Waitany(kRequests, mix_.requests, &index, &status));
  CHECK_EQ(index, MPI_UNDEFINED);
  mix_end(&mix_);
}

static void complete_testany(void) {
  mix_start(&mix_);
  MPI_Status status;
  int index = -1, flag = 0;
  for (int left = kRequests - 1; left > 0;) {
    CHECK_OK(MPI_Testany(kRequests, mix_.requests, &index, &flag, &status));
    if (!flag) continue;
    mix_done(&mix_, index, &status);
    --left;
  }
  CHECK_OK(MPI_Testany(kRequests, mix_.requests, &index, &flag, &status));
  CHECK(flag);
  CHECK_EQ(index, MPI_UNDEFINED);
  mix_end(&mix_);
}

static void complete_some(bool wait) {
  mix_start(&mix_);
  MPI_Status statuses[kRequests];
  int indices[kRequests], count = 0;
  for (int left = kRequests - 1; left > 0;) {
    CHECK_OK(wait ? MPI_Waitsome(kRequests, mix_.requests, &count, indices, statuses)
                  : MPI_Testsome(kRequests, mix_.requests, &count, indices, statuses));
    if (wait) CHECK(count > 0);
    if (count == MPI_UNDEFINED) break;
    for (int i = 0; i < count; ++i) mix_done(&mix_, indices[i], &statuses[i]);
    left -= count;
  }
  CHECK_OK(MPI_Testsome(kRequests, mix_.requests, &count, indices, statuses));
  CHECK_EQ(count, MPI_UNDEFINED);
  mix_end(&mix_);
}

static void complete_waitsome(void) { complete_some(true); }
static void complete_testsome(void) { complete_some(false); }

/* Looking at a request leaves it; testing it then takes it. */
static void complete_get_status(void) {
  mix_start(&mix_);
  for (int i = 0; i < kRequests; ++i) {
    if (is_null(i)) continue;
    MPI_Status status;
    int flag = 0;
    while (!flag) CHECK_OK(MPI_Request_get_status(mix_.requests[i], &flag, &status));
    CHECK(mix_.requests[i] != MPI_REQUEST_NULL);
    if (!is_message(i)) CHECK_COUNT(status, MPI_INT, kInts);
    CHECK_OK(MPI_Test(&mix_.requests[i], &flag, &status));
    CHECK(flag);
    mix_done(&mix_, i, &status);
  }
  mix_end(&mix_);
}

/* Persistent messages stay what they are beside posted I/O. */
static void complete_persistent(void) {
  MPI_File file = check_create(check_path("dat"));
  int sent = check_rank, received = -1, value = 100 + check_rank;
  MPI_Request requests[3];
  MPI_Status statuses[3];
  MPI_Send_init(&sent, 1, MPI_INT, (check_rank + 1) % check_size, 9, MPI_COMM_WORLD, &requests[0]);
  MPI_Recv_init(&received, 1, MPI_INT, (check_rank + check_size - 1) % check_size, 9,
                MPI_COMM_WORLD, &requests[1]);
  for (int round = 0; round < 3; ++round) {
    received = -1;
    MPI_Startall(2, requests);
    CHECK_OK(MPI_File_iwrite_at(file, 4 * (round * check_size + check_rank), &value, 1, MPI_INT,
                                &requests[2]));
    CHECK_OK(MPI_Waitall(3, requests, statuses));
    CHECK(requests[0] != MPI_REQUEST_NULL && requests[1] != MPI_REQUEST_NULL);
    CHECK(requests[2] == MPI_REQUEST_NULL);
    CHECK_EQ(received, (check_rank + check_size - 1) % check_size);
    CHECK_COUNT(statuses[2], MPI_INT, 1);
  }
  int flag = 0;
  CHECK_OK(MPI_Testall(3, requests, &flag, statuses));
  CHECK(flag);
  MPI_Request_free(&requests[0]);
  MPI_Request_free(&requests[1]);
  CHECK_OK(MPI_File_close(&file));
}

/* A freed request still writes; the file says when it has. */
static void request_free(void) {
  const char* path = check_path("dat");
  MPI_File file = check_create(path);
  static int data[1000];
  for (int i = 0; i < 1000; ++i) data[i] = i + 1;
  MPI_Request request;
  CHECK_OK(MPI_File_iwrite_at(file, 4000 * check_rank, data, 1000, MPI_INT, &request));
  CHECK_OK(MPI_Request_free(&request));
  CHECK(request == MPI_REQUEST_NULL);
  double until = MPI_Wtime() + 5;
  int last = 0;
  while (last != 1000 && MPI_Wtime() < until) {
    CHECK_OK(
        MPI_File_read_at(file, 4000 * check_rank + 3996, &last, 1, MPI_INT, MPI_STATUS_IGNORE));
    int flag;
    MPI_Iprobe(MPI_ANY_SOURCE, 77, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
  }
  CHECK_EQ(last, 1000);
  check_barrier();
  CHECK_OK(MPI_File_close(&file));
}

/* Hundreds outstanding at once, reads after writes, completed backwards. */
static void many_outstanding(void) {
  enum { kMany = 400 };
  MPI_File file = check_create(check_path("dat"));
  static int data[kMany][8], found[kMany][8];
  static MPI_Request requests[kMany];
  static MPI_Status statuses[kMany];
  for (int i = 0; i < kMany; ++i) {
    for (int k = 0; k < 8; ++k) data[i][k] = i * 10 + k + 100000 * check_rank;
    MPI_Offset at = 32 * ((MPI_Offset)i * check_size + check_rank);
    CHECK_OK(MPI_File_iwrite_at(file, at, data[i], 8, MPI_INT, &requests[i]));
  }
  CHECK_OK(MPI_Waitall(kMany, requests, statuses));
  for (int i = 0; i < kMany; ++i) {
    CHECK_COUNT(statuses[i], MPI_INT, 8);
    MPI_Offset at = 32 * ((MPI_Offset)i * check_size + check_rank);
    CHECK_OK(MPI_File_iread_at(file, at, found[i], 8, MPI_INT, &requests[i]));
  }
  for (int i = kMany - 1; i >= 0; --i) {
    CHECK_OK(MPI_Wait(&requests[i], &statuses[i]));
    CHECK_COUNT(statuses[i], MPI_INT, 8);
  }
  CHECK_BYTES(found, data, sizeof data);
  CHECK_OK(MPI_File_close(&file));
}

const struct Subtest nonblocking_subtests[] = {
    {"complete_wait", complete_wait, CHECK_ALWAYS},
    {"complete_test", complete_test, CHECK_ALWAYS},
    {"complete_waitall", complete_waitall, CHECK_ALWAYS},
    {"complete_waitall_ignore", complete_waitall_ignore, CHECK_ALWAYS},
    {"complete_testall", complete_testall, CHECK_ALWAYS},
    {"complete_waitany", complete_waitany, CHECK_ALWAYS},
    {"complete_testany", complete_testany, CHECK_ALWAYS},
    {"complete_waitsome", complete_waitsome, CHECK_ALWAYS},
    {"complete_testsome", complete_testsome, CHECK_ALWAYS},
    {"complete_get_status", complete_get_status, CHECK_ALWAYS},
    {"complete_persistent", complete_persistent, CHECK_ALWAYS},
    {"request_free", request_free, CHECK_ALWAYS},
    {"many_outstanding", many_outstanding, CHECK_ALWAYS},
    {0},
};
