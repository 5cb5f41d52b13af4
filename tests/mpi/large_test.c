/* Offsets, extents and counts beyond 2 GiB, in sparse files and barely touched memory. */
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "suite.h"

static const MPI_Offset kGiB = 1 << 30;

/* Address space that costs memory only where it is touched. */
static void* reserve(size_t bytes) {
  void* memory =
      mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  CHECK(memory != MAP_FAILED);
  return memory;
}

static void large_offsets(void) {
  MPI_File file = check_create(check_path("dat"));
  MPI_Offset at = 5 * kGiB + 4096 * check_rank + 3;
  int value = check_rank + 1, found = -1;
  MPI_Status status;
  CHECK_OK(MPI_File_set_size(file, 5 * kGiB + 4096LL * check_size));
  CHECK_OK(MPI_File_write_at_all(file, at, &value, 1, MPI_INT, &status));
  CHECK_COUNT(status, MPI_INT, 1);
  CHECK_OK(MPI_File_read_at_all(file, at, &found, 1, MPI_INT, &status));
  CHECK_EQ(found, value);
  MPI_Offset size = 0;
  check_barrier();
  CHECK_OK(MPI_File_get_size(file, &size));
  CHECK_EQ(size, 5 * kGiB + 4096LL * check_size);
  CHECK_OK(MPI_File_seek(file, 3 * kGiB, MPI_SEEK_SET));
  CHECK_OK(MPI_File_seek(file, 2 * kGiB, MPI_SEEK_CUR));
  MPI_Offset position = 0;
  CHECK_OK(MPI_File_get_position(file, &position));
  CHECK_EQ(position, 5 * kGiB);
  CHECK_OK(MPI_File_seek_shared(file, 5 * kGiB, MPI_SEEK_SET));
  CHECK_OK(MPI_File_get_position_shared(file, &position));
  CHECK_EQ(position, 5 * kGiB);
  CHECK_OK(MPI_File_close(&file));
}

/* One int a tile of 1 GiB: count times extent beyond 2 GiB. */
static void large_filetype(void) {
  MPI_File file = check_create(check_path("dat"));
  MPI_Datatype type;
  MPI_Type_create_resized(MPI_INT, 0, kGiB, &type);
  MPI_Type_commit(&type);
  CHECK_OK(MPI_File_set_view(file, 4096 * check_rank, MPI_INT, type, "native", MPI_INFO_NULL));
  int data[5], found[5];
  for (int i = 0; i < 5; ++i) data[i] = 10 * check_rank + i;
  MPI_Status status;
  CHECK_OK(MPI_File_set_size(file, 4 * kGiB + 4096LL * check_size));
  CHECK_OK(MPI_File_write_at(file, 0, data, 5, MPI_INT, &status));
  CHECK_COUNT(status, MPI_INT, 5);
  check_barrier();
  CHECK_OK(MPI_File_read_at(file, 0, found, 5, MPI_INT, &status));
  CHECK_COUNT(status, MPI_INT, 5);
  CHECK_BYTES(found, data, sizeof data);
  MPI_Offset offset = 0;
  CHECK_OK(MPI_File_get_byte_offset(file, 4, &offset));
  CHECK_EQ(offset, 4 * kGiB + 4096 * check_rank);
  MPI_Type_free(&type);
  CHECK_OK(MPI_File_close(&file));
}

static void large_filetype_collective(void) {
  MPI_File file = check_create(check_path("dat"));
  MPI_Datatype type;
  MPI_Type_create_resized(MPI_INT, 0, kGiB, &type);
  MPI_Type_commit(&type);
  CHECK_OK(MPI_File_set_view(file, 4 * check_rank, MPI_INT, type, "native", MPI_INFO_NULL));
  int data[3], found[3];
  for (int i = 0; i < 3; ++i) data[i] = 10 * check_rank + i;
  MPI_Status status;
  CHECK_OK(MPI_File_set_size(file, 2 * kGiB + 4096));
  CHECK_OK(MPI_File_write_at_all(file, 0, data, 3, MPI_INT, &status));
  CHECK_COUNT(status, MPI_INT, 3);
  CHECK_OK(MPI_File_read_at_all(file, 0, found, 3, MPI_INT, &status));
  CHECK_COUNT(status, MPI_INT, 3);
  CHECK_BYTES(found, data, sizeof data);
  MPI_Type_free(&type);
  CHECK_OK(MPI_File_close(&file));
}

/* A memory type of 5 items 700 MiB apart. */
static void large_memory_type(void) {
  MPI_File file = check_create(check_path("dat"));
  const MPI_Aint apart = 700 << 20;
  MPI_Datatype type;
  MPI_Type_create_resized(MPI_INT, 0, apart, &type);
  MPI_Type_commit(&type);
  char* memory = reserve(5 * (size_t)apart);
  for (int i = 0; i < 5; ++i) *(int*)(memory + i * apart) = 10 * check_rank + i;
  MPI_Status status;
  CHECK_OK(MPI_File_write_at_all(file, 20 * check_rank, memory, 5, type, &status));
  CHECK_COUNT(status, type, 5);
  for (int i = 0; i < 5; ++i) *(int*)(memory + i * apart) = -1;
  CHECK_OK(MPI_File_read_at(file, 20 * check_rank, memory, 5, type, &status));
  CHECK_COUNT(status, type, 5);
  for (int i = 0; i < 5; ++i) CHECK_EQ(*(int*)(memory + i * apart), 10 * check_rank + i);
  munmap(memory, 5 * (size_t)apart);
  MPI_Type_free(&type);
  CHECK_OK(MPI_File_close(&file));
}

/* Far more is asked for than there is: INT_MAX ints are 8 GiB. */
static void large_count_short_read(void) {
  const char* path = check_path("dat");
  int data[100];
  for (int i = 0; i < 100; ++i) data[i] = i;
  check_make_file(path, data, sizeof data);
  MPI_File file = check_open(MPI_COMM_WORLD, path, MPI_MODE_RDONLY);
  size_t bytes = 4 * (size_t)INT_MAX;
  int* memory = reserve(bytes);
  MPI_Status status;
  CHECK_OK(MPI_File_read_at(file, 40, memory, INT_MAX, MPI_INT, &status));
  CHECK_COUNT(status, MPI_INT, 90);
  CHECK_BYTES(memory, data + 10, 360);
  CHECK_OK(MPI_File_read_at(file, 0, memory, INT_MAX, MPI_BYTE, &status));
  CHECK_COUNT(status, MPI_INT, 100);
  CHECK_OK(MPI_File_read_at_all(file, 0, memory, 700 << 20, MPI_INT, &status));
  CHECK_COUNT(status, MPI_INT, 100);
  munmap(memory, bytes);
  CHECK_OK(MPI_File_close(&file));
}

#if MPI_VERSION >= 4
/* A count that no int holds. */
static void large_count_c(void) {
  const char* path = check_path("dat");
  int data[100];
  for (int i = 0; i < 100; ++i) data[i] = i;
  check_make_file(path, data, sizeof data);
  MPI_File file = check_open(MPI_COMM_WORLD, path, MPI_MODE_RDONLY);
  MPI_Count count = 3LL << 30;
  char* memory = reserve((size_t)count);
  MPI_Status status;
  MPI_Count found = -1;
  CHECK_OK(MPI_File_read_at_c(file, 40, memory, count, MPI_BYTE, &status));
  MPI_Get_count_c(&status, MPI_BYTE, &found);
  CHECK_EQ(found, 360);
  CHECK_BYTES(memory, data + 10, 360);
  CHECK_OK(MPI_File_read_at_all_c(file, 0, memory, count, MPI_BYTE, &status));
  MPI_Get_count_c(&status, MPI_BYTE, &found);
  CHECK_EQ(found, 400);
  munmap(memory, (size_t)count);
  CHECK_OK(MPI_File_close(&file));
}
#endif

/* The same MiB of memory again and again, so that much is written from little. */
static char* repeat_mib(const unsigned char* mib, size_t mibs) {
  const size_t kMiB = 1 << 20;
  int fd = memfd_create("mib", 0);
  CHECK(fd >= 0 && write(fd, mib, kMiB) == (ssize_t)kMiB);
  char* memory = reserve(mibs * kMiB);
  for (size_t i = 0; i < mibs; ++i) {
    void* at = mmap(memory + i * kMiB, kMiB, PROT_READ, MAP_SHARED | MAP_FIXED, fd, 0);
    CHECK(at != MAP_FAILED);
  }
  close(fd);
  return memory;
}

static void expect_sample(const char* path, long long at, const unsigned char* mib) {
  unsigned char found[64];
  int fd = open(path, O_RDONLY);
  CHECK_EQ(pread(fd, found, sizeof found, at), sizeof found);
  close(fd);
  for (size_t i = 0; i < sizeof found; ++i) {
    if (found[i] == mib[(size_t)(at + (long long)i) % (1 << 20)]) continue;
    check_failed(__FILE__, __LINE__, "byte %lld is wrong", at + (long long)i);
    return;
  }
}

/* More than 2 GiB really written by rank 0 in one call. */
static void large_write(void) {
  enum { kMiBs = 2100 };
  static unsigned char mib[1 << 20];
  const char* path = check_path("dat");
  MPI_File file = check_create(path);
  check_fill(mib, sizeof mib, 5);
  if (check_rank == 0) {
    char* memory = repeat_mib(mib, kMiBs);
    MPI_Status status;
    CHECK_OK(MPI_File_write_at(file, 0, memory, kMiBs << 18, MPI_INT, &status));
    CHECK_COUNT(status, MPI_INT, kMiBs << 18);
    munmap(memory, (size_t)kMiBs << 20);
    CHECK_EQ(check_file_size(path), (long long)kMiBs << 20);
    for (long long i = 0; i < kMiBs; i += 37) expect_sample(path, (i << 20) + 1000 * i, mib);
    expect_sample(path, 2147483648LL - 32, mib);
    expect_sample(path, ((long long)kMiBs << 20) - 64, mib);
  }
  check_barrier();
  CHECK_OK(MPI_File_close(&file));
  if (check_rank == 0) CHECK_OK(MPI_File_delete(path, MPI_INFO_NULL));
}

const struct Subtest large_subtests[] = {
    {"large_offsets", large_offsets, CHECK_ALWAYS},
    {"large_filetype", large_filetype, CHECK_ALWAYS},
    {"large_filetype_collective", large_filetype_collective, CHECK_ALWAYS},
    {"large_memory_type", large_memory_type, CHECK_ALWAYS},
    {"large_count_short_read", large_count_short_read, CHECK_ALWAYS},
#if MPI_VERSION >= 4
    {"large_count_c", large_count_c, CHECK_ALWAYS},
#endif
    {"large_write", large_write, CHECK_NAMED},
    {0},
};
