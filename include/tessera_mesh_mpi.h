/* Mesh plans as MPI datatypes, for `load` elements of a base type on each node.
 *
 *   tessera_mesh_plan_fits(plan, ranks);
 *   tessera_mesh_file_type(plan, rank, load, MPI_DOUBLE, &view);
 *   tessera_mesh_memory_type(plan, rank, &held, load, MPI_DOUBLE, &mine);
 *   MPI_File_set_view(file, 0, MPI_DOUBLE, view, "native", MPI_INFO_NULL);
 *   MPI_File_write_all(file, pressure, 1, mine, MPI_STATUS_IGNORE);
 *   MPI_File_write_all(file, density, 1, mine, MPI_STATUS_IGNORE);
 *
 * A plan is for one number of ranks: one for more of them has parts that no rank writes, and then
 * nodes are missing in the file. A communicator stands in no call here, so a program asks
 * tessera_mesh_plan_fits() with its size, once, behind making or loading a plan.
 *
 * A file type is as long as all nodes of the mesh, so a view tiles the file with one record after
 * the other, as above with two variables; a memory type is as long as the array. Types are
 * committed and outlive the plan; who made one frees it with MPI_Type_free(). The type of a part
 * that writes nothing has no bytes, and may be used as any other.
 *
 * These functions stand in the header so that libtessera-mesh.so needs no MPI, and serves all. They
 * answer as those of tessera_mesh.h; with TESSERA_MESH_FAILED and no sentence where no memory is
 * left, or where MPI refused in a program that asked not to be ended by that.
 */
#ifndef TESSERA_MESH_MPI_H
#define TESSERA_MESH_MPI_H

#include <mpi.h>
#include <stdlib.h>
#include <tessera_mesh.h>

/* For use below: a committed type of blocks of whole nodes. */
static inline int tessera_mesh_commit_blocks(const tessera_mesh_record* record, int count,
                                             const int* lengths, const MPI_Aint* offsets,
                                             MPI_Datatype base, MPI_Datatype* type) {
  const MPI_Aint extent = (MPI_Aint)(record->nodes * record->load * record->element_bytes);
  MPI_Datatype node = MPI_DATATYPE_NULL;
  MPI_Datatype blocks = MPI_DATATYPE_NULL;
  int code = MPI_Type_contiguous(record->load, base, &node);
  if (code == MPI_SUCCESS) code = MPI_Type_create_hindexed(count, lengths, offsets, node, &blocks);
  if (code == MPI_SUCCESS) code = MPI_Type_create_resized(blocks, 0, extent, type);
  if (code == MPI_SUCCESS) code = MPI_Type_commit(type);
  if (node != MPI_DATATYPE_NULL) MPI_Type_free(&node);
  if (blocks != MPI_DATATYPE_NULL) MPI_Type_free(&blocks);
  return code == MPI_SUCCESS ? TESSERA_MESH_OK : TESSERA_MESH_FAILED;
}

/* The places of intervals in a record of `nodes` nodes. Fails as tessera_mesh_blocks(). */
static inline int tessera_mesh_interval_type(const tessera_mesh_interval* intervals, size_t count,
                                             int64_t nodes, int load, MPI_Datatype base,
                                             MPI_Datatype* type) {
  MPI_Aint lower = 0;
  MPI_Aint extent = 0;
  if (MPI_Type_get_extent(base, &lower, &extent) != MPI_SUCCESS) return TESSERA_MESH_FAILED;
  const tessera_mesh_record record = {nodes, load, (int64_t)extent};
  int* const lengths = (int*)malloc((count + 1) * sizeof(int));
  int64_t* const offsets = (int64_t*)malloc((count + 1) * sizeof(int64_t));
  MPI_Aint* const places = (MPI_Aint*)malloc((count + 1) * sizeof(MPI_Aint));
  int status = TESSERA_MESH_FAILED;
  if (lengths && offsets && places)
    status = tessera_mesh_blocks(&record, intervals, count, lengths, offsets);
  if (status == TESSERA_MESH_OK) {
    for (size_t i = 0; i < count; ++i) places[i] = (MPI_Aint)offsets[i];
    status = tessera_mesh_commit_blocks(&record, (int)count, lengths, places, base, type);
  }
  free(lengths);
  free(offsets);
  free(places);
  return status;
}

/* The places in a file of what a part writes: for views, of whole records. Requires that every part
 * of the plan is written by some rank (tessera_mesh_plan_fits()). */
static inline int tessera_mesh_file_type(const tessera_mesh_plan* plan, int part, int load,
                                         MPI_Datatype base, MPI_Datatype* type) {
  tessera_mesh_facts facts;
  size_t count = 0;
  int status = tessera_mesh_plan_facts(plan, &facts);
  if (status == TESSERA_MESH_OK) status = tessera_mesh_share(plan, part, NULL, 0, &count);
  if (status != TESSERA_MESH_OK) return status;
  tessera_mesh_interval* const share =
      (tessera_mesh_interval*)malloc((count + 1) * sizeof(tessera_mesh_interval));
  if (!share) return TESSERA_MESH_FAILED;
  status = tessera_mesh_share(plan, part, share, count, &count);
  if (status == TESSERA_MESH_OK)
    status = tessera_mesh_interval_type(share, count, facts.nodes, load, base, type);
  free(share);
  return status;
}

/* The places of what a part writes in an array that has values of the nodes `held`: for programs
 * that keep replicas beside their own nodes. Fails as tessera_mesh_share_within(). */
static inline int tessera_mesh_memory_type(const tessera_mesh_plan* plan, int part,
                                           const tessera_mesh_node_list* held, int load,
                                           MPI_Datatype base, MPI_Datatype* type) {
  size_t count = 0;
  int status = tessera_mesh_share_within(plan, part, held, NULL, 0, &count);
  if (status != TESSERA_MESH_OK) return status;
  tessera_mesh_interval* const share =
      (tessera_mesh_interval*)malloc((count + 1) * sizeof(tessera_mesh_interval));
  if (!share) return TESSERA_MESH_FAILED;
  status = tessera_mesh_share_within(plan, part, held, share, count, &count);
  if (status == TESSERA_MESH_OK)
    status = tessera_mesh_interval_type(share, count, (int64_t)held->count, load, base, type);
  free(share);
  return status;
}

/* The places of any nodes in a file of records of `nodes` nodes: for reading all that a part holds,
 * replicas too. Fails as tessera_mesh_intervals(). */
static inline int tessera_mesh_node_type(const tessera_mesh_node_list* list, int64_t nodes,
                                         int load, MPI_Datatype base, MPI_Datatype* type) {
  size_t count = 0;
  int status = tessera_mesh_intervals(list, NULL, 0, &count);
  if (status != TESSERA_MESH_OK) return status;
  tessera_mesh_interval* const intervals =
      (tessera_mesh_interval*)malloc((count + 1) * sizeof(tessera_mesh_interval));
  if (!intervals) return TESSERA_MESH_FAILED;
  status = tessera_mesh_intervals(list, intervals, count, &count);
  if (status == TESSERA_MESH_OK)
    status = tessera_mesh_interval_type(intervals, count, nodes, load, base, type);
  free(intervals);
  return status;
}

#endif
