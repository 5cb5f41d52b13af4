/* List locks for programs in C: who may touch which bytes of a file now.
 *
 * A lock covers a list of byte ranges and is granted whole or not at all, shared or exclusive, by a
 * lock server (`tesserad --lock`). Two locks exclude each other only if they have a byte in common
 * and are not both shared, so processes whose bytes interleave do not wait for each other. The
 * server knows files by names; their users agree on them, and it opens nothing. Locks are a matter
 * of agreement: nobody is kept from writing without one.
 *
 * A lock is held until it is released, unless it is taken away: the server has not heard of this
 * process for its lease (the machine or the process was frozen or cut off; a thread of the library
 * says that it is alive), the lock had a time to live, or an administrator broke it. Whoever writes
 * under a lock asks tessera_lock_confirm() or looks at what tessera_lock_release() answers.
 *
 * Functions answer TESSERA_LOCK_OK or why not; tessera_lock_error() tells it in words. Thread
 * safety: all functions from any thread, but for the disconnection, which ends all use. A process
 * made by fork() has to connect by itself.
 */
#ifndef TESSERA_LOCK_H
#define TESSERA_LOCK_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum tessera_lock_status {
  TESSERA_LOCK_OK = 0,
  TESSERA_LOCK_INVALID = 1, /* the arguments make no sense, and will make none later */
  TESSERA_LOCK_AGAIN = 2, /* others have bytes of it, or no server answers; later it may succeed */
  TESSERA_LOCK_LOST = 3,  /* the lock was taken away; others may have had its bytes since */
  TESSERA_LOCK_FAILED = 4 /* anything else */
};

enum tessera_lock_mode { TESSERA_LOCK_EXCLUSIVE = 0, TESSERA_LOCK_SHARED = 1 };

/* The bytes [offset, offset + length). */
typedef struct tessera_lock_range {
  int64_t offset;
  int64_t length;
} tessera_lock_range;

/* `count` ranges of `length` bytes, the first at `offset`, each `stride` after the one before. */
typedef struct tessera_lock_strided {
  int64_t offset;
  int64_t length;
  int64_t stride;
  int64_t count;
} tessera_lock_strided;

#define TESSERA_LOCK_FOREVER (-1.0)

/* How a lock is wanted. */
typedef struct tessera_lock_terms {
  enum tessera_lock_mode mode;
  double wait_s; /* how long to wait for others; 0: not at all; negative: as long as it takes */
  double hold_s; /* time to live: it is taken away so long after it was granted; 0: never */
} tessera_lock_terms;

typedef struct tessera_lock_connection tessera_lock_connection;
/* A lock of a connection; never 0, never used again. */
typedef uint64_t tessera_lock_id;

/* Makes a connection to the servers at `address`: "unix:PATH" or "HOST:PORT", or several with
 * commas between them, over which files are spread; NULL: the value of TESSERA_LOCKS. TCP needs the
 * file with the servers' key; NULL: the one that TESSERA_KEY_FILE names. A server is reached when
 * the first lock is asked of it. Fails with TESSERA_LOCK_INVALID on an address that is none, with
 * TESSERA_LOCK_FAILED on a key file that is missing or cannot be used. */
int tessera_lock_connect(const char* address, const char* key_file,
                         tessera_lock_connection** connection);

/* Gives back all locks of the connection and ends it. NULL is allowed. Requires that no other
 * function is using it. */
void tessera_lock_disconnect(tessera_lock_connection* connection);

/* Waits for a lock on `count` ranges of a file, in any order; those that overlap or touch are
 * merged, empty ones do not matter. `terms` may be NULL: exclusive, as long as it takes, no time to
 * live. Fails with TESSERA_LOCK_INVALID if no byte is left, if an offset or a length is negative,
 * or beyond 2^62; with TESSERA_LOCK_AGAIN if it is not granted in time, or if no server answers
 * within 5 s beyond that time, or within 30 s where it may wait for ever. */
int tessera_lock_acquire_list(tessera_lock_connection* connection, const char* file,
                              const tessera_lock_range* ranges, size_t count,
                              const tessera_lock_terms* terms, tessera_lock_id* lock);

/* The same for a strided description, whose cost does not depend on its count. Its ranges may
 * touch; TESSERA_LOCK_INVALID if they overlap. */
int tessera_lock_acquire_strided(tessera_lock_connection* connection, const char* file,
                                 const tessera_lock_strided* ranges,
                                 const tessera_lock_terms* terms, tessera_lock_id* lock);

/* Whether the lock was held all the time until now, as far as this process can know. Fails with
 * TESSERA_LOCK_LOST if it was taken away, and the text says why; with TESSERA_LOCK_INVALID if the
 * connection has no such lock. */
int tessera_lock_confirm(tessera_lock_connection* connection, tessera_lock_id lock);

/* Gives a lock back, without waiting for the server to hear of it; it is over whatever this
 * answers. Fails as tessera_lock_confirm(). */
int tessera_lock_release(tessera_lock_connection* connection, tessera_lock_id lock);

/* What was wrong with the last of these calls in this thread, in a sentence; "" if nothing was. The
 * text is there until the next call. */
const char* tessera_lock_error(void);

#ifdef __cplusplus
}
#endif

#endif
