/* List locks: four processes update records of one file at the same time, and no update is lost.
 *
 *   tesserad --lock --listen unix:/tmp/locks &
 *   TESSERA_LOCKS=unix:/tmp/locks ./list_lock [FILE]
 *
 * Process p owns every fourth record from p on, and adds to all of them under one strided lock: the
 * four locks interleave and share no byte, so nobody waits. Some records are everybody's totals:
 * these are taken by a list lock, and the processes take turns.
 */
#define _POSIX_C_SOURCE 200809L
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <tessera_lock.h>
#include <unistd.h>

enum { kProcesses = 4, kRecords = 256, kRounds = 25, kTotalCount = 3 };

/* The first records are the processes' own; behind them lie the totals, with gaps between them. */
static const int64_t kRecordBytes = sizeof(int64_t);
static const int64_t kTotals[kTotalCount] = {kRecords + 7, kRecords, kRecords + 2};

static void give_up(const char* what, const char* why) {
  fprintf(stderr, "list_lock: %s: %s\n", what, why);
  exit(1);
}

static void add_one(int file, int64_t record) {
  int64_t value = 0;
  const off_t place = (off_t)(record * kRecordBytes);
  if (pread(file, &value, sizeof value, place) < 0) give_up("read", "failed");
  ++value;
  if (pwrite(file, &value, sizeof value, place) != sizeof value) give_up("write", "failed");
}

/* A lock that was taken away has not protected what was written under it. */
static void release(tessera_lock_connection* locks, tessera_lock_id lock) {
  if (tessera_lock_release(locks, lock) != TESSERA_LOCK_OK)
    give_up("release", tessera_lock_error());
}

static void update_own(tessera_lock_connection* locks, int file, int process) {
  const tessera_lock_strided own = {process * kRecordBytes, kRecordBytes, kProcesses * kRecordBytes,
                                    kRecords / kProcesses};
  tessera_lock_id lock = 0;
  if (tessera_lock_acquire_strided(locks, "records", &own, NULL, &lock) != TESSERA_LOCK_OK)
    give_up("lock", tessera_lock_error());
  for (int64_t record = process; record < kRecords; record += kProcesses) add_one(file, record);
  release(locks, lock);
}

static void update_totals(tessera_lock_connection* locks, int file) {
  tessera_lock_range ranges[kTotalCount];
  for (int i = 0; i < kTotalCount; ++i)
    ranges[i] = (tessera_lock_range){kTotals[i] * kRecordBytes, kRecordBytes};
  /* At most a minute for the others; whoever holds it for more than a minute has it no longer. */
  const tessera_lock_terms terms = {.mode = TESSERA_LOCK_EXCLUSIVE, .wait_s = 60.0, .hold_s = 60.0};
  tessera_lock_id lock = 0;
  if (tessera_lock_acquire_list(locks, "records", ranges, kTotalCount, &terms, &lock) !=
      TESSERA_LOCK_OK)
    give_up("lock", tessera_lock_error());
  for (int i = 0; i < kTotalCount; ++i) add_one(file, kTotals[i]);
  release(locks, lock);
}

/* Each process has a connection of its own. */
static void run_process(const char* path, int process) {
  const int file = open(path, O_RDWR);
  if (file < 0) give_up("open", path);
  tessera_lock_connection* locks = NULL;
  if (tessera_lock_connect(NULL, NULL, &locks) != TESSERA_LOCK_OK)
    give_up("connect", tessera_lock_error());
  for (int round = 0; round < kRounds; ++round) {
    update_own(locks, file, process);
    update_totals(locks, file);
  }
  tessera_lock_disconnect(locks);
  close(file);
}

static void check(int file, int64_t record, int64_t expected) {
  int64_t value = 0;
  if (pread(file, &value, sizeof value, (off_t)(record * kRecordBytes)) != sizeof value)
    give_up("read", "a record is missing");
  if (value == expected) return;
  fprintf(stderr, "list_lock: record %lld has %lld updates instead of %lld\n", (long long)record,
          (long long)value, (long long)expected);
  exit(1);
}

int main(int argc, char** argv) {
  char own_path[] = "/tmp/list_lock_XXXXXX";
  const int file = argc > 1 ? open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0644) : mkstemp(own_path);
  const char* path = argc > 1 ? argv[1] : own_path;
  if (file < 0) give_up("open", path);
  for (int process = 0; process < kProcesses; ++process) {
    if (fork() != 0) continue;
    run_process(path, process);
    exit(0);
  }
  int failed = 0;
  for (int process = 0; process < kProcesses; ++process) {
    int status = 0;
    wait(&status);
    failed |= status != 0;
  }
  if (argc <= 1) unlink(path);
  if (failed) give_up("a process", "failed");
  for (int64_t record = 0; record < kRecords; ++record) check(file, record, kRounds);
  for (int i = 0; i < kTotalCount; ++i) check(file, kTotals[i], (int64_t)kProcesses * kRounds);
  close(file);
  printf("%d processes, %d rounds each: a strided lock on %d interleaved records,\n", kProcesses,
         kRounds, kRecords / kProcesses);
  printf("then a list lock on %d totals, which all of them share\n", kTotalCount);
  printf("%d records and %d totals have every update\n", kRecords, kTotalCount);
  return 0;
}
