/* A slow file system: a folder seen through a mount on which every read and write takes longer.
 *
 *   tessera-slow-fs FOLDER MOUNT-POINT MICROSECONDS
 *
 * Each request to read or to write waits so long before it is passed on, and requests of several
 * processes wait at once, as on a parallel file system. Files are opened for direct I/O: the kernel
 * caches nothing, so every access of a program arrives here, cut into requests of nearly 1 MiB,
 * about as large as the kernel and libfuse let. What only concerns names and attributes does not
 * wait. What is read goes from the folder's page cache to the program in one copy: the servers of a
 * parallel file system copy on cores of their own, so those of the program should do little of it.
 * The value of the extended attribute user.tessera.requests of the mount point is
 * "READS READ-BYTES LARGEST-READ", so that whoever measures knows what arrived.
 * Serves in the foreground until it is asked to end (SIGTERM, SIGINT, SIGHUP) or unmounted; then
 * nothing is mounted any more. Thread safety: requests run in many threads. */
#define _GNU_SOURCE
#define FUSE_USE_VERSION 312
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fuse3/fuse.h>
#include <inttypes.h>
#include <limits.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

enum {
  kThreadsMax = 256,
  kRequestsMax = 4096, /* under way, also of programs that do not wait for each */
};
/* With its header it fits into the longest pipe that any process may have: through one of those the
 * kernel takes pages without a copy. */
#define READ_BYTES_MAX 983040
#define TEXT_OF(number) #number
#define MOUNT_OPTIONS(bytes) "fsname=tessera-slow-fs,max_read=" TEXT_OF(bytes)

static int g_folder; /* the one that is shown */
static struct timespec g_delay;
static atomic_int_fast64_t g_reads, g_read_bytes, g_largest_read;

static void wait_first(void) {
  struct timespec rest = g_delay;
  while (nanosleep(&rest, &rest) != 0 && errno == EINTR) continue;
}

/* A path of the mount, which begins with a slash, as one below the folder. */
static const char* below(const char* path) { return path[1] == '\0' ? "." : path + 1; }

static int answer(int result) { return result < 0 ? -errno : result; }

static void count_read(int64_t bytes) {
  atomic_fetch_add(&g_reads, 1);
  atomic_fetch_add(&g_read_bytes, bytes);
  int_fast64_t largest = atomic_load(&g_largest_read);
  while (bytes > largest && !atomic_compare_exchange_weak(&g_largest_read, &largest, bytes))
    continue;
}

/* --- what waits --------------------------------------------------------------------------------
 */

/* Answers where the bytes are; libfuse has the kernel take them from there. */
static int slow_read_buf(const char* path, struct fuse_bufvec** answered, size_t size, off_t offset,
                         struct fuse_file_info* file) {
  (void)path;
  struct fuse_bufvec* const part = malloc(sizeof *part);
  if (part == NULL) return -ENOMEM;
  *part = FUSE_BUFVEC_INIT(size);
  part->buf[0].flags = FUSE_BUF_IS_FD | FUSE_BUF_FD_SEEK;
  part->buf[0].fd = (int)file->fh;
  part->buf[0].pos = offset;
  *answered = part;
  count_read((int64_t)size);
  wait_first();
  return 0;
}

static int slow_write(const char* path, const char* from, size_t size, off_t offset,
                      struct fuse_file_info* file) {
  (void)path;
  wait_first();
  return answer((int)pwrite((int)file->fh, from, size, offset));
}

/* --- what does not -----------------------------------------------------------------------------
 */

static int slow_getattr(const char* path, struct stat* found, struct fuse_file_info* file) {
  return answer(file != NULL ? fstat((int)file->fh, found)
                             : fstatat(g_folder, below(path), found, AT_SYMLINK_NOFOLLOW));
}

static int slow_open(const char* path, struct fuse_file_info* file) {
  /* The kernel passes O_APPEND on, and the offsets of writes too. */
  const int fd = openat(g_folder, below(path), (file->flags & ~O_APPEND) | O_CLOEXEC);
  if (fd < 0) return -errno;
  file->fh = (uint64_t)fd;
  file->direct_io = 1;
  return 0;
}

static int slow_create(const char* path, mode_t mode, struct fuse_file_info* file) {
  const int fd =
      openat(g_folder, below(path), (file->flags & ~O_APPEND) | O_CREAT | O_CLOEXEC, mode);
  if (fd < 0) return -errno;
  file->fh = (uint64_t)fd;
  file->direct_io = 1;
  return 0;
}

static int slow_release(const char* path, struct fuse_file_info* file) {
  (void)path;
  return answer(close((int)file->fh));
}

static int slow_fsync(const char* path, int only_data, struct fuse_file_info* file) {
  (void)path;
  return answer(only_data ? fdatasync((int)file->fh) : fsync((int)file->fh));
}

static int slow_truncate(const char* path, off_t size, struct fuse_file_info* file) {
  if (file != NULL) return answer(ftruncate((int)file->fh, size));
  const int fd = openat(g_folder, below(path), O_WRONLY | O_CLOEXEC);
  if (fd < 0) return -errno;
  const int result = answer(ftruncate(fd, size));
  close(fd);
  return result;
}

static int slow_fallocate(const char* path, int mode, off_t offset, off_t size,
                          struct fuse_file_info* file) {
  (void)path;
  return answer(fallocate((int)file->fh, mode, offset, size));
}

static int slow_mknod(const char* path, mode_t mode, dev_t device) {
  return answer(mknodat(g_folder, below(path), mode, device));
}

static int slow_mkdir(const char* path, mode_t mode) {
  return answer(mkdirat(g_folder, below(path), mode));
}

static int slow_unlink(const char* path) { return answer(unlinkat(g_folder, below(path), 0)); }

static int slow_rmdir(const char* path) {
  return answer(unlinkat(g_folder, below(path), AT_REMOVEDIR));
}

static int slow_rename(const char* from, const char* to, unsigned flags) {
  return answer(renameat2(g_folder, below(from), g_folder, below(to), flags));
}

static int slow_chmod(const char* path, mode_t mode, struct fuse_file_info* file) {
  return answer(file != NULL ? fchmod((int)file->fh, mode)
                             : fchmodat(g_folder, below(path), mode, 0));
}

static int slow_utimens(const char* path, const struct timespec times[2],
                        struct fuse_file_info* file) {
  return answer(file != NULL ? futimens((int)file->fh, times)
                             : utimensat(g_folder, below(path), times, AT_SYMLINK_NOFOLLOW));
}

static int slow_statfs(const char* path, struct statvfs* found) {
  (void)path;
  return answer(fstatvfs(g_folder, found));
}

static int slow_opendir(const char* path, struct fuse_file_info* file) {
  const int fd = openat(g_folder, below(path), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return -errno;
  file->fh = (uint64_t)fd;
  return 0;
}

/* Of the open folder, whose path is not told here. */
static int slow_readdir(const char* path, void* list, fuse_fill_dir_t add, off_t from,
                        struct fuse_file_info* file, enum fuse_readdir_flags flags) {
  (void)path;
  (void)from;
  (void)flags;
  const int fd = openat((int)file->fh, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* directory = fd < 0 ? NULL : fdopendir(fd);
  if (directory == NULL) return -errno;
  for (struct dirent* entry; (entry = readdir(directory)) != NULL;) {
    add(list, entry->d_name, NULL, 0, 0);
  }
  closedir(directory);
  return 0;
}

static int slow_getxattr(const char* path, const char* name, char* value, size_t size) {
  if (strcmp(path, "/") != 0 || strcmp(name, "user.tessera.requests") != 0) return -ENODATA;
  char text[96];
  const int length = snprintf(text, sizeof text, "%" PRId64 " %" PRId64 " %" PRId64,
                              (int64_t)atomic_load(&g_reads), (int64_t)atomic_load(&g_read_bytes),
                              (int64_t)atomic_load(&g_largest_read));
  if (size == 0) return length;
  if (size < (size_t)length) return -ERANGE;
  memcpy(value, text, (size_t)length);
  return length;
}

static void* slow_init(struct fuse_conn_info* connection, struct fuse_config* config) {
  connection->max_readahead = 0;
  connection->max_read = READ_BYTES_MAX;
  connection->max_background = kRequestsMax;
  connection->congestion_threshold = kRequestsMax;
  connection->want |= connection->capable & FUSE_CAP_SPLICE_WRITE;
  config->use_ino = 1;
  config->hard_remove = 1;
  config->nullpath_ok = 1;
  return NULL;
}

static const struct fuse_operations kOperations = {
    .init = slow_init,
    .getattr = slow_getattr,
    .open = slow_open,
    .create = slow_create,
    .release = slow_release,
    .read_buf = slow_read_buf,
    .write = slow_write,
    .fsync = slow_fsync,
    .truncate = slow_truncate,
    .fallocate = slow_fallocate,
    .mknod = slow_mknod,
    .mkdir = slow_mkdir,
    .unlink = slow_unlink,
    .rmdir = slow_rmdir,
    .rename = slow_rename,
    .chmod = slow_chmod,
    .utimens = slow_utimens,
    .statfs = slow_statfs,
    .opendir = slow_opendir,
    .readdir = slow_readdir,
    .releasedir = slow_release,
    .getxattr = slow_getxattr,
};

/* --- the mount ---------------------------------------------------------------------------------
 */

static int serve(struct fuse* fuse) {
  struct fuse_loop_config* config = fuse_loop_cfg_create();
  /* Threads stay, since starting one takes longer than passing a request on. */
  fuse_loop_cfg_set_max_threads(config, kThreadsMax);
  fuse_loop_cfg_set_idle_threads(config, kThreadsMax);
  const int result = fuse_loop_mt(fuse, config);
  fuse_loop_cfg_destroy(config);
  return result;
}

static int mount_and_serve(const char* mount_point) {
  char* words[] = {"tessera-slow-fs", "-o", MOUNT_OPTIONS(READ_BYTES_MAX)};
  struct fuse_args arguments = FUSE_ARGS_INIT(3, words);
  struct fuse* fuse = fuse_new(&arguments, &kOperations, sizeof kOperations, NULL);
  fuse_opt_free_args(&arguments);
  if (fuse == NULL) return 1;
  struct fuse_session* session = fuse_get_session(fuse);
  /* Before there is a mount, so that no signal comes between the two. */
  if (fuse_set_signal_handlers(session) != 0) return 1;
  int failed = fuse_mount(fuse, mount_point) != 0;
  if (!failed) {
    failed = serve(fuse) < 0;
    fuse_unmount(fuse);
  }
  fuse_remove_signal_handlers(session);
  fuse_destroy(fuse);
  return failed;
}

int main(int argc, char** argv) {
  const long microseconds = argc == 4 ? strtol(argv[3], NULL, 10) : -1;
  if (microseconds < 0) {
    fprintf(stderr, "usage: %s FOLDER MOUNT-POINT MICROSECONDS\n", argv[0]);
    return 2;
  }
  g_delay.tv_sec = microseconds / 1000000;
  g_delay.tv_nsec = microseconds % 1000000 * 1000;
  g_folder = open(argv[1], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (g_folder < 0) {
    fprintf(stderr, "cannot open %s: %s\n", argv[1], strerror(errno));
    return 1;
  }
  umask(0);
  /* Buffers of requests are used again instead of being mapped anew. */
  mallopt(M_MMAP_THRESHOLD, 64 << 20);
  mallopt(M_TRIM_THRESHOLD, INT_MAX);
  return mount_and_serve(argv[2]);
}
