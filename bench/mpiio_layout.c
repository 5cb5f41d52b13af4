/* The workloads: who accesses which bytes (mpiio_peer.h). */
#include <stdlib.h>
#include <string.h>

#include "bench/mpiio_peer.h"

enum {
  kTileWidth = 1920,
  kTileHeight = 1650,
  kOverlapWidth = 280,
  kOverlapHeight = 150,
  kPixelBytes = 4,
  kFlashSide = 8,  /* cells of a block in one dimension */
  kFlashGuard = 4, /* guard cells around them, in memory only */
  kFlashVariables = 24,
};

static int64_t min64(int64_t a, int64_t b) { return a < b ? a : b; }

static void add_bytes(void* context, int64_t offset, int64_t size_bytes) {
  (void)offset;
  *(int64_t*)context += size_bytes;
}

/* --- tile: a wall of screens; args: whether neighbours overlap ---------------------------------
 */

struct Tile {
  int64_t columns, step_x, step_y, width, height; /* of the whole image, in pixels */
};

static struct Tile tile_wall(const struct Layout* layout) {
  const int64_t overlap = layout->args[0];
  struct Tile wall;
  wall.columns = layout->grid[0];
  wall.step_x = kTileWidth - overlap * kOverlapWidth;
  wall.step_y = kTileHeight - overlap * kOverlapHeight;
  wall.width = (wall.columns - 1) * wall.step_x + kTileWidth;
  wall.height = (wall.columns - 1) * wall.step_y + kTileHeight;
  return wall;
}

static void tile_visit(const struct Layout* layout, int rank, RunVisitor* visit, void* context) {
  const struct Tile wall = tile_wall(layout);
  const int64_t x = rank % wall.columns * wall.step_x;
  const int64_t y = rank / wall.columns * wall.step_y;
  for (int64_t row = y; row < y + kTileHeight; ++row) {
    visit(context, (row * wall.width + x) * kPixelBytes, (int64_t)kTileWidth * kPixelBytes);
  }
}

static const char* tile_make(struct Layout* layout) {
  int side = 1;
  while (side * side < layout->ranks) ++side;
  if (side * side != layout->ranks) return "a wall of tiles needs a square number of ranks";
  layout->grid[0] = side;
  const struct Tile wall = tile_wall(layout);
  layout->file_bytes = wall.width * wall.height * kPixelBytes;
  layout->element = MPI_INT;
  layout->visit = tile_visit;
  const int sizes[2] = {(int)wall.height, (int)wall.width};
  const int parts[2] = {kTileHeight, kTileWidth};
  const int starts[2] = {(int)(layout->rank / side * wall.step_y),
                         (int)(layout->rank % side * wall.step_x)};
  MPI_Type_create_subarray(2, sizes, parts, starts, MPI_ORDER_C, MPI_INT, &layout->filetype);
  return NULL;
}

/* --- reader: 3 x 2 screens of a display wall that share their edges; args: frames of the file ----
 */

enum {
  kScreenColumns = 3,
  kScreenRows = 2,
  kScreenWidth = 1024,
  kScreenHeight = 768,
  kScreenPixelBytes = 3,
  kScreenStepX = kScreenWidth - 270,
  kScreenStepY = kScreenHeight - 128,
  kFrameWidth = (kScreenColumns - 1) * kScreenStepX + kScreenWidth,
  kFrameHeight = (kScreenRows - 1) * kScreenStepY + kScreenHeight,
};

static void reader_visit(const struct Layout* layout, int rank, RunVisitor* visit, void* context) {
  (void)layout;
  const int64_t x = rank % kScreenColumns * kScreenStepX;
  const int64_t y = rank / kScreenColumns * kScreenStepY;
  for (int64_t row = y; row < y + kScreenHeight; ++row) {
    visit(context, (row * kFrameWidth + x) * kScreenPixelBytes,
          (int64_t)kScreenWidth * kScreenPixelBytes);
  }
}

static const char* reader_make(struct Layout* layout) {
  if (layout->ranks != kScreenColumns * kScreenRows) return "the wall has six screens";
  if (layout->args[0] < 1 || layout->args[0] > 1000) return "number of frames out of range";
  layout->frames = layout->args[0];
  layout->file_bytes = layout->frames * kFrameWidth * kFrameHeight * kScreenPixelBytes;
  layout->element = MPI_BYTE;
  layout->visit = reader_visit;
  const int sizes[2] = {kFrameHeight, kFrameWidth * kScreenPixelBytes};
  const int parts[2] = {kScreenHeight, kScreenWidth * kScreenPixelBytes};
  const int starts[2] = {layout->rank / kScreenColumns * kScreenStepY,
                         layout->rank % kScreenColumns * kScreenStepX * kScreenPixelBytes};
  MPI_Type_create_subarray(2, sizes, parts, starts, MPI_ORDER_C, MPI_BYTE, &layout->filetype);
  return NULL;
}

/* --- block3d: a cube of ints, one block a process (coll_perf); args: side ----------------------
 */

static void block3d_visit(const struct Layout* layout, int rank, RunVisitor* visit, void* context) {
  const int64_t side = layout->args[0];
  int64_t begin[3], end[3];
  int rest = rank;
  for (int d = 2; d >= 0; --d) {
    const int64_t block = (side + layout->grid[d] - 1) / layout->grid[d];
    begin[d] = rest % layout->grid[d] * block;
    end[d] = min64(begin[d] + block, side);
    rest /= layout->grid[d];
  }
  for (int64_t z = begin[0]; z < end[0]; ++z) {
    for (int64_t y = begin[1]; y < end[1]; ++y) {
      visit(context, ((z * side + y) * side + begin[2]) * 4, (end[2] - begin[2]) * 4);
    }
  }
}

static const char* block3d_make(struct Layout* layout) {
  const int side = (int)layout->args[0];
  if (side < layout->ranks || side > 1000) return "side out of range";
  MPI_Dims_create(layout->ranks, 3, layout->grid);
  layout->file_bytes = (int64_t)side * side * side * 4;
  layout->element = MPI_INT;
  layout->visit = block3d_visit;
  const int sizes[3] = {side, side, side};
  const int how[3] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_BLOCK};
  const int args[3] = {MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG,
                       MPI_DISTRIBUTE_DFLT_DARG};
  MPI_Type_create_darray(layout->ranks, layout->rank, 3, sizes, how, args, layout->grid,
                         MPI_ORDER_C, MPI_INT, &layout->filetype);
  return NULL;
}

/* --- strided memory: runs of so many bytes with as much between them -----------------------------
 */

static int64_t strided_memory_at(const struct Layout* layout, int64_t position) {
  return position / layout->memory_run * 2 * layout->memory_run + position % layout->memory_run;
}

static const char* stride_memory(struct Layout* layout, int64_t run, int64_t bytes) {
  if (run < 8 || run % 8 != 0 || bytes % run != 0) return "runs in memory out of range";
  layout->memory_run = run;
  layout->memory_bytes = 2 * bytes;
  layout->memory_at = strided_memory_at;
  MPI_Type_vector((int)(bytes / run), (int)run, (int)(2 * run), MPI_BYTE, &layout->memory_type);
  return NULL;
}

/* --- flash: a FLASH checkpoint; args: blocks a process, whether memory is packed --------------- *
 * In memory a block is 16^3 cells with the guard cells, and the 24 variables of a cell lie side by
 * side. In the file the variables follow each other, each as block after block, where block i of
 * all processes comes before block i + 1 of any. Packed memory has the order of the file. */

enum {
  kFlashWide = kFlashSide + 2 * kFlashGuard,
  kFlashCellBytes = kFlashVariables * 8,
  kFlashBlockCells = kFlashSide * kFlashSide * kFlashSide,
  kFlashWideCells = kFlashWide * kFlashWide * kFlashWide,
};

static void flash_visit(const struct Layout* layout, int rank, RunVisitor* visit, void* context) {
  const int64_t run = (int64_t)kFlashBlockCells * 8;
  for (int64_t i = 0; i < kFlashVariables * layout->args[0]; ++i) {
    visit(context, (i * layout->ranks + rank) * run, run);
  }
}

static int64_t flash_memory_at(const struct Layout* layout, int64_t position) {
  const int64_t cell = position / 8;
  const int64_t x = cell % kFlashSide + kFlashGuard;
  const int64_t y = cell / kFlashSide % kFlashSide + kFlashGuard;
  const int64_t z = cell / kFlashSide / kFlashSide % kFlashSide + kFlashGuard;
  const int64_t block = cell / kFlashBlockCells % layout->args[0];
  const int64_t variable = cell / kFlashBlockCells / layout->args[0];
  const int64_t wide = block * kFlashWideCells + (z * kFlashWide + y) * kFlashWide + x;
  return wide * kFlashCellBytes + variable * 8 + position % 8;
}

/* Replaces a type by `count` of it, `stride_bytes` apart. */
static void repeat_type(MPI_Datatype* type, int count, int64_t stride_bytes) {
  MPI_Datatype repeated;
  MPI_Type_create_hvector(count, 1, (MPI_Aint)stride_bytes, *type, &repeated);
  if (*type != MPI_DOUBLE) MPI_Type_free(type);
  *type = repeated;
}

static void flash_make_memory(struct Layout* layout, int blocks) {
  const int64_t line_bytes = (int64_t)kFlashWide * kFlashCellBytes;
  layout->memory_bytes = (int64_t)blocks * kFlashWideCells * kFlashCellBytes;
  layout->memory_at = flash_memory_at;
  layout->memory_begin_bytes = flash_memory_at(layout, 0);
  MPI_Datatype type = MPI_DOUBLE;
  repeat_type(&type, kFlashSide, kFlashCellBytes);
  repeat_type(&type, kFlashSide, line_bytes);
  repeat_type(&type, kFlashSide, line_bytes * kFlashWide);
  repeat_type(&type, blocks, (int64_t)kFlashWideCells * kFlashCellBytes);
  repeat_type(&type, kFlashVariables, 8);
  layout->memory_type = type;
}

static const char* flash_make(struct Layout* layout) {
  const int blocks = (int)layout->args[0];
  if (blocks < 1 || blocks > 1000) return "number of blocks out of range";
  layout->file_bytes = (int64_t)kFlashVariables * blocks * layout->ranks * kFlashBlockCells * 8;
  layout->element = MPI_DOUBLE;
  layout->visit = flash_visit;
  if (layout->args[1] == 0) flash_make_memory(layout, blocks);
  layout->displacement = (MPI_Offset)layout->rank * kFlashBlockCells * 8;
  MPI_Type_vector(kFlashVariables * blocks, kFlashBlockCells, kFlashBlockCells * layout->ranks,
                  MPI_DOUBLE, &layout->filetype);
  return NULL;
}

/* --- column: records dealt to the processes in turn; args: bytes of a record, records a process,
 * whether they are apart in memory */

static void column_visit(const struct Layout* layout, int rank, RunVisitor* visit, void* context) {
  const int64_t record = layout->args[0];
  for (int64_t i = 0; i < layout->args[1]; ++i) {
    visit(context, (i * layout->ranks + rank) * record, record);
  }
}

static const char* column_make(struct Layout* layout) {
  const int64_t record = layout->args[0], count = layout->args[1];
  if (record < 8 || record % 8 != 0 || count < 1 || count * record > INT32_MAX)
    return "records out of range";
  layout->file_bytes = record * count * layout->ranks;
  layout->element = MPI_DOUBLE;
  layout->visit = column_visit;
  layout->displacement = record * layout->rank;
  MPI_Type_vector((int)count, (int)(record / 8), (int)(record / 8 * layout->ranks), MPI_DOUBLE,
                  &layout->filetype);
  return layout->args[2] != 0 ? stride_memory(layout, record, record * count) : NULL;
}

/* --- matrix: doubles, BLOCK-CYCLIC in both dimensions; args: side, side of a block --------------
 */

static void matrix_visit(const struct Layout* layout, int rank, RunVisitor* visit, void* context) {
  const int64_t side = layout->args[0], block = layout->args[1];
  const int64_t column = rank % layout->grid[1], row = rank / layout->grid[1];
  for (int64_t y = 0; y < side; ++y) {
    if (y / block % layout->grid[0] != row) continue;
    for (int64_t x = column * block; x < side; x += block * layout->grid[1]) {
      visit(context, (y * side + x) * 8, min64(block, side - x) * 8);
    }
  }
}

static const char* matrix_make(struct Layout* layout) {
  const int side = (int)layout->args[0], block = (int)layout->args[1];
  if (side < 1 || side > 20000 || block < 1 || block > side) return "matrix out of range";
  MPI_Dims_create(layout->ranks, 2, layout->grid);
  layout->file_bytes = (int64_t)side * side * 8;
  layout->element = MPI_DOUBLE;
  layout->visit = matrix_visit;
  const int sizes[2] = {side, side};
  const int how[2] = {MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_CYCLIC};
  const int blocks[2] = {block, block};
  MPI_Type_create_darray(layout->ranks, layout->rank, 2, sizes, how, blocks, layout->grid,
                         MPI_ORDER_C, MPI_DOUBLE, &layout->filetype);
  return NULL;
}

/* --- irregular: args: runs a process, shortest run, longest run -------------------------------- *
 * Runs of random lengths follow each other without gaps; each `ranks` of them are dealt to the
 * processes, one each, beginning with a random process. */

static uint64_t mixed(uint64_t value) {
  value = (value + 0x9E3779B97F4A7C15u) * 0xBF58476D1CE4E5B9u;
  return value ^ (value >> 29);
}

static int64_t irregular_length(const struct Layout* layout, int64_t run) {
  const uint64_t lengths = (uint64_t)(layout->args[2] - layout->args[1] + 1);
  return layout->args[1] + (int64_t)((mixed((uint64_t)run) >> 20) % lengths);
}

static void irregular_visit(const struct Layout* layout, int rank, RunVisitor* visit,
                            void* context) {
  int64_t offset = 0;
  for (int64_t deal = 0; deal < layout->args[0]; ++deal) {
    const uint64_t turn = mixed(mixed((uint64_t)deal)) >> 33;
    const int64_t mine = (int64_t)((turn + (uint64_t)rank) % (uint64_t)layout->ranks);
    for (int64_t i = 0; i < layout->ranks; ++i) {
      const int64_t length = irregular_length(layout, deal * layout->ranks + i);
      if (i == mine) visit(context, offset, length);
      offset += length;
    }
  }
}

struct Lists {
  int *lengths, *offsets;
  int count;
};

static void add_to_lists(void* context, int64_t offset, int64_t size_bytes) {
  struct Lists* lists = context;
  lists->lengths[lists->count] = (int)size_bytes;
  lists->offsets[lists->count++] = (int)offset;
}

static const char* irregular_make(struct Layout* layout) {
  const int64_t runs = layout->args[0];
  if (layout->args[1] < 1 || layout->args[2] < layout->args[1] || runs < 1 ||
      runs * layout->ranks * layout->args[2] > INT32_MAX)
    return "runs out of range";
  layout->element = MPI_BYTE;
  layout->visit = irregular_visit;
  for (int64_t i = 0; i < runs * layout->ranks; ++i) {
    layout->file_bytes += irregular_length(layout, i);
  }
  struct Lists lists = {malloc((size_t)runs * sizeof(int)), malloc((size_t)runs * sizeof(int)), 0};
  if (lists.lengths == NULL || lists.offsets == NULL) return "no memory";
  irregular_visit(layout, layout->rank, add_to_lists, &lists);
  MPI_Type_indexed(lists.count, lists.lengths, lists.offsets, MPI_BYTE, &layout->filetype);
  free(lists.lengths);
  free(lists.offsets);
  return NULL;
}

/* --- contiguous: one run a process, in order; args: bytes a process, bytes of a run in memory if
 * it is not contiguous there */

static void contiguous_visit(const struct Layout* layout, int rank, RunVisitor* visit,
                             void* context) {
  visit(context, rank * layout->args[0], layout->args[0]);
}

static const char* contiguous_make(struct Layout* layout) {
  const int64_t size = layout->args[0];
  if (size < 1 || size > INT32_MAX) return "size out of range";
  layout->file_bytes = size * layout->ranks;
  layout->element = MPI_BYTE;
  layout->visit = contiguous_visit;
  layout->displacement = size * layout->rank;
  MPI_Type_contiguous((int)size, MPI_BYTE, &layout->filetype);
  return layout->args[1] != 0 ? stride_memory(layout, layout->args[1], size) : NULL;
}

static const struct {
  const char* name;
  const char* (*make)(struct Layout*);
} kWorkloads[] = {
    {"tile", tile_make},           {"reader", reader_make},         {"block3d", block3d_make},
    {"flash", flash_make},         {"column", column_make},         {"matrix", matrix_make},
    {"irregular", irregular_make}, {"contiguous", contiguous_make}, {"mesh", mesh_make},
    {"halo", halo_make},
};

const char* layout_make(struct Layout* layout, const char* folder, const char* workload,
                        const int64_t args[3]) {
  memset(layout, 0, sizeof *layout);
  layout->folder = folder;
  MPI_Comm_rank(MPI_COMM_WORLD, &layout->rank);
  MPI_Comm_size(MPI_COMM_WORLD, &layout->ranks);
  memcpy(layout->args, args, sizeof layout->args);
  layout->memory_type = MPI_DATATYPE_NULL;
  layout->frames = 1;
  for (size_t i = 0; i < sizeof kWorkloads / sizeof kWorkloads[0]; ++i) {
    if (strcmp(workload, kWorkloads[i].name) != 0) continue;
    const char* error = kWorkloads[i].make(layout);
    if (error != NULL) return error;
    if (layout->make_type == NULL) MPI_Type_commit(&layout->filetype);
    if (layout->memory_type != MPI_DATATYPE_NULL) MPI_Type_commit(&layout->memory_type);
    layout->visit(layout, layout->rank, add_bytes, &layout->bytes);
    if (layout->memory_bytes == 0) layout->memory_bytes = layout->bytes;
    return NULL;
  }
  return "no such workload";
}

void layout_release(struct Layout* layout) {
  MPI_Type_free(&layout->filetype);
  if (layout->memory_type != MPI_DATATYPE_NULL) MPI_Type_free(&layout->memory_type);
  shares_release(layout->shares);
}
