/* Mesh plans for programs in C: who writes which nodes of a mesh.
 *
 * Mesh codes keep the nodes between two parts on both sides; every replica is valid, so it is free
 * who writes it. A plan chooses one writer for each node such that the nodes a part writes lie
 * together in the file. It depends on the mesh and its partition alone, not on what lies on the
 * nodes: it is made once, saved, and serves every variable and every checkpoint.
 *
 * Nodes have the numbers 0 to nodes - 1, in the order in which their values lie in files; parts are
 * numbered from 0, as ranks are. Intervals are half-open. tessera_mesh_mpi.h turns plans into MPI
 * datatypes.
 *
 * Functions answer TESSERA_MESH_OK or why not; tessera_mesh_error() tells it in words. Those that
 * fill an array set `*count` to how many entries there are, and fill the first `capacity` of them:
 * with a capacity of 0 they tell the size that is needed, and the array may be NULL. Thread safety:
 * all functions from any thread, but for the end of a plan, which ends all use of it.
 */
#ifndef TESSERA_MESH_H
#define TESSERA_MESH_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum tessera_mesh_status {
  TESSERA_MESH_OK = 0,
  TESSERA_MESH_INVALID = 1,   /* arguments, a mesh or a partition that make no sense */
  TESSERA_MESH_NOT_FOUND = 2, /* there is no such file, or no plan of such a balance */
  TESSERA_MESH_STALE = 3,     /* the plan is damaged, or for another partition */
  TESSERA_MESH_FAILED = 4     /* anything else */
};

/* Element i has the corners corners[begins[i]] to corners[begins[i + 1]], which are nodes. */
typedef struct tessera_mesh_elements {
  int64_t nodes; /* of the mesh, also those of no element; less than 2^31 */
  int64_t elements;
  const int64_t* begins; /* elements + 1 of them, the first 0 */
  const int32_t* corners;
} tessera_mesh_elements;

/* Which part has which node. Parts may have none: a process without nodes writes nothing. */
typedef struct tessera_mesh_partition {
  int64_t nodes;
  int parts;
  const int32_t* part_of; /* by node */
} tessera_mesh_partition;

/* How writers are chosen. */
typedef struct tessera_mesh_options {
  const char* policy;   /* NULL is "optimal"; others: metis, random, first, idg, balanced */
  double max_imbalance; /* of "balanced": (most - fewest) / average of the nodes that parts write */
  uint64_t seed;        /* of "random", and of METIS where it divides the mesh */
} tessera_mesh_options;

/* The nodes [begin, end). */
typedef struct tessera_mesh_interval {
  int64_t begin;
  int64_t end;
} tessera_mesh_interval;

/* Nodes, ascending and without doubles: what an array has values of, in its order. */
typedef struct tessera_mesh_node_list {
  const int64_t* nodes;
  size_t count;
} tessera_mesh_node_list;

/* `load` elements of `element_bytes` bytes on each of some nodes. */
typedef struct tessera_mesh_record {
  int64_t nodes;
  int load;
  int64_t element_bytes;
} tessera_mesh_record;

/* What a plan comes to. */
typedef struct tessera_mesh_facts {
  int parts;
  int64_t nodes;
  int64_t intervals;     /* of all parts: neighbouring nodes with one writer */
  double average_length; /* of an interval, in nodes */
  double imbalance;      /* (most - fewest) / average of the nodes that parts write */
} tessera_mesh_facts;

typedef struct tessera_mesh_plan tessera_mesh_plan;

/* Makes a plan for a mesh and its partition. `options` may be NULL: "optimal". Fails with
 * TESSERA_MESH_INVALID if a corner is no node, a node has no such part, the two differ in their
 * nodes, or there is no such policy; "balanced" with TESSERA_MESH_NOT_FOUND if no choice was found
 * that keeps the bound. O(corners). */
int tessera_mesh_plan_make(const tessera_mesh_elements* mesh,
                           const tessera_mesh_partition* partition,
                           const tessera_mesh_options* options, tessera_mesh_plan** plan);

/* The same for a mesh that METIS divides into `parts` parts here; tessera_mesh_parts() tells them.
 * Fails with TESSERA_MESH_INVALID also where METIS refuses the mesh. */
int tessera_mesh_plan_divide(const tessera_mesh_elements* mesh, int parts,
                             const tessera_mesh_options* options, tessera_mesh_plan** plan);

/* The same for a mesh in a file: Gmsh's .msh (2.2 or 4.1), METIS's .mesh or .graph; with the
 * partition in a file as METIS writes it, or NULL: METIS divides it here. The text names the file
 * and the place in it. Fails with TESSERA_MESH_INVALID also if the file has another number of
 * parts. */
int tessera_mesh_plan_files(const char* mesh_path, const char* partition_path, int parts,
                            const tessera_mesh_options* options, tessera_mesh_plan** plan);

/* Saves a plan. The file is there whole, durable and under its name, or as it was before. */
int tessera_mesh_plan_save(const tessera_mesh_plan* plan, const char* path);

/* Loads a plan. With a partition, fails with TESSERA_MESH_STALE if the plan was made for another
 * one; NULL: any plan. What parts hold is not in the file, so tessera_mesh_held() and
 * tessera_mesh_parts() do not know it of a loaded plan. */
int tessera_mesh_plan_load(const char* path, const tessera_mesh_partition* partition,
                           tessera_mesh_plan** plan);

/* Ends a plan, and leaves tessera_mesh_error() as it is. NULL is allowed. Requires that no other
 * function is using it. */
void tessera_mesh_plan_free(tessera_mesh_plan* plan);

int tessera_mesh_plan_facts(const tessera_mesh_plan* plan, tessera_mesh_facts* facts);

/* Whether a plan is for so many parts, as many as there are processes that write: fails with
 * TESSERA_MESH_STALE if it is not. With fewer processes than parts, nodes would not be written. */
int tessera_mesh_plan_fits(const tessera_mesh_plan* plan, int parts);

/* What a part writes: its intervals, ascending and apart. */
int tessera_mesh_share(const tessera_mesh_plan* plan, int part, tessera_mesh_interval* intervals,
                       size_t capacity, size_t* count);

/* The same as nodes, ascending. */
int tessera_mesh_nodes(const tessera_mesh_plan* plan, int part, int64_t* nodes, size_t capacity,
                       size_t* count);

/* What a part holds, ascending: its own nodes, and the replicas of others that it needs. A superset
 * of what it writes. Fails with TESSERA_MESH_NOT_FOUND for a plan that was loaded. */
int tessera_mesh_held(const tessera_mesh_plan* plan, int part, int64_t* nodes, size_t capacity,
                      size_t* count);

/* The partition that the plan was made for: the part of each node. Fails with
 * TESSERA_MESH_NOT_FOUND for a plan that was loaded. */
int tessera_mesh_parts(const tessera_mesh_plan* plan, int32_t* part_of, size_t capacity,
                       size_t* count);

/* The intervals of any nodes. Fails with TESSERA_MESH_INVALID if they do not ascend. */
int tessera_mesh_intervals(const tessera_mesh_node_list* list, tessera_mesh_interval* intervals,
                           size_t capacity, size_t* count);

/* Where what a part writes lies in memory: intervals of places in an array that has values of the
 * nodes `held`. Fails with TESSERA_MESH_INVALID if they do not ascend, or lack a node that the part
 * writes. */
int tessera_mesh_share_within(const tessera_mesh_plan* plan, int part,
                              const tessera_mesh_node_list* held, tessera_mesh_interval* intervals,
                              size_t capacity, size_t* count);

/* Intervals of a record as datatypes of blocks take them: `lengths` in nodes and `offsets` in
 * bytes, `count` of each. Fails with TESSERA_MESH_INVALID if the intervals do not ascend within the
 * record, or if a length, their count or the bytes of the record are too large a number. */
int tessera_mesh_blocks(const tessera_mesh_record* record, const tessera_mesh_interval* intervals,
                        size_t count, int* lengths, int64_t* offsets);

/* What was wrong with the last of these calls in this thread, in a sentence; "" if nothing was. The
 * text is there until the next call. */
const char* tessera_mesh_error(void);

#ifdef __cplusplus
}
#endif

#endif
