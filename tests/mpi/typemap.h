/* Datatypes whose bytes are known without asking MPI: each is built together with the list of byte
 * runs that it covers, in the order of its type map. The tests compare what MPI-IO does with a
 * type with what the runs say. */
#ifndef TESTS_MPI_TYPEMAP_H
#define TESTS_MPI_TYPEMAP_H

#include <mpi.h>
#include <stddef.h>

struct Run {
  long long begin, end; /* bytes, relative to the origin of the type */
};

struct Map {
  MPI_Datatype type; /* committed */
  struct Run* runs;
  size_t run_count;
  long long lb, extent; /* as MPI says */
  long long bytes;      /* of data */
};

/* Each makes a new map, to be freed; those it is made of stay. */
struct Map map_named(MPI_Datatype type);
struct Map map_contiguous(int count, const struct Map* of);
struct Map map_vector(int count, int length, int stride, const struct Map* of);
struct Map map_hvector(int count, int length, MPI_Aint stride, const struct Map* of);
struct Map map_indexed(int count, const int* lengths, const int* at, const struct Map* of);
struct Map map_hindexed(int count, const int* lengths, const MPI_Aint* at, const struct Map* of);
struct Map map_indexed_block(int count, int length, const int* at, const struct Map* of);
struct Map map_hindexed_block(int count, int length, const MPI_Aint* at, const struct Map* of);
/* of has count entries. */
struct Map map_struct(int count, const int* lengths, const MPI_Aint* at, const struct Map* of);
struct Map map_resized(MPI_Aint lb, MPI_Aint extent, const struct Map* of);
struct Map map_dup(const struct Map* of);
/* Contiguous elements: of.extent == of.bytes. */
struct Map map_subarray(int dims, const int* sizes, const int* subsizes, const int* starts,
                        int order, const struct Map* of);
struct Map map_darray(int size, int rank, int dims, const int* sizes, const int* distributions,
                      const int* arguments, const int* processes, int order, const struct Map* of);
void map_free(struct Map* map);

/* Replaces *map by made, which was made of it. */
static inline void map_replace(struct Map* map, struct Map made) {
  map_free(map);
  *map = made;
}

/* Smallest and largest byte that count items cover; 0, 0 without bytes. */
struct Run map_span(const struct Map* map, long long count);

/* Between a stream of data bytes and memory, or a file held in memory: byte i of the stream is byte
 * from + i of the data of the map repeated from origin on. map_scatter returns the place after the
 * last byte it stored, 0 if there is none. */
long long map_scatter(const struct Map* map, long long from, const unsigned char* stream,
                      long long bytes, unsigned char* origin);
void map_gather(const struct Map* map, long long from, unsigned char* stream, long long bytes,
                const unsigned char* origin);
/* How many of the bytes from position `from` lie below limit before the first that does not. */
long long map_bytes_below(const struct Map* map, long long from, long long bytes, long long limit);

#endif
