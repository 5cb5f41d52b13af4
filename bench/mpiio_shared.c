/* Workloads whose bytes several ranks hold: a mesh of which each rank writes the share that was
 * chosen for it, and blocks with ghost layers that all ranks write whole (mpiio_peer.h). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/mpiio_peer.h"

/* --- mesh: args: number of the mesh, doubles of a node, number of the choice of writers ---------
 * * The shares are in a file beside the folder of the job (mesh_shares.hpp): 64-bit numbers of this
 * machine, first the ranks, the nodes and the intervals, then begin, end and writer of each. */

struct Interval {
  int64_t begin, end, writer; /* nodes */
};

struct Shares {
  int64_t ranks, nodes, count;
  struct Interval* intervals; /* of all ranks, in the order of the file */
  struct Interval* own;       /* of this rank: what a program keeps of a plan */
  int64_t own_count;
};

static void mesh_visit(const struct Layout* layout, int rank, RunVisitor* visit, void* context) {
  const struct Shares* shares = layout->shares;
  const int64_t node_bytes = layout->args[1] * 8;
  for (int64_t i = 0; i < shares->count; ++i) {
    const struct Interval* interval = &shares->intervals[i];
    if (interval->writer != rank) continue;
    visit(context, interval->begin * node_bytes, (interval->end - interval->begin) * node_bytes);
  }
}

/* As a program does before it writes a field: from its intervals to a committed type. */
static int mesh_make_type(const struct Layout* layout, MPI_Datatype* type) {
  const struct Shares* shares = layout->shares;
  const int64_t load = layout->args[1];
  int* lengths = malloc((size_t)shares->own_count * sizeof(int));
  MPI_Aint* offsets = malloc((size_t)shares->own_count * sizeof(MPI_Aint));
  int code = lengths != NULL && offsets != NULL ? MPI_SUCCESS : MPI_ERR_NO_MEM;
  for (int64_t i = 0; i < shares->own_count && code == MPI_SUCCESS; ++i) {
    lengths[i] = (int)((shares->own[i].end - shares->own[i].begin) * load);
    offsets[i] = (MPI_Aint)(shares->own[i].begin * load * 8);
  }
  if (code == MPI_SUCCESS)
    code = MPI_Type_create_hindexed((int)shares->own_count, lengths, offsets, MPI_DOUBLE, type);
  free(lengths);
  free(offsets);
  return code == MPI_SUCCESS ? MPI_Type_commit(type) : code;
}

/* That every node has one writer, which is a rank of this job. */
static const char* check_shares(const struct Shares* shares, int ranks) {
  int64_t end = 0;
  if (shares->ranks != ranks) return "the shares are of another number of ranks";
  for (int64_t i = 0; i < shares->count; ++i) {
    const struct Interval* interval = &shares->intervals[i];
    if (interval->begin != end || interval->end <= end) return "the shares leave nodes out";
    if (interval->writer < 0 || interval->writer >= ranks) return "a writer is no rank";
    end = interval->end;
  }
  return end == shares->nodes ? NULL : "the shares leave nodes out";
}

static const char* read_intervals(FILE* file, struct Shares* shares) {
  int64_t head[3];
  if (fread(head, sizeof head, 1, file) != 1) return "the file of shares is cut off";
  shares->ranks = head[0];
  shares->nodes = head[1];
  shares->count = head[2];
  if (shares->count < 1 || shares->count > INT32_MAX) return "intervals out of range";
  shares->intervals = malloc((size_t)shares->count * sizeof(struct Interval));
  shares->own = malloc((size_t)shares->count * sizeof(struct Interval));
  if (shares->intervals == NULL || shares->own == NULL) return "no memory";
  if (fread(shares->intervals, sizeof(struct Interval), (size_t)shares->count, file) !=
      (size_t)shares->count)
    return "the file of shares is cut off";
  return NULL;
}

static const char* read_shares(const struct Layout* layout, struct Shares* shares) {
  char path[512];
  snprintf(path, sizeof path, "%s/../shares.%d.%d", layout->folder, (int)layout->args[0],
           (int)layout->args[2]);
  FILE* file = fopen(path, "re");
  if (file == NULL) return "there are no shares of that number";
  const char* error = read_intervals(file, shares);
  fclose(file);
  if (error == NULL) error = check_shares(shares, layout->ranks);
  for (int64_t i = 0; i < shares->count && error == NULL; ++i) {
    if (shares->intervals[i].writer == layout->rank)
      shares->own[shares->own_count++] = shares->intervals[i];
  }
  return error == NULL && shares->own_count == 0 ? "a rank has nothing to write" : error;
}

void shares_release(struct Shares* shares) {
  if (shares == NULL) return;
  free(shares->intervals);
  free(shares->own);
  free(shares);
}

const char* mesh_make(struct Layout* layout) {
  const int64_t load = layout->args[1];
  if (load < 1 || load > 100000) return "doubles of a node out of range";
  struct Shares* shares = calloc(1, sizeof *shares);
  if (shares == NULL) return "no memory";
  const char* error = read_shares(layout, shares);
  if (error == NULL && shares->nodes > INT32_MAX / load) error = "the field is too large";
  if (error != NULL) {
    shares_release(shares);
    return error;
  }
  layout->shares = shares;
  layout->file_bytes = shares->nodes * load * 8;
  layout->element = MPI_DOUBLE;
  layout->visit = mesh_visit;
  layout->make_type = mesh_make_type;
  return mpi_error_text(mesh_make_type(layout, &layout->filetype));
}

/* --- halo: a block of doubles a rank, and layers of its neighbours around it; args: side of a
 * block, layers ---------------------------------------------------------------------------------
 */

struct Box {
  int64_t begin[3], end[3];
};

static struct Box halo_box(const struct Layout* layout, int rank) {
  const int64_t side = layout->args[0], layers = layout->args[1];
  struct Box box;
  int rest = rank;
  for (int d = 2; d >= 0; --d) {
    const int64_t begin = rest % layout->grid[d] * side;
    const int64_t whole = layout->grid[d] * side;
    box.begin[d] = begin < layers ? 0 : begin - layers;
    box.end[d] = begin + side + layers > whole ? whole : begin + side + layers;
    rest /= layout->grid[d];
  }
  return box;
}

static void halo_visit(const struct Layout* layout, int rank, RunVisitor* visit, void* context) {
  const struct Box box = halo_box(layout, rank);
  const int64_t height = layout->grid[1] * layout->args[0];
  const int64_t width = layout->grid[2] * layout->args[0];
  for (int64_t z = box.begin[0]; z < box.end[0]; ++z) {
    for (int64_t y = box.begin[1]; y < box.end[1]; ++y) {
      visit(context, ((z * height + y) * width + box.begin[2]) * 8,
            (box.end[2] - box.begin[2]) * 8);
    }
  }
}

const char* halo_make(struct Layout* layout) {
  const int64_t side = layout->args[0], layers = layout->args[1];
  if (side < 1 || side > 500 || layers < 0 || layers > side) return "blocks out of range";
  MPI_Dims_create(layout->ranks, 3, layout->grid);
  layout->file_bytes = side * side * side * layout->ranks * 8;
  layout->element = MPI_DOUBLE;
  layout->visit = halo_visit;
  const struct Box box = halo_box(layout, layout->rank);
  int sizes[3], parts[3], starts[3];
  for (int d = 0; d < 3; ++d) {
    sizes[d] = (int)(layout->grid[d] * side);
    parts[d] = (int)(box.end[d] - box.begin[d]);
    starts[d] = (int)box.begin[d];
  }
  MPI_Type_create_subarray(3, sizes, parts, starts, MPI_ORDER_C, MPI_DOUBLE, &layout->filetype);
  return NULL;
}
