/* A library is a guest in the process: its signals, limits and files are the program's, and others
 * change files as they like. What a guest may not do is end the program, or lose bytes. */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "suite.h"

enum { kBlock = 2000, kRecord = 64, kRecords = 4096 };

/* Cuts, or lengthens, the file outside MPI-IO. */
static void cut(const char* path, long long size) {
  check_barrier();
  if (check_rank == 0) CHECK(truncate(path, size) == 0);
  check_barrier();
}

/* Blocks that are written again and again, while another program makes the file shorter, or shorter
 * and longer: what was written since is there. */
static void guest_blocks_of_a_cut_file(void) {
  const char* path = check_path("dat");
  MPI_File file = check_create(path);
  unsigned char data[kBlock];
  unsigned char* all = malloc((size_t)kBlock * (size_t)check_size);
  for (unsigned turn = 0; turn < 40; ++turn) {
    check_fill(data, kBlock, (unsigned)check_rank + turn);
    CHECK_OK(MPI_File_write_at_all(file, kBlock * check_rank, data, kBlock, MPI_BYTE,
                                   MPI_STATUS_IGNORE));
    for (int rank = 0; rank < check_size; ++rank) {
      check_fill(all + kBlock * rank, kBlock, (unsigned)rank + turn);
    }
    CHECK_FILE(path, all, (size_t)kBlock * (size_t)check_size);
    if (turn % 4 != 0) cut(path, turn % 8 < 4 ? 10 : 0);
    if (turn % 4 == 3) cut(path, (long long)kBlock * check_size);
  }
  CHECK_OK(MPI_File_close(&file));
  free(all);
}

/* The same with records of all ranks between each other. */
static void guest_records_of_a_cut_file(void) {
  const char* path = check_path("dat");
  MPI_File file = check_create(path);
  MPI_Datatype type;
  MPI_Type_vector(kRecords, kRecord, kRecord * check_size, MPI_BYTE, &type);
  MPI_Type_commit(&type);
  CHECK_OK(MPI_File_set_view(file, (MPI_Offset)kRecord * check_rank, MPI_BYTE, type, "native",
                             MPI_INFO_NULL));
  const size_t bytes = (size_t)kRecord * kRecords;
  unsigned char* data = malloc(bytes);
  unsigned char* all = malloc(bytes * (size_t)check_size);
  for (unsigned turn = 0; turn < 12; ++turn) {
    memset(data, (int)(1 + turn + 16 * ((unsigned)check_rank % 8)), bytes);
    if (turn % 2 == 0) {
      CHECK_OK(MPI_File_write_at_all(file, 0, data, (int)bytes, MPI_BYTE, MPI_STATUS_IGNORE));
    } else {
      CHECK_OK(MPI_File_write_at(file, 0, data, (int)bytes, MPI_BYTE, MPI_STATUS_IGNORE));
    }
    for (size_t i = 0; i < bytes * (size_t)check_size; ++i) {
      const size_t rank = i / kRecord % (size_t)check_size;
      all[i] = (unsigned char)(1 + turn + 16 * (rank % 8));
    }
    CHECK_FILE(path, all, bytes * (size_t)check_size);
    if (turn % 3 == 1) cut(path, 100 + (long long)turn);
    if (turn % 3 == 2) cut(path, 0);
  }
  CHECK_OK(MPI_File_close(&file));
  MPI_Type_free(&type);
  free(data);
  free(all);
}

/* A program that blocks SIGBUS, on a disk that becomes full. */
static void guest_blocks_signals(void) {
  enum { kColumns = 1 << 17 };
  if (!check_preloaded()) return; /* stock writes each column by itself */
  const char* path = check_special_path("full", "dat");
  sigset_t bus, before;
  sigemptyset(&bus);
  sigaddset(&bus, SIGBUS);
  MPI_File file = check_create(path);
  MPI_Datatype type;
  MPI_Type_vector(kColumns, 8, 16 * check_size, MPI_BYTE, &type);
  MPI_Type_commit(&type);
  CHECK_OK(MPI_File_set_view(file, (MPI_Offset)16 * check_rank, MPI_BYTE, type, "native",
                             MPI_INFO_NULL));
  unsigned char* data = calloc(kColumns, 8);
  sigprocmask(SIG_BLOCK, &bus, &before);
  const int code = MPI_File_write_at(file, 0, data, kColumns * 8, MPI_BYTE, MPI_STATUS_IGNORE);
  CHECK_ERROR(code, MPI_ERR_NO_SPACE, MPI_ERR_QUOTA, MPI_ERR_IO);
  sigprocmask(SIG_SETMASK, &before, NULL);
  check_barrier();
  CHECK_OK(MPI_File_close(&file));
  if (check_rank == 0) CHECK_OK(MPI_File_delete(path, MPI_INFO_NULL));
  check_barrier();
  MPI_Type_free(&type);
  free(data);
}

/* Calls that change what is done about SIGBUS come here first. */
static int changed_;

extern int __sigaction(int number, const struct sigaction* action, struct sigaction* before);

int sigaction(int number, const struct sigaction* action, struct sigaction* before) {
  if (number == SIGBUS && action != NULL) ++changed_;
  return __sigaction(number, action, before);
}

static MPI_File open_with(const char* path, const char* hint, const char* value) {
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, hint, value);
  MPI_File file = MPI_FILE_NULL;
  CHECK_OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, info, &file));
  MPI_Info_free(&info);
  return file;
}

/* Moves of all kinds, which leave gaps; how often SIGBUS was handled in a new way meanwhile. */
static int count_changes(const char* path, const char* engine) {
  enum { kColumns = 1 << 15 };
  MPI_File file = open_with(path, "tessera_engine", engine);
  /* Stock sieving leaves in the gaps of a new file what its buffer held. */
  CHECK_OK(MPI_File_set_size(file, (MPI_Offset)16 * check_size * kColumns));
  MPI_Datatype type;
  MPI_Type_vector(kColumns, 8, 16 * check_size, MPI_BYTE, &type);
  MPI_Type_commit(&type);
  CHECK_OK(MPI_File_set_view(file, (MPI_Offset)16 * check_rank, MPI_BYTE, type, "native",
                             MPI_INFO_NULL));
  const int bytes = 8 * kColumns;
  unsigned char* data = calloc((size_t)bytes, 1);
  unsigned char* found = malloc((size_t)bytes);
  check_fill(data, (size_t)bytes, (unsigned)check_rank);
  changed_ = 0;
  for (int turn = 0; turn < 4; ++turn) {
    CHECK_OK(MPI_File_write_at(file, 0, data, bytes, MPI_BYTE, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_File_write_at_all(file, 0, data, bytes, MPI_BYTE, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_File_read_at(file, 0, found, bytes, MPI_BYTE, MPI_STATUS_IGNORE));
    CHECK_BYTES(found, data, (size_t)bytes);
    CHECK_OK(MPI_File_read_at_all(file, 0, found, bytes, MPI_BYTE, MPI_STATUS_IGNORE));
    CHECK_BYTES(found, data, (size_t)bytes);
  }
  const int changed = changed_;
  CHECK_OK(MPI_File_sync(file));
  CHECK_OK(MPI_File_close(&file));
  MPI_Type_free(&type);
  free(data);
  free(found);
  return changed;
}

/* Without the flag that the C library adds when a handler is put back. */
static int program_flags(const struct sigaction* action) {
  const int restorer = 0x04000000;
  return action->sa_flags & ~restorer;
}

/* No signal is handled for an engine of system calls; and the handler of the program stays. */
static void guest_handles_no_signal(void) {
  CHECK_EQ(count_changes(check_path("list"), "list"), 0);
  struct sigaction before, after;
  sigaction(SIGBUS, NULL, &before);
  const int changed = count_changes(check_path("mapped"), "mapped");
  const bool is_plain = strncmp(check_path("mapped"), "obj:", 4) != 0;
  if (check_preloaded() && is_plain) CHECK(changed > 0);
  sigaction(SIGBUS, NULL, &after);
  CHECK(after.sa_handler == before.sa_handler && program_flags(&after) == program_flags(&before));
}

/* A limit of file sizes: files that stay below it are as ever, and what exceeds it is an error. The
 * communicator is new, and so is all that the library shares for it. */
static void guest_size_limit(void) {
  if (!check_preloaded()) return;
  const char* path = check_path("dat");
  MPI_Comm fresh;
  MPI_Comm_dup(MPI_COMM_WORLD, &fresh);
  struct rlimit before, small;
  getrlimit(RLIMIT_FSIZE, &before);
  small = before;
  small.rlim_cur = 16 << 10;
  CHECK(setrlimit(RLIMIT_FSIZE, &small) == 0);
  MPI_File file = check_open(fresh, path, MPI_MODE_CREATE | MPI_MODE_RDWR);
  unsigned char data[64], found[64];
  check_fill(data, 64, (unsigned)check_rank);
  CHECK_OK(MPI_File_write_at_all(file, 64 * check_rank, data, 64, MPI_BYTE, MPI_STATUS_IGNORE));
  CHECK_OK(MPI_File_write_at(file, 64 * check_rank, data, 64, MPI_BYTE, MPI_STATUS_IGNORE));
  const MPI_Offset far = (16 << 10) + 64 * check_rank;
  CHECK_ERROR(MPI_File_write_at(file, far, data, 64, MPI_BYTE, MPI_STATUS_IGNORE),
              MPI_ERR_NO_SPACE);
  CHECK_ERROR(MPI_File_write_at_all(file, far, data, 64, MPI_BYTE, MPI_STATUS_IGNORE),
              MPI_ERR_NO_SPACE);
  CHECK_ERROR(MPI_File_set_size(file, 1 << 20), MPI_ERR_NO_SPACE);
  CHECK_ERROR(MPI_File_preallocate(file, 1 << 20), MPI_ERR_NO_SPACE);
  /* Large moves of interleaved columns go through memory that ranks share. */
  MPI_Datatype type;
  MPI_Type_vector(512, 8, 8 * check_size, MPI_BYTE, &type);
  MPI_Type_commit(&type);
  CHECK_OK(MPI_File_set_view(file, 8 * check_rank, MPI_BYTE, type, "native", MPI_INFO_NULL));
  unsigned char* columns = calloc(512, 8);
  const int code = MPI_File_write_at_all(file, 0, columns, 4096, MPI_BYTE, MPI_STATUS_IGNORE);
  if (check_size <= 4) {
    CHECK_OK(code);
  } else {
    CHECK_ERROR(code, MPI_ERR_NO_SPACE);
  }
  CHECK_OK(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
  CHECK_OK(MPI_File_write_at_all(file, 64 * check_rank, data, 64, MPI_BYTE, MPI_STATUS_IGNORE));
  CHECK_OK(MPI_File_read_at_all(file, 64 * check_rank, found, 64, MPI_BYTE, MPI_STATUS_IGNORE));
  CHECK_BYTES(found, data, 64);
  sigset_t pending;
  sigpending(&pending);
  CHECK(!sigismember(&pending, SIGXFSZ));
  CHECK_OK(MPI_File_close(&file));
  setrlimit(RLIMIT_FSIZE, &before);
  MPI_Type_free(&type);
  MPI_Comm_free(&fresh);
  free(columns);
  check_remove(path);
}

/* A limit that the program sets below what it has written already. */
static void guest_size_limit_that_comes_later(void) {
  const char* path = check_path("dat");
  if (!check_preloaded() || strncmp(path, "obj:", 4) == 0) return;
  struct rlimit before, small;
  getrlimit(RLIMIT_FSIZE, &before);
  small = before;
  small.rlim_cur = 16 << 10;
  MPI_File file = check_create(path);
  unsigned char data[64], found[64];
  check_fill(data, 64, (unsigned)check_rank);
  const MPI_Offset far = (32 << 10) + 64 * check_rank;
  CHECK_OK(MPI_File_write_at(file, far, data, 64, MPI_BYTE, MPI_STATUS_IGNORE));
  CHECK_OK(MPI_File_write_at_all(file, far, data, 64, MPI_BYTE, MPI_STATUS_IGNORE));
  CHECK(prlimit(0, RLIMIT_FSIZE, &small, NULL) == 0);
  CHECK_ERROR(MPI_File_write_at(file, far, data, 64, MPI_BYTE, MPI_STATUS_IGNORE),
              MPI_ERR_NO_SPACE);
  CHECK(setrlimit(RLIMIT_FSIZE, &before) == 0);
  CHECK_OK(MPI_File_write_at(file, far, data, 64, MPI_BYTE, MPI_STATUS_IGNORE));
  CHECK(setrlimit(RLIMIT_FSIZE, &small) == 0);
  CHECK_ERROR(MPI_File_write_at(file, far, data, 64, MPI_BYTE, MPI_STATUS_IGNORE),
              MPI_ERR_NO_SPACE);
  CHECK_ERROR(MPI_File_write_at_all(file, far, data, 64, MPI_BYTE, MPI_STATUS_IGNORE),
              MPI_ERR_NO_SPACE);
  MPI_Request request = MPI_REQUEST_NULL;
  const int code = MPI_File_iwrite_at(file, far, data, 64, MPI_BYTE, &request);
  CHECK_ERROR(check_wait(code, &request, MPI_STATUS_IGNORE), MPI_ERR_NO_SPACE);
  MPI_Datatype type;
  MPI_Type_vector(8, 8, 16, MPI_BYTE, &type);
  MPI_Type_commit(&type);
  CHECK_OK(MPI_File_set_view(file, far, MPI_BYTE, type, "native", MPI_INFO_NULL));
  CHECK_ERROR(MPI_File_write_at(file, 0, data, 64, MPI_BYTE, MPI_STATUS_IGNORE), MPI_ERR_NO_SPACE);
  CHECK_OK(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
  CHECK_OK(MPI_File_read_at_all(file, far, found, 64, MPI_BYTE, MPI_STATUS_IGNORE));
  CHECK_BYTES(found, data, 64);
  CHECK_OK(MPI_File_close(&file));
  setrlimit(RLIMIT_FSIZE, &before);
  MPI_Type_free(&type);
  check_remove(path);
}

/* An object file below a limit of file sizes that no block ends at: the ranks write until they get
 * errors, and what was written before is synced and stays. */
static void guest_size_limit_of_objects(void) {
  enum { kBytes = 1000, kLimit = 1001 << 10 };
  const char* path = check_path("dat");
  if (!check_preloaded() || strncmp(path, "obj:", 4) != 0) return;
  struct rlimit before, small;
  getrlimit(RLIMIT_FSIZE, &before);
  small = before;
  small.rlim_cur = kLimit;
  MPI_File file = check_create(path);
  check_barrier();
  CHECK(setrlimit(RLIMIT_FSIZE, &small) == 0);
  unsigned char data[kBytes], found[kBytes];
  int good = 0, code = MPI_SUCCESS;
  while (code == MPI_SUCCESS && good < kLimit / kBytes) {
    check_fill(data, kBytes, (unsigned)good);
    const MPI_Offset at = kBytes * ((MPI_Offset)good * check_size + check_rank);
    code = MPI_File_write_at(file, at, data, kBytes, MPI_BYTE, MPI_STATUS_IGNORE);
    good += code == MPI_SUCCESS;
  }
  CHECK_ERROR(code, MPI_ERR_NO_SPACE);
  CHECK_OK(MPI_File_sync(file));
  CHECK_OK(MPI_File_close(&file));
  setrlimit(RLIMIT_FSIZE, &before);
  file = check_open(MPI_COMM_WORLD, path, MPI_MODE_RDONLY);
  for (int block = 0; block < good; ++block) {
    check_fill(data, kBytes, (unsigned)block);
    const MPI_Offset at = kBytes * ((MPI_Offset)block * check_size + check_rank);
    CHECK_OK(MPI_File_read_at(file, at, found, kBytes, MPI_BYTE, MPI_STATUS_IGNORE));
    CHECK_BYTES(found, data, kBytes);
  }
  MPI_Offset written = kBytes * good;
  MPI_Allreduce(MPI_IN_PLACE, &written, 1, MPI_OFFSET, MPI_SUM, MPI_COMM_WORLD);
  CHECK(written > kLimit / 2);
  CHECK_OK(MPI_File_close(&file));
  check_remove(path);
}

/* Where there is no memory for what a call needs, it fails, also if that is on one rank only. */
static void guest_no_memory(void) {
  enum { kLarge = 1 << 28 };
  if (!check_preloaded()) return;
  const char* path = check_path("dat");
  unsigned char* large = mmap(NULL, kLarge, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  MPI_File file = check_create(path);
  CHECK_OK(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "external32", MPI_INFO_NULL));
  struct rlimit before, small;
  getrlimit(RLIMIT_AS, &before);
  small = before;
  small.rlim_cur = 1 << 20;
  check_barrier();
  setrlimit(RLIMIT_AS, &small);
  const int code = MPI_File_write_at(file, 0, large, kLarge, MPI_BYTE, MPI_STATUS_IGNORE);
  setrlimit(RLIMIT_AS, &before);
  CHECK_ERROR(code, MPI_ERR_NO_MEM);
  check_barrier();
  const bool alone = check_rank == check_size - 1;
  if (alone) setrlimit(RLIMIT_AS, &small);
  const int together =
      MPI_File_write_at_all(file, 0, large, alone ? kLarge : 0, MPI_BYTE, MPI_STATUS_IGNORE);
  setrlimit(RLIMIT_AS, &before);
  CHECK_ANY_ERROR(together);
  CHECK_OK(MPI_File_close(&file));
  munmap(large, kLarge);
  check_remove(path);
}

/* A folder for temporary files that is not there is an error of the open that needs it. */
static void guest_no_temporary_folder(void) {
  if (!check_preloaded()) return;
  const char* path = check_path("dat");
  const char* before = getenv("TMPDIR");
  char* kept = before != NULL ? strdup(before) : NULL;
  setenv("TMPDIR", "/no/such/folder", 1);
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "tessera_cache", "on");
  MPI_File file = MPI_FILE_NULL;
  const int code =
      MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, info, &file);
  /* Ranks on several nodes make it beside the file. */
  if (code == MPI_SUCCESS) {
    CHECK(getenv("TESSERA_FAKE_NODES") != NULL);
    CHECK_OK(MPI_File_close(&file));
  } else {
    CHECK_ANY_ERROR(code);
  }
  MPI_Info_free(&info);
  if (kept != NULL) {
    setenv("TMPDIR", kept, 1);
  } else {
    unsetenv("TMPDIR");
  }
  free(kept);
  check_remove(path);
}

const struct Subtest guest_subtests[] = {
    {"guest_blocks_of_a_cut_file", guest_blocks_of_a_cut_file, CHECK_ALWAYS},
    {"guest_records_of_a_cut_file", guest_records_of_a_cut_file, CHECK_ALWAYS},
    {"guest_blocks_signals", guest_blocks_signals, CHECK_ALWAYS},
    {"guest_handles_no_signal", guest_handles_no_signal, CHECK_ALWAYS},
    {"guest_size_limit", guest_size_limit, CHECK_ALWAYS},
    {"guest_size_limit_that_comes_later", guest_size_limit_that_comes_later, CHECK_ALWAYS},
    {"guest_size_limit_of_objects", guest_size_limit_of_objects, CHECK_ALWAYS},
    {"guest_no_memory", guest_no_memory, CHECK_ALWAYS},
    {"guest_no_temporary_folder", guest_no_temporary_folder, CHECK_ALWAYS},
    {0},
};
