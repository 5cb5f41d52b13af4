/* The timed operations, and whether they moved the right bytes (mpiio_peer.h).
 *
 * Every byte of a file is a function of its offset and a salt. A file lies in the page cache with
 * salt 0 before anything is timed; a verified write uses another salt, so that bytes which were
 * never written are seen, and puts salt 0 back. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "bench/memory.h"
#include "bench/mpiio_peer.h"

/* Until then all processes know when to start, many of them on few cores. */
static const double kStartNs = 10e6;
static const double kStartRankNs = 1e6;

double now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

const char* mpi_error_text(int code) {
  static char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  if (code == MPI_SUCCESS) return NULL;
  MPI_Error_string(code, text, &length);
  text[strcspn(text, "\n")] = '\0';
  return text;
}

const char* agreed(const char* error) {
  static char text[256];
  int rank, ranks, first;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int mine = error != NULL ? rank : ranks;
  MPI_Allreduce(&mine, &first, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (first == ranks) return NULL;
  char sent[256] = "";
  if (rank == first) snprintf(sent, sizeof sent, "%s", error);
  MPI_Bcast(sent, sizeof sent, MPI_CHAR, first, MPI_COMM_WORLD);
  memcpy(text, sent, sizeof text);
  return text;
}

/* --- contents ----------------------------------------------------------------------------------
 */

static uint64_t word_at(int64_t offset, uint64_t salt) {
  uint64_t word = ((uint64_t)offset / 8 + salt * 0x632BE59BD9B4E019u) * 0x9E3779B97F4A7C15u;
  return word ^ (word >> 29);
}

static void fill(unsigned char* to, int64_t offset, int64_t size_bytes, uint64_t salt) {
  int64_t i = 0;
  for (; offset % 8 == 0 && i + 8 <= size_bytes; i += 8) {
    const uint64_t word = word_at(offset + i, salt);
    memcpy(to + i, &word, sizeof word);
  }
  while (i < size_bytes) {
    const uint64_t word = word_at(offset + i, salt);
    const int64_t from = (offset + i) % 8;
    const int64_t part = 8 - from < size_bytes - i ? 8 - from : size_bytes - i;
    memcpy(to + i, (const unsigned char*)&word + from, (size_t)part);
    i += part;
  }
}

int content_holds(const unsigned char* bytes, int64_t offset, int64_t size_bytes, uint64_t salt) {
  unsigned char expected[4096];
  for (int64_t i = 0; i < size_bytes; i += (int64_t)sizeof expected) {
    const int64_t part =
        size_bytes - i < (int64_t)sizeof expected ? size_bytes - i : (int64_t)sizeof expected;
    fill(expected, offset + i, part, salt);
    if (memcmp(bytes + i, expected, (size_t)part) != 0) return 0;
  }
  return 1;
}

struct Walk {
  const struct Layout* layout;
  unsigned char* memory; /* the buffer, or the mapped file */
  int64_t position;      /* in the data */
  uint64_t salt;
  int64_t wrong_bytes; /* of runs that are not what they should be */
};

static void fill_run(void* context, int64_t offset, int64_t size_bytes) {
  struct Walk* walk = context;
  const int64_t step = walk->layout->memory_at == NULL ? size_bytes : 8;
  for (int64_t i = 0; i < size_bytes; i += step, walk->position += step) {
    const int64_t at = walk->layout->memory_at == NULL
                           ? walk->position
                           : walk->layout->memory_at(walk->layout, walk->position);
    fill(walk->memory + at, offset + i, step, walk->salt);
  }
}

static void check_run_in_buffer(void* context, int64_t offset, int64_t size_bytes) {
  struct Walk* walk = context;
  const int64_t step = walk->layout->memory_at == NULL ? size_bytes : 8;
  for (int64_t i = 0; i < size_bytes; i += step, walk->position += step) {
    const int64_t at = walk->layout->memory_at == NULL
                           ? walk->position
                           : walk->layout->memory_at(walk->layout, walk->position);
    if (!content_holds(walk->memory + at, offset + i, step, walk->salt)) walk->wrong_bytes += step;
  }
}

static void check_run_in_file(void* context, int64_t offset, int64_t size_bytes) {
  struct Walk* walk = context;
  if (!content_holds(walk->memory + offset, offset, size_bytes, walk->salt))
    walk->wrong_bytes += size_bytes;
}

static void walk_runs(struct Session* session, int rank, RunVisitor* visit, struct Walk* walk) {
  walk->layout = &session->layout;
  session->layout.visit(&session->layout, rank, visit, walk);
}

void fill_buffer(struct Session* session, uint64_t salt) {
  struct Walk walk = {.memory = session->buffer, .salt = salt};
  walk_runs(session, session->rank, fill_run, &walk);
}

static const char* wrong_bytes_text(const char* where, int64_t wrong_bytes) {
  static char text[128];
  if (wrong_bytes == 0) return NULL;
  snprintf(text, sizeof text, "wrong contents: runs of %lld bytes %s", (long long)wrong_bytes,
           where);
  return text;
}

static const char* check_buffer(struct Session* session) {
  struct Walk walk = {.memory = session->buffer};
  walk_runs(session, session->rank, check_run_in_buffer, &walk);
  return wrong_bytes_text("were read wrong", walk.wrong_bytes);
}

/* The next rank's part of the file: what one rank wrote is seen by another. */
static const char* check_file(struct Session* session, const char* path, uint64_t salt) {
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  struct stat status;
  if (fd < 0 || fstat(fd, &status) != 0) return "the file that was written cannot be opened";
  if (status.st_size != session->layout.file_bytes) {
    close(fd);
    return "the file that was written has another size";
  }
  void* mapped = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_SHARED, fd, 0);
  close(fd);
  if (mapped == MAP_FAILED) return "the file that was written cannot be mapped";
  struct Walk walk = {.memory = mapped, .salt = salt};
  walk_runs(session, (session->rank + 1) % session->ranks, check_run_in_file, &walk);
  munmap(mapped, (size_t)status.st_size);
  return wrong_bytes_text("were written wrong", walk.wrong_bytes);
}

/* --- files -------------------------------------------------------------------------------------
 */

static void path_of(const struct Session* session, enum Mode mode, char path[512]) {
  snprintf(path, 512, "%s/%s", session->folder, mode == kPosix ? "ceiling" : "data");
}

/* The file that an operation uses, as the file system knows it. */
static void path_on_disk(const struct Session* session, const struct Request* request,
                         char path[512]) {
  if (request->objects == kPlain) {
    path_of(session, request->mode, path);
    return;
  }
  char named[512];
  objects_path(session, request->objects, named);
  strcpy(path, strchr(named, ':') + 1);
}

static const char* write_fully(int fd, const unsigned char* from, int64_t size, int64_t offset) {
  while (size > 0) {
    const ssize_t written = pwrite(fd, from, (size_t)size, offset);
    if (written <= 0) return "cannot write to the scratch file (TESSERA_BENCH_DIR chooses where)";
    from += written;
    size -= written;
    offset += written;
  }
  return NULL;
}

static const char* read_fully(int fd, unsigned char* to, int64_t size, int64_t offset) {
  while (size > 0) {
    const ssize_t got = pread(fd, to, (size_t)size, offset);
    if (got <= 0) return "cannot read the scratch file";
    to += got;
    size -= got;
    offset += got;
  }
  return NULL;
}

/* This rank's share of a file of so many bytes, with salt 0. */
static const char* write_share(struct Session* session, const char* path, int64_t total) {
  const int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) return "cannot make the scratch file (TESSERA_BENCH_DIR chooses where)";
  const int64_t begin = total * session->rank / session->ranks;
  const int64_t end = total * (session->rank + 1) / session->ranks;
  const char* error = NULL;
  unsigned char* chunk = malloc(1 << 20);
  for (int64_t at = begin; at < end && error == NULL; at += 1 << 20) {
    const int64_t part = end - at < (1 << 20) ? end - at : (1 << 20);
    fill(chunk, at, part, 0);
    error = write_fully(fd, chunk, part, at);
  }
  free(chunk);
  close(fd);
  return error;
}

static const char* make_file(struct Session* session, enum Mode mode) {
  char path[512];
  path_of(session, mode, path);
  if (session->rank == 0) unlink(path);
  MPI_Barrier(MPI_COMM_WORLD);
  /* Of the ceiling each rank has bytes of its own, also where views share some. */
  const int64_t total =
      mode == kPosix ? session->layout.bytes * session->ranks : session->layout.file_bytes;
  return agreed(write_share(session, path, total));
}

static void release_views(struct Session* session) {
  layout_release(&session->layout);
  memset(session->objects_prepared, 0, sizeof session->objects_prepared);
}

static void release_buffer(struct Session* session) {
  free(session->buffer);
  session->buffer = NULL;
  session->buffer_bytes = 0;
}

/* The buffer that is there, if it is large enough. */
static const char* prepare_buffer(struct Session* session) {
  const int64_t needed = session->layout.memory_bytes;
  if (session->buffer == NULL || session->buffer_bytes < needed) {
    release_buffer(session);
    session->buffer = bench_allocate((size_t)needed);
    session->buffer_bytes = needed;
  }
  return agreed(session->buffer == NULL ? "no memory" : NULL);
}

const char* session_prepare(struct Session* session, const char* workload, const int64_t args[3]) {
  struct Layout layout;
  const char* mine = layout_make(&layout, session->folder, workload, args);
  const char* error = agreed(mine);
  const int same_file =
      error == NULL && session->prepared && session->layout.file_bytes == layout.file_bytes;
  if (same_file) {
    release_views(session);
  } else {
    session_release(session);
  }
  if (error != NULL) {
    if (mine == NULL) layout_release(&layout);
    return error;
  }
  session->layout = layout;
  session->prepared = 1;
  session->frame = 0;
  error = prepare_buffer(session);
  if (error == NULL) fill_buffer(session, 0);
  if (error == NULL && !same_file) error = make_file(session, kIndependent);
  if (error != NULL) session_release(session);
  return error;
}

void session_release(struct Session* session) {
  if (!session->prepared) return;
  release_views(session);
  release_buffer(session);
  session->prepared = 0;
  session->ceiling_prepared = 0;
  if (session->rank != 0) return;
  char path[512];
  path_of(session, kIndependent, path);
  unlink(path);
  path_of(session, kPosix, path);
  unlink(path);
  for (enum Objects which = kObjects; which <= kReplicated; ++which) {
    path_on_disk(session, &(struct Request){.objects = which}, path);
    unlink(path);
  }
}

/* --- operations --------------------------------------------------------------------------------
 */

int open_view(struct Session* session, const struct Request* request, MPI_File* file) {
  char path[512];
  if (request->objects != kPlain) {
    objects_path(session, request->objects, path);
  } else {
    path_of(session, request->mode, path);
  }
  const int amode = request->direction == kRead ? MPI_MODE_RDONLY
                    : request->fresh            ? MPI_MODE_RDWR | MPI_MODE_CREATE
                                                : MPI_MODE_RDWR;
  int code = MPI_File_open(MPI_COMM_WORLD, path, amode, request->hints, file);
  if (code == MPI_SUCCESS && request->atomic) code = MPI_File_set_atomicity(*file, 1);
  if (code != MPI_SUCCESS) return code;
  return MPI_File_set_view(*file, session->layout.displacement, session->layout.element,
                           session->layout.filetype, "native", request->hints);
}

static int count_is_whole(const struct Session* session, MPI_Status* status) {
  MPI_Count bytes = 0;
  MPI_Get_elements_x(status, MPI_BYTE, &bytes);
  return bytes == session->layout.bytes ? MPI_SUCCESS : MPI_ERR_IO;
}

int move_once(struct Session* session, const struct Request* request, MPI_File file) {
  const struct Layout* layout = &session->layout;
  unsigned char* memory = session->buffer + layout->memory_begin_bytes;
  MPI_Datatype type = layout->memory_type;
  int count = 1, size, code;
  MPI_Type_size(layout->element, &size);
  const MPI_Offset at = session->frame * (layout->bytes / size);
  session->frame = (session->frame + 1) % layout->frames;
  if (type == MPI_DATATYPE_NULL) {
    type = layout->element;
    count = (int)(layout->bytes / size);
  }
  MPI_Status status;
  if (request->direction == kRead) {
    code = request->mode == kCollective
               ? MPI_File_read_at_all(file, at, memory, count, type, &status)
               : MPI_File_read_at(file, at, memory, count, type, &status);
  } else {
    code = request->mode == kCollective
               ? MPI_File_write_at_all(file, at, memory, count, type, &status)
               : MPI_File_write_at(file, at, memory, count, type, &status);
  }
  return code == MPI_SUCCESS ? count_is_whole(session, &status) : code;
}

/* The ceiling: as many bytes in one piece, by the same ranks. */
static const char* posix_once(struct Session* session, const struct Request* request, int fd) {
  const int64_t size = session->layout.bytes;
  const int64_t offset = size * session->rank;
  return request->direction == kRead ? read_fully(fd, session->buffer, size, offset)
                                     : write_fully(fd, session->buffer, size, offset);
}

/* What stays open between repetitions. */
struct Open {
  MPI_File file;
  int fd;
};

static const char* open_for(struct Session* session, const struct Request* request,
                            struct Open* open_file) {
  if (request->mode != kPosix) return mpi_error_text(open_view(session, request, &open_file->file));
  char path[512];
  path_of(session, kPosix, path);
  open_file->fd = open(path, O_RDWR | (request->fresh ? O_CREAT : 0) | O_CLOEXEC, 0600);
  return open_file->fd < 0 ? "cannot open the scratch file" : NULL;
}

static const char* move(struct Session* session, const struct Request* request,
                        struct Open* open_file) {
  if (request->mode == kPosix) {
    const char* error = posix_once(session, request, open_file->fd);
    if (error != NULL || !request->synced) return error;
    return fdatasync(open_file->fd) != 0 ? "cannot sync the scratch file" : NULL;
  }
  int code = move_once(session, request, open_file->file);
  if (code == MPI_SUCCESS && request->synced) code = MPI_File_sync(open_file->file);
  return mpi_error_text(code);
}

/* What a program does for each field that keeps only its intervals. */
static const char* move_typed(struct Session* session, const struct Request* request,
                              struct Open* open_file) {
  const struct Layout* layout = &session->layout;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  if (request->mode == kPosix) return move(session, request, open_file);
  int code = layout->make_type(layout, &type);
  if (code == MPI_SUCCESS)
    code = MPI_File_set_view(open_file->file, layout->displacement, layout->element, type, "native",
                             request->hints);
  if (code != MPI_SUCCESS) return mpi_error_text(code);
  const char* error = move(session, request, open_file);
  code = MPI_Type_free(&type);
  return error != NULL ? error : mpi_error_text(code);
}

static const char* close_again(const struct Request* request, struct Open* open_file) {
  if (request->mode != kPosix) return mpi_error_text(MPI_File_close(&open_file->file));
  close(open_file->fd);
  return NULL;
}

static const char* open_move_close(struct Session* session, const struct Request* request,
                                   struct Open* open_file) {
  const char* error = open_for(session, request, open_file);
  if (error == NULL && request->timed == kTyped) {
    error = move_typed(session, request, open_file);
  } else if (error == NULL) {
    error = move(session, request, open_file);
  }
  if (error == NULL) error = close_again(request, open_file);
  return error;
}

static const char* (*const kTimed[])(struct Session*, const struct Request*, struct Open*) = {
    [kTransfer] = move, [kWhole] = open_move_close, [kTyped] = move_typed};

/* What was written is on its way first, since only clean pages can be dropped. */
static void drop_pages(const struct Session* session, const struct Request* request) {
  char path[512];
  path_on_disk(session, request, path);
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (session->rank == 0 && fd >= 0) (void)fdatasync(fd);
  MPI_Barrier(MPI_COMM_WORLD);
  if (fd >= 0) (void)posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
  if (fd >= 0) close(fd);
}

static void remove_file(const struct Session* session, const struct Request* request) {
  char path[512];
  path_on_disk(session, request, path);
  if (session->rank == 0) unlink(path);
  MPI_Barrier(MPI_COMM_WORLD);
}

/* Waits for all without a core: polling would take it from those that are not done. */
static void wait_asleep(void) {
  const struct timespec nap = {0, 1000000};
  MPI_Request all;
  int done = 0;
  MPI_Ibarrier(MPI_COMM_WORLD, &all);
  for (MPI_Test(&all, &done, MPI_STATUS_IGNORE); !done; MPI_Test(&all, &done, MPI_STATUS_IGNORE)) {
    nanosleep(&nap, NULL);
  }
}

/* A moment that all processes sleep until. One after the other they would leave a barrier, many of
 * them on few cores, over longer than some operations take. */
static double start_together(int ranks) {
  double mine = now_ns(), start;
  MPI_Allreduce(&mine, &start, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  start += kStartNs + kStartRankNs * ranks;
  struct timespec at = {(time_t)(start / 1e9), 0};
  at.tv_nsec = (long)(start - (double)at.tv_sec * 1e9);
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL) != 0) continue;
  return start;
}

static double leave_barrier(void) {
  MPI_Barrier(MPI_COMM_WORLD);
  return now_ns();
}

/* From the moment the first process leaves the barrier to the end of the last one; of a slow
 * operation, from the moment all agreed on. The processes share a clock; the longest of their own
 * times would miss that on few cores they run one after the other. */
static const char* timed_once(struct Session* session, const struct Request* request,
                              struct Open* open_file, double* ns) {
  double mine[2], all[2];
  if (request->cold) drop_pages(session, request);
  if (request->fresh) remove_file(session, request);
  mine[0] = -(request->slow ? start_together(session->ranks) : leave_barrier());
  const char* error = kTimed[request->timed](session, request, open_file);
  mine[1] = now_ns();
  if (request->slow) wait_asleep();
  MPI_Allreduce(mine, all, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  *ns += all[0] + all[1];
  return agreed(error);
}

static const char* verified_once(struct Session* session, const struct Request* request) {
  static uint64_t salt = 0;
  char path[512];
  path_of(session, request->mode, path);
  ++salt;
  if (request->direction == kRead) {
    memset(session->buffer, 0, (size_t)session->layout.memory_bytes);
  } else {
    fill_buffer(session, salt);
  }
  struct Open open_file = {MPI_FILE_NULL, -1};
  session->frame = 0; /* the one that is described */
  if (request->fresh) remove_file(session, request);
  const char* error = agreed(open_move_close(session, request, &open_file));
  if (error != NULL) return error;
  if (request->direction == kRead) {
    error = check_buffer(session);
  } else {
    error = request->objects != kPlain ? objects_check(session, request->objects, salt)
                                       : check_file(session, path, salt);
  }
  error = agreed(error);
  fill_buffer(session, 0);
  const char* restored = NULL;
  if (request->direction == kWrite) {
    restored = request->objects != kPlain ? objects_make(session, request->objects)
                                          : write_share(session, path, session->layout.file_bytes);
  }
  restored = agreed(restored);
  return error != NULL ? error : restored;
}

/* One element of this rank's own: what an open file does only once is not timed. */
static const char* touch_first(struct Session* session, const struct Request* request,
                               MPI_File file) {
  unsigned char* memory = session->buffer + session->layout.memory_begin_bytes;
  const MPI_Datatype element = session->layout.element;
  return mpi_error_text(request->direction == kRead
                            ? MPI_File_read_at(file, 0, memory, 1, element, MPI_STATUS_IGNORE)
                            : MPI_File_write_at(file, 0, memory, 1, element, MPI_STATUS_IGNORE));
}

const char* session_run(struct Session* session, const struct Request* request, double* ns) {
  struct Open open_file = {MPI_FILE_NULL, -1};
  const char* error = NULL;
  *ns = 0;
  if (request->timed == kTyped && session->layout.make_type == NULL)
    return "the type of this workload is not made anew";
  if (request->mode == kPosix && !session->ceiling_prepared) error = make_file(session, kPosix);
  if (error != NULL) return error;
  session->ceiling_prepared |= request->mode == kPosix;
  if (request->objects != kPlain && !session->objects_prepared[request->objects])
    error = objects_make(session, request->objects);
  if (error != NULL) return error;
  if (request->verify && request->mode != kPosix) error = verified_once(session, request);
  if (error != NULL) return error;
  const int stays_open = request->timed != kWhole;
  if (stays_open) error = agreed(open_for(session, request, &open_file));
  if (error == NULL && request->slow && stays_open && request->mode != kPosix)
    error = agreed(touch_first(session, request, open_file.file));
  /* The first one after another job's turn finds its caches gone, and is not counted. */
  for (long i = request->slow ? 1 : 0; i <= request->repetitions && error == NULL; ++i) {
    if (i == 1) *ns = 0;
    error = timed_once(session, request, &open_file, ns);
  }
  if (error == NULL && stays_open) error = agreed(close_again(request, &open_file));
  return error;
}
