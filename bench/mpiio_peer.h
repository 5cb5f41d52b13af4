/* A peer: one MPI's MPI-IO, as a job of ranks that measures on demand.
 *
 * Built once for each MPI and started by its mpiexec, plain for the stock libraries and with ours
 * preloaded for ours: the very same program. Between commands every rank blocks in read() on a FIFO
 * of its own, because waiting inside MPI would take a core from whoever is being measured. Rank 0
 * answers through another FIFO. mpiio_peer.c has the commands, mpiio_layout.c the workloads,
 * mpiio_shared.c those whose bytes several ranks hold, mpiio_transfer.c the timed operations,
 * mpiio_resources.c memory and overlap, mpiio_atomicity.c what atomic mode leaves, mpiio_objects.c
 * object files, mpiio_produce.c a producer.
 * Thread safety: one thread. */
#ifndef TESSERA_BENCH_MPIIO_PEER_H
#define TESSERA_BENCH_MPIIO_PEER_H

#include <mpi.h>
#include <stdint.h>

typedef void RunVisitor(void* context, int64_t offset, int64_t size_bytes);

/* Who accesses which bytes of the file, told twice: as the MPI datatypes that are measured, and as
 * plain runs that do not come from MPI and against which the moved bytes are checked. */
struct Layout {
  const char* folder; /* of the job; files of workloads lie beside it */
  int ranks, rank;
  int64_t args[3];
  int grid[3];        /* processes in each dimension, where the workload has a grid */
  int64_t bytes;      /* of this rank's access */
  int64_t file_bytes; /* of the file */
  MPI_Offset displacement;
  MPI_Datatype element, filetype;
  /* Makes and commits the filetype anew, as a program does that keeps none; NULL: not offered. */
  int (*make_type)(const struct Layout*, MPI_Datatype* type);
  struct Shares* shares;      /* of a mesh (mpiio_shared.c), else NULL */
  int64_t frames;             /* whole accesses that follow each other in the file */
  MPI_Datatype memory_type;   /* MPI_DATATYPE_NULL: memory is contiguous elements */
  int64_t memory_bytes;       /* of the buffer */
  int64_t memory_begin_bytes; /* where in the buffer the access begins */
  int64_t memory_run;         /* of strided memory: bytes of a run, and between two */
  /* Visits the runs of one rank's access to the first frame, in the order of its data. */
  void (*visit)(const struct Layout*, int rank, RunVisitor*, void* context);
  /* Where byte `position` of the data lies in the buffer; NULL: at `position`. */
  int64_t (*memory_at)(const struct Layout*, int64_t position);
};

/* NULL, or why there is no such layout; then nothing is to be released. */
const char* layout_make(struct Layout* layout, const char* folder, const char* workload,
                        const int64_t args[3]);
void layout_release(struct Layout* layout);
const char* mesh_make(struct Layout* layout);
const char* halo_make(struct Layout* layout);
void shares_release(struct Shares* shares);

enum Mode { kIndependent, kCollective, kPosix };
enum Direction { kRead, kWrite };
/* kTransfer: the read or write alone. kWhole: also open, set_view and close. kTyped: also making
 * and freeing the filetype, and set_view, of an open file. */
enum Timed { kTransfer, kWhole, kTyped };

/* Object files: as the ranks wrote it, and another to which replicas may be added. */
enum Objects { kPlain, kObjects, kReplicated };

struct Request {
  enum Mode mode;
  enum Direction direction;
  enum Timed timed;
  long repetitions;
  int verify;           /* of the first repetition */
  int atomic;           /* in atomic mode */
  enum Objects objects; /* which object file, if not the plain one */
  int synced;           /* a write is followed by MPI_File_sync */
  int cold;             /* the file's pages are dropped before each repetition, uncounted */
  int fresh;            /* the file is removed before each repetition, uncounted, and made anew */
  int slow; /* only an element is moved uncounted; all sleep until they start and when they are done
             */
  MPI_Info hints;
};

struct Session {
  char folder[400];
  int rank, ranks;
  int prepared;
  int ceiling_prepared;    /* its file is made when first needed */
  int objects_prepared[3]; /* likewise, by enum Objects */
  struct Layout layout;
  int64_t frame; /* the next one; each repetition moves another */
  unsigned char* buffer;
  int64_t buffer_bytes;
};

/* Both are collective and return the same on every rank: NULL or what went wrong. Preparing keeps
 * a file of the same size, since that has the same contents, and then also the buffer. */
const char* session_prepare(struct Session* session, const char* workload, const int64_t args[3]);
const char* session_run(struct Session* session, const struct Request* request, double* ns);
void session_release(struct Session* session);

/* The error of the first rank that has one, on every rank. Collective. */
const char* agreed(const char* error);
const char* mpi_error_text(int code);
double now_ns(void);

/* The contents of a file: every byte is a function of its offset and a salt. */
int content_holds(const unsigned char* bytes, int64_t offset, int64_t size_bytes, uint64_t salt);
void fill_buffer(struct Session* session, uint64_t salt);

/* The object file of a workload, in a path of 512 bytes; made by the ranks' own writes, with salt
 * 0, so that it is laid out for them. Collective but for the path. */
void objects_path(const struct Session* session, enum Objects which, char path[512]);
const char* objects_make(struct Session* session, enum Objects which);
/* Reads an equal share of the file, whatever the views were. */
const char* objects_check(const struct Session* session, enum Objects which, uint64_t salt);
/* Rounds of accesses to one object file, by the way that ranks share its bytes (mpiio_objects.c);
 * needs no workload. */
const char* measure_sharing(struct Session* session, const char* way, int64_t rounds,
                            MPI_Info hints, double* ns);

/* Creates and closes so many files, one after the other, with a prefix before their paths; needs no
 * workload. */
const char* measure_files(struct Session* session, int64_t count, const char* prefix, double* ns);

/* Opens the data file, sets the view, and moves the whole buffer once. */
int open_view(struct Session* session, const struct Request* request, MPI_File* file);
int move_once(struct Session* session, const struct Request* request, MPI_File file);

struct MemoryUse {
  int64_t growth_bytes; /* the largest of any rank */
  int64_t buffer_bytes; /* cb_buffer_size as the library reports it, 0 where it does not */
  int64_t aggregators;  /* cb_nodes, likewise */
};
const char* measure_memory(struct Session* session, const struct Request* request,
                           struct MemoryUse* use);

struct OverlapTimes {
  double io_ns, compute_ns, both_ns;
};
/* A nonblocking write of size_bytes and a computation of about its length, each alone and both
 * together, on the first `cores` processors this process may use. */
const char* measure_overlap(struct Session* session, int64_t size_bytes, int cores,
                            struct OverlapTimes* times);

/* Computes in registers only, so many steps, and answers how long that took: it competes for the
 * processor, not for memory. */
double compute(int64_t steps);

/* A file of so many square frames of bytes; before each, every rank computes so many steps. */
struct Production {
  int64_t frames, side, steps;
};
/* Makes the object file "produced" anew, ranks in blocks of rows, with a sync after each frame. The
 * times are that of all ranks from open to close, and how long of it the longest computed. Needs no
 * workload. */
const char* produce(struct Session* session, const struct Production* wanted, double times[2]);

struct AtomicityFound {
  int64_t overlaps;   /* pairs of writers that had bytes in common, over all rounds */
  int64_t violations; /* those with bytes of both, and rounds that fit no order of their writers */
};
/* Overlapping strided writes of all ranks at once, `operations` in all; needs no workload. */
const char* check_atomicity(struct Session* session, const struct Request* request,
                            int64_t operations, struct AtomicityFound* found);

/* Rounds in which all ranks write interleaved runs and rank 0 then reads all of them through a
 * contiguous view of the same open file; fails if what it reads is not of this round. Needs no
 * workload. */
const char* measure_alternating(struct Session* session, const struct Request* request,
                                int64_t rounds, double* ns);

#endif
