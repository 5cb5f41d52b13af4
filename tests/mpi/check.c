#include "check.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "suite.h"

int check_rank;
int check_size;

static const char* scratch_;
static const char* subtest_ = "none";
static long failures_;
static long shown_;
static unsigned limit_s_ = 20;

enum { kPathBytes = 1024, kPaths = 8, kShown = 20 };

static void on_alarm(int number) {
  (void)number;
  char line[256];
  int length = snprintf(line, sizeof line, "FAIL %s: rank %d: still running after %u s\n", subtest_,
                        check_rank, limit_s_);
  if (write(STDERR_FILENO, line, (size_t)length) < 0) _exit(4);
  _exit(3);
}

void check_start(const char* scratch, unsigned limit_s) {
  MPI_Comm_rank(MPI_COMM_WORLD, &check_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &check_size);
  scratch_ = scratch;
  limit_s_ = limit_s;
  signal(SIGALRM, on_alarm);
}

long check_run(const struct Subtest* subtest) {
  subtest_ = subtest->name;
  long before = failures_;
  shown_ = 0;
  alarm(limit_s_);
  subtest->run();
  long mine = failures_ - before;
  long all = 0;
  MPI_Allreduce(&mine, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  alarm(0);
  return all;
}

void check_failed(const char* file, int line, const char* format, ...) {
  ++failures_;
  if (++shown_ > kShown) return;
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  const char* slash = strrchr(file, '/');
  fprintf(stderr, "FAIL %s: rank %d of %d: %s:%d: %s\n", subtest_, check_rank, check_size,
          slash ? slash + 1 : file, line, text);
}

long check_failures(void) { return failures_; }

void check_true(const char* file, int line, bool value, const char* text) {
  if (!value) check_failed(file, line, "%s", text);
}

void check_equal(const char* file, int line, const char* text, long long found,
                 long long expected) {
  if (found != expected) {
    check_failed(file, line, "%s is %lld, expected %lld", text, found, expected);
  }
}

static void describe(int code, char* text) {
  int length = 0;
  if (MPI_Error_string(code, text, &length) != MPI_SUCCESS) {
    snprintf(text, MPI_MAX_ERROR_STRING, "code %d", code);
  }
}

void check_code(const char* file, int line, const char* text, int code) {
  if (code == MPI_SUCCESS) return;
  char words[MPI_MAX_ERROR_STRING];
  describe(code, words);
  check_failed(file, line, "%s failed: %s", text, words);
}

void check_error(const char* file, int line, const char* text, int code, const int* classes) {
  if (code == MPI_SUCCESS) {
    check_failed(file, line, "%s succeeded, an error is expected", text);
    return;
  }
  int class = MPI_ERR_UNKNOWN;
  MPI_Error_class(code, &class);
  if (classes[0] == 0) return;
  for (const int* each = classes; *each != 0; ++each) {
    if (*each == class) return;
  }
  char words[MPI_MAX_ERROR_STRING];
  char wanted[MPI_MAX_ERROR_STRING];
  describe(code, words);
  describe(classes[0], wanted);
  check_failed(file, line, "%s: error class %d (%s), expected %d (%s)", text, class, words,
               classes[0], wanted);
}

void check_count(const char* file, int line, const MPI_Status* status, MPI_Datatype type,
                 long long expected) {
  int count = -1;
  MPI_Get_count(status, type, &count);
  if (count != expected) {
    check_failed(file, line, "count in status is %d, expected %lld", count, expected);
  }
}

void check_bytes(const char* file, int line, const void* found, const void* expected,
                 size_t bytes) {
  const unsigned char* a = found;
  const unsigned char* b = expected;
  for (size_t i = 0; i < bytes; ++i) {
    if (a[i] == b[i]) continue;
    check_failed(file, line, "byte %zu of %zu is %d, expected %d", i, bytes, a[i], b[i]);
    return;
  }
}

/* The scratch directory may have this prefix: then all files are object files. They are made and
 * read by rank 0 alone, by MPI-IO, since nothing else knows their bytes. */
static const char kObjectPrefix[] = "obj:";

static bool is_object(const char* path) {
  return strncmp(path, kObjectPrefix, strlen(kObjectPrefix)) == 0;
}

static const char* name_on_disk(const char* path) {
  return is_object(path) ? path + strlen(kObjectPrefix) : path;
}

static char* next_path(void) {
  static char paths[kPaths][kPathBytes];
  static int next;
  next = (next + 1) % kPaths;
  return paths[next];
}

const char* check_path(const char* suffix) {
  char* path = next_path();
  snprintf(path, kPathBytes, "%s/%s.%s", scratch_, subtest_, suffix);
  return path;
}

const char* check_special_path(const char* purpose, const char* suffix) {
  char* path = next_path();
  snprintf(path, kPathBytes, "%s/%s", scratch_, purpose);
  struct stat found;
  if (stat(name_on_disk(path), &found) != 0)
    check_failed(__FILE__, __LINE__, "the runner made no %s", path);
  snprintf(path, kPathBytes, "%s/%s/%s.%s", scratch_, purpose, subtest_, suffix);
  return path;
}

static void make_object(const char* path, const void* data, size_t bytes) {
  unlink(name_on_disk(path));
  MPI_File file = check_open(MPI_COMM_SELF, path, MPI_MODE_CREATE | MPI_MODE_WRONLY);
  CHECK_OK(MPI_File_write_at(file, 0, data, (int)bytes, MPI_BYTE, MPI_STATUS_IGNORE));
  CHECK_OK(MPI_File_close(&file));
}

static long long object_size(const char* path) {
  MPI_File file;
  MPI_Offset size = -1;
  if (MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &file) != MPI_SUCCESS) {
    return -1;
  }
  CHECK_OK(MPI_File_get_size(file, &size));
  CHECK_OK(MPI_File_close(&file));
  return size;
}

static bool read_object(const char* path, void* data, size_t bytes) {
  MPI_File file = check_open(MPI_COMM_SELF, path, MPI_MODE_RDONLY);
  MPI_Status status;
  int count = -1;
  CHECK_OK(MPI_File_read_at(file, 0, data, (int)bytes, MPI_BYTE, &status));
  MPI_Get_count(&status, MPI_BYTE, &count);
  CHECK_OK(MPI_File_close(&file));
  return count == (int)bytes;
}

static bool read_plain(const char* path, void* data, size_t bytes) {
  FILE* stream = fopen(path, "rb");
  const bool read = stream != NULL && fread(data, 1, bytes, stream) == bytes;
  if (stream) fclose(stream);
  return read;
}

static void make_plain(const char* path, const void* data, size_t bytes) {
  FILE* file = fopen(path, "wb");
  CHECK(file != NULL);
  if (file == NULL) return;
  CHECK(fwrite(data, 1, bytes, file) == bytes);
  fclose(file);
}

bool check_preloaded(void) { return getenv("TESSERA_TEST_PRELOADED") != NULL; }

bool check_library_is_right(void) {
  Dl_info found = {0};
  void* symbol = dlsym(RTLD_DEFAULT, "MPI_File_open");
  bool ours = dladdr(symbol, &found) != 0 && strstr(found.dli_fname, "libtessera-mpiio") != NULL;
  return ours == check_preloaded();
}

void check_make_file(const char* path, const void* data, size_t bytes) {
  if (check_rank == 0) (is_object(path) ? make_object : make_plain)(path, data, bytes);
  check_barrier();
}

void check_remove(const char* path) {
  if (check_rank == 0) unlink(name_on_disk(path));
  check_barrier();
}

long long check_file_size(const char* path) {
  struct stat found;
  if (is_object(path)) return object_size(path);
  return stat(path, &found) == 0 ? (long long)found.st_size : -1;
}

void check_file_is(const char* file, int line, const char* path, const void* data, size_t bytes) {
  check_barrier();
  if (check_rank == 0) {
    if (check_file_size(path) != (long long)bytes) {
      check_failed(file, line, "the file has %lld bytes, expected %zu", check_file_size(path),
                   bytes);
    } else {
      unsigned char* found = calloc(bytes + 1, 1);
      CHECK((is_object(path) ? read_object : read_plain)(path, found, bytes));
      check_bytes(file, line, found, data, bytes);
      free(found);
    }
  }
  check_barrier();
}

MPI_File check_open(MPI_Comm comm, const char* path, int amode) {
  MPI_File file = MPI_FILE_NULL;
  int code = MPI_File_open(comm, path, amode, MPI_INFO_NULL, &file);
  CHECK_OK(code);
  if (code != MPI_SUCCESS) file = MPI_FILE_NULL;
  return file;
}
