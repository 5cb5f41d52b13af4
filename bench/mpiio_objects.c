/* Object files, for the job that has our library: how they are made and checked, what sharing
 * costs, and what creating many costs, of any library (mpiio_peer.h). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/mpiio_peer.h"

void objects_path(const struct Session* session, enum Objects which, char path[512]) {
  snprintf(path, 512, "obj:%s/%s", session->folder,
           which == kReplicated ? "replicated" : "objects");
}

const char* objects_make(struct Session* session, enum Objects which) {
  char path[512];
  objects_path(session, which, path);
  if (session->rank == 0) unlink(strchr(path, ':') + 1);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_File file;
  int code =
      MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
  const char* error = agreed(mpi_error_text(code));
  if (error != NULL) return error;
  MPI_File_close(&file);
  const struct Request request = {
      .mode = kCollective, .direction = kWrite, .objects = which, .hints = MPI_INFO_NULL};
  fill_buffer(session, 0);
  session->frame = 0;
  code = open_view(session, &request, &file);
  if (code == MPI_SUCCESS) code = move_once(session, &request, file);
  if (code == MPI_SUCCESS) code = MPI_File_close(&file);
  error = agreed(mpi_error_text(code));
  session->objects_prepared[which] = error == NULL;
  return error;
}

const char* objects_check(const struct Session* session, enum Objects which, uint64_t salt) {
  char path[512];
  objects_path(session, which, path);
  const int64_t total = session->layout.file_bytes;
  const int64_t begin = total * session->rank / session->ranks;
  const int64_t size = total * (session->rank + 1) / session->ranks - begin;
  MPI_File file;
  MPI_Offset found = 0;
  int code = MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
  if (code != MPI_SUCCESS) return mpi_error_text(code);
  unsigned char* share = malloc((size_t)size);
  code = MPI_File_get_size(file, &found);
  if (code == MPI_SUCCESS)
    code = MPI_File_read_at(file, begin, share, (int)size, MPI_BYTE, MPI_STATUS_IGNORE);
  MPI_File_close(&file);
  const char* error = mpi_error_text(code);
  if (error == NULL && found != total) error = "the object file that was written has another size";
  if (error == NULL && !content_holds(share, begin, size, salt))
    error = "wrong contents: bytes of the object file were written wrong";
  free(share);
  return error;
}

/* --- sharing: who writes and who reads the same bytes, round after round ----------------------- *
 *   private            each rank its own bytes, both
 *   read-shared        written once, read by all
 *   ping-pong          written by one rank after the other, each after reading it
 *   producer-consumer  written by the first, read by the others
 *   scattered          all written by the first once, then every so many records by each rank */

enum { kSharedBytes = 1 << 20, kRecordBytes = 64 };

struct Sharing {
  MPI_File file;
  int rank, ranks;
  unsigned char* memory;
};

static int share_write(const struct Sharing* sharing, int64_t at) {
  return MPI_File_write_at(sharing->file, at, sharing->memory, kSharedBytes, MPI_BYTE,
                           MPI_STATUS_IGNORE);
}

static int share_read(const struct Sharing* sharing, int64_t at) {
  return MPI_File_read_at(sharing->file, at, sharing->memory, kSharedBytes, MPI_BYTE,
                          MPI_STATUS_IGNORE);
}

static int round_private(const struct Sharing* sharing, int64_t round) {
  const int64_t at = (int64_t)sharing->rank * kSharedBytes;
  (void)round;
  const int code = share_write(sharing, at);
  return code == MPI_SUCCESS ? share_read(sharing, at) : code;
}

static int round_read_shared(const struct Sharing* sharing, int64_t round) {
  int code = MPI_SUCCESS;
  if (round == 0 && sharing->rank == 0) code = share_write(sharing, 0);
  MPI_Barrier(MPI_COMM_WORLD);
  return code == MPI_SUCCESS ? share_read(sharing, 0) : code;
}

static int round_ping_pong(const struct Sharing* sharing, int64_t round) {
  int code = MPI_SUCCESS;
  if (round % sharing->ranks == sharing->rank) {
    if (round > 0) code = share_read(sharing, 0);
    if (code == MPI_SUCCESS) code = share_write(sharing, 0);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  return code;
}

static int round_producer_consumer(const struct Sharing* sharing, int64_t round) {
  (void)round;
  int code = MPI_SUCCESS;
  if (sharing->rank == 0) code = share_write(sharing, 0);
  MPI_Barrier(MPI_COMM_WORLD);
  if (sharing->rank != 0) code = share_read(sharing, 0);
  MPI_Barrier(MPI_COMM_WORLD);
  return code;
}

/* Every rank has records of its own among those of the others. */
static int round_scattered(const struct Sharing* sharing, int64_t round) {
  int code = MPI_SUCCESS;
  if (round == 0 && sharing->rank == 0) code = share_write(sharing, 0);
  MPI_Barrier(MPI_COMM_WORLD);
  if (round == 0 && code == MPI_SUCCESS) {
    MPI_Datatype records;
    MPI_Type_vector(kSharedBytes / kRecordBytes / sharing->ranks, kRecordBytes,
                    kRecordBytes * sharing->ranks, MPI_BYTE, &records);
    MPI_Type_commit(&records);
    code = MPI_File_set_view(sharing->file, (MPI_Offset)kRecordBytes * sharing->rank, MPI_BYTE,
                             records, "native", MPI_INFO_NULL);
    MPI_Type_free(&records);
  }
  if (code != MPI_SUCCESS) return code;
  return MPI_File_write_at(sharing->file, 0, sharing->memory, kSharedBytes / sharing->ranks,
                           MPI_BYTE, MPI_STATUS_IGNORE);
}

static const struct {
  const char* name;
  int (*round)(const struct Sharing*, int64_t round);
} kWays[] = {
    {"private", round_private},     {"read-shared", round_read_shared},
    {"ping-pong", round_ping_pong}, {"producer-consumer", round_producer_consumer},
    {"scattered", round_scattered},
};

/* All rounds, and the sync that makes the last one durable. */
static const char* run_rounds(const struct Sharing* sharing, size_t way, int64_t rounds,
                              double* ns) {
  double mine[2], all[2];
  int code = MPI_SUCCESS;
  MPI_Barrier(MPI_COMM_WORLD);
  mine[0] = -now_ns();
  for (int64_t i = 0; i < rounds; ++i) {
    const int mine_now = kWays[way].round(sharing, i);
    if (code == MPI_SUCCESS) code = mine_now;
  }
  const int synced = MPI_File_sync(sharing->file);
  mine[1] = now_ns();
  MPI_Allreduce(mine, all, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  *ns = all[0] + all[1];
  return mpi_error_text(code == MPI_SUCCESS ? synced : code);
}

const char* measure_sharing(struct Session* session, const char* way, int64_t rounds,
                            MPI_Info hints, double* ns) {
  size_t chosen = 0;
  const size_t ways = sizeof kWays / sizeof kWays[0];
  while (chosen < ways && strcmp(kWays[chosen].name, way) != 0) ++chosen;
  if (chosen == ways || rounds < 1) return "no such way of sharing";
  char path[512];
  snprintf(path, sizeof path, "obj:%s/shared", session->folder);
  struct Sharing sharing = {MPI_FILE_NULL, session->rank, session->ranks, NULL};
  int code =
      MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, hints, &sharing.file);
  const char* error = agreed(mpi_error_text(code));
  if (error != NULL) return error;
  sharing.memory = calloc(1, kSharedBytes);
  error = agreed(run_rounds(&sharing, chosen, rounds, ns));
  free(sharing.memory);
  code = MPI_File_close(&sharing.file);
  if (session->rank == 0) unlink(strchr(path, ':') + 1);
  MPI_Barrier(MPI_COMM_WORLD);
  return error != NULL ? error : agreed(mpi_error_text(code));
}

/* --- many files, untouched ---------------------------------------------------------------------
 */

static void file_path(const struct Session* session, int64_t number, const char* prefix,
                      char path[512]) {
  snprintf(path, 512, "%s%s/file.%lld", prefix, session->folder, (long long)number);
}

static int create_and_close(const struct Session* session, int64_t number, const char* prefix) {
  char path[512];
  MPI_File file;
  file_path(session, number, prefix, path);
  const int code =
      MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
  return code == MPI_SUCCESS ? MPI_File_close(&file) : code;
}

const char* measure_files(struct Session* session, int64_t count, const char* prefix, double* ns) {
  double mine[2], all[2];
  int code = MPI_SUCCESS;
  MPI_Barrier(MPI_COMM_WORLD);
  mine[0] = -now_ns();
  for (int64_t i = 0; i < count && code == MPI_SUCCESS; ++i) {
    code = create_and_close(session, i, prefix);
  }
  mine[1] = now_ns();
  MPI_Allreduce(mine, all, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  *ns = all[0] + all[1];
  for (int64_t i = 0; i < count && session->rank == 0; ++i) {
    char path[512];
    file_path(session, i, "", path);
    unlink(path);
  }
  return agreed(mpi_error_text(code));
}
