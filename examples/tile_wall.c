/* The tile wall of paper 0 as an MPI program: an image is stored by writers in blocks of whole rows
 * and shown by readers, each of which reads one tile; neighbouring tiles overlap.
 *
 *   tile_wall FILE COLUMNS ROWS [REPETITIONS]
 *
 * needs COLUMNS x ROWS ranks. Every rank is a writer and a reader. Each pixel holds its own number,
 * so the readers verify every byte. Prints one line: seconds of the slowest rank, best repetition,
 * for writing and for reading, and the bytes that were verified. Nothing in it knows Tessera. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { kTileWidth = 1920, kTileHeight = 1650, kOverlapWidth = 280, kOverlapHeight = 150 };

typedef struct {
  int columns, rows;
  int width, height; /* of the image, in pixels */
  int rank, ranks;
} Wall;

static void fail(const char* what, int code) {
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(code, text, &length);
  fprintf(stderr, "tile_wall: %s: %s\n", what, text);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static void check(int code, const char* what) {
  if (code != MPI_SUCCESS) fail(what, code);
}

static Wall make_wall(char** arguments) {
  Wall wall = {atoi(arguments[2]), atoi(arguments[3]), 0, 0, 0, 0};
  wall.width = wall.columns * kTileWidth - (wall.columns - 1) * kOverlapWidth;
  wall.height = wall.rows * kTileHeight - (wall.rows - 1) * kOverlapHeight;
  MPI_Comm_rank(MPI_COMM_WORLD, &wall.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &wall.ranks);
  return wall;
}

/* The seconds since `start` of the slowest rank. */
static double slowest_since(double start) {
  double mine = MPI_Wtime() - start;
  double slowest = 0;
  MPI_Allreduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return slowest;
}

static MPI_File open_file(const char* path, int mode) {
  MPI_File file;
  check(MPI_File_open(MPI_COMM_WORLD, path, mode, MPI_INFO_NULL, &file), path);
  return file;
}

/* Writes this rank's rows. */
static double write_rows(const Wall* wall, const char* path) {
  const int first = (int)((int64_t)wall->height * wall->rank / wall->ranks);
  const int end = (int)((int64_t)wall->height * (wall->rank + 1) / wall->ranks);
  const int64_t pixels = (int64_t)(end - first) * wall->width;
  uint32_t* image = malloc((size_t)pixels * sizeof *image);
  for (int64_t i = 0; i < pixels; ++i) image[i] = (uint32_t)((int64_t)first * wall->width + i);
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  MPI_File file = open_file(path, MPI_MODE_CREATE | MPI_MODE_WRONLY);
  check(MPI_File_write_at_all(file, (MPI_Offset)first * wall->width * (MPI_Offset)sizeof *image,
                              image, (int)pixels, MPI_UINT32_T, MPI_STATUS_IGNORE),
        "write");
  check(MPI_File_close(&file), "close");
  const double seconds = slowest_since(start);
  free(image);
  return seconds;
}

/* Bytes of the tile whose pixels hold their own numbers. */
static int64_t verified(const Wall* wall, const uint32_t* tile, int x, int y) {
  int64_t good = 0;
  for (int row = 0; row < kTileHeight; ++row) {
    for (int column = 0; column < kTileWidth; ++column) {
      const int64_t pixel = (int64_t)(y + row) * wall->width + x + column;
      good += tile[(int64_t)row * kTileWidth + column] == (uint32_t)pixel;
    }
  }
  return good * (int64_t)sizeof *tile;
}

/* Reads this rank's tile; adds the bytes found right. */
static double read_tile(const Wall* wall, const char* path, int64_t* right) {
  const int x = wall->rank % wall->columns * (kTileWidth - kOverlapWidth);
  const int y = wall->rank / wall->columns * (kTileHeight - kOverlapHeight);
  const int sizes[] = {wall->height, wall->width};
  const int subsizes[] = {kTileHeight, kTileWidth};
  const int starts[] = {y, x};
  MPI_Datatype view;
  MPI_Type_create_subarray(2, sizes, subsizes, starts, MPI_ORDER_C, MPI_UINT32_T, &view);
  MPI_Type_commit(&view);
  uint32_t* tile = calloc((size_t)kTileWidth * kTileHeight, sizeof *tile);
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  MPI_File file = open_file(path, MPI_MODE_RDONLY);
  check(MPI_File_set_view(file, 0, MPI_UINT32_T, view, "native", MPI_INFO_NULL), "set_view");
  check(MPI_File_read_all(file, tile, kTileWidth * kTileHeight, MPI_UINT32_T, MPI_STATUS_IGNORE),
        "read");
  check(MPI_File_close(&file), "close");
  const double seconds = slowest_since(start);
  *right += verified(wall, tile, x, y);
  free(tile);
  MPI_Type_free(&view);
  return seconds;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int repetitions = argc > 4 ? atoi(argv[4]) : 3;
  Wall wall = argc > 3 ? make_wall(argv) : (Wall){0, 0, 0, 0, 0, 0};
  if (wall.ranks == 0 || wall.ranks != wall.columns * wall.rows) {
    fprintf(stderr, "usage: tile_wall FILE COLUMNS ROWS [REPETITIONS], on COLUMNS x ROWS ranks\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  double write_best = 1e30, read_best = 1e30;
  int64_t right = 0;
  for (int i = 0; i < repetitions; ++i) {
    const double written = write_rows(&wall, argv[1]);
    const double read = read_tile(&wall, argv[1], &right);
    if (written < write_best) write_best = written;
    if (read < read_best) read_best = read;
  }
  int64_t all_right = 0;
  MPI_Reduce(&right, &all_right, 1, MPI_INT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
  const int64_t wanted = (int64_t)repetitions * wall.ranks * kTileWidth * kTileHeight * 4;
  if (wall.rank == 0) {
    printf("write %.6f read %.6f verified %lld of %lld\n", write_best, read_best,
           (long long)all_right, (long long)wanted);
    MPI_File_delete(argv[1], MPI_INFO_NULL);
  }
  MPI_Finalize();
  return wall.rank == 0 && all_right != wanted;
}
