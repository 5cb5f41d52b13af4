// Parallel HDF5: a file that grows. Extendible datasets, collective metadata, attributes, a
// compound type, flush and reopen, hints, alignment, atomic mode, and a file of one rank beside the
// shared one.
#include <hdf5.h>
#include <string.h>

#include "check.h"

enum { kWidth = 10, kSteps = 5, kParticles = 25 };

typedef struct {
  int id;
  double weight;
} Particle;

static hid_t file_access(void) {
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "cb_buffer_size", "65536");
  MPI_Info_set(info, "romio_cb_write", "enable");
  hid_t list = H5Pcreate(H5P_FILE_ACCESS);
  CHECK(list >= 0);
  CHECK(H5Pset_fapl_mpio(list, MPI_COMM_WORLD, info) >= 0);
  CHECK(H5Pset_coll_metadata_write(list, 1) >= 0);
  CHECK(H5Pset_all_coll_metadata_ops(list, 1) >= 0);
  CHECK(H5Pset_alignment(list, 4096, 4096) >= 0);
  CHECK(H5Pset_libver_bounds(list, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST) >= 0);
  MPI_Info_free(&info);
  return list;
}

static hid_t collective(void) {
  hid_t list = H5Pcreate(H5P_DATASET_XFER);
  CHECK(list >= 0 && H5Pset_dxpl_mpio(list, H5FD_MPIO_COLLECTIVE) >= 0);
  return list;
}

// A creation list of `kind` whose objects carry no times, so that two runs leave the same bytes.
static hid_t timeless(hid_t kind) {
  hid_t list = H5Pcreate(kind);
  CHECK(list >= 0 && H5Pset_obj_track_times(list, 0) >= 0);
  return list;
}

static hid_t creation(int chunk) {
  const hsize_t dims[1] = {(hsize_t)chunk};
  hid_t list = timeless(H5P_DATASET_CREATE);
  CHECK(chunk == 0 || H5Pset_chunk(list, 1, dims) >= 0);
  return list;
}

static void create_series(hid_t file) {
  const hsize_t none[1] = {0};
  const hsize_t endless[1] = {H5S_UNLIMITED};
  hid_t space = H5Screate_simple(1, none, endless);
  hid_t list = creation(16);
  hid_t data = H5Dcreate2(file, "series", H5T_STD_I64BE, space, H5P_DEFAULT, list, H5P_DEFAULT);
  CHECK(data >= 0);
  CHECK(H5Dclose(data) >= 0 && H5Pclose(list) >= 0 && H5Sclose(space) >= 0);
}

// Appends one step: kWidth values of each rank, rank after rank.
static void append_step(hid_t file, int step) {
  const hsize_t length[1] = {(hsize_t)(step + 1) * (hsize_t)(kWidth * g_size)};
  const hsize_t begin[1] = {(hsize_t)(step * g_size + g_rank) * kWidth};
  const hsize_t count[1] = {kWidth};
  long long values[kWidth];
  for (int i = 0; i < kWidth; i++) {
    values[i] = (long long)begin[0] + i;
  }
  hid_t data = H5Dopen2(file, "series", H5P_DEFAULT);
  CHECK(data >= 0 && H5Dset_extent(data, length) >= 0);
  hid_t space = H5Dget_space(data);
  hid_t memory = H5Screate_simple(1, count, NULL);
  hid_t list = collective();
  CHECK(H5Sselect_hyperslab(space, H5S_SELECT_SET, begin, NULL, count, NULL) >= 0);
  CHECK(H5Dwrite(data, H5T_NATIVE_LLONG, memory, space, list, values) >= 0);
  CHECK(H5Pclose(list) >= 0 && H5Sclose(memory) >= 0 && H5Sclose(space) >= 0);
  CHECK(H5Dclose(data) >= 0);
}

static void verify_series(hid_t file, int steps) {
  const size_t count = (size_t)(steps * g_size * kWidth);
  long long* values = allocate(count * sizeof *values);
  hid_t data = H5Dopen2(file, "series", H5P_DEFAULT);
  hid_t space = H5Dget_space(data);
  CHECK(H5Sget_simple_extent_npoints(space) == (hssize_t)count);
  CHECK(H5Dread(data, H5T_NATIVE_LLONG, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
  for (size_t i = 0; i < count; i++) {
    CHECK(values[i] == (long long)i);
  }
  CHECK(H5Sclose(space) >= 0 && H5Dclose(data) >= 0);
  free(values);
}

static void write_attribute(hid_t file, const char* name, int number) {
  hid_t space = H5Screate(H5S_SCALAR);
  hid_t attribute = H5Acreate2(file, name, H5T_STD_I32LE, space, H5P_DEFAULT, H5P_DEFAULT);
  CHECK(attribute >= 0 && H5Awrite(attribute, H5T_NATIVE_INT, &number) >= 0);
  CHECK(H5Aclose(attribute) >= 0 && H5Sclose(space) >= 0);
}

static void verify_attribute(hid_t file, const char* name, int expected) {
  int number = 0;
  hid_t attribute = H5Aopen(file, name, H5P_DEFAULT);
  CHECK(attribute >= 0 && H5Aread(attribute, H5T_NATIVE_INT, &number) >= 0);
  CHECK(number == expected);
  CHECK(H5Aclose(attribute) >= 0);
}

static hid_t particle_type(void) {
  hid_t type = H5Tcreate(H5T_COMPOUND, sizeof(Particle));
  CHECK(H5Tinsert(type, "id", HOFFSET(Particle, id), H5T_NATIVE_INT) >= 0);
  CHECK(H5Tinsert(type, "weight", HOFFSET(Particle, weight), H5T_NATIVE_DOUBLE) >= 0);
  return type;
}

static void store_particles(hid_t file, const Particle* mine, hsize_t begin, hsize_t count) {
  const hsize_t total = (hsize_t)(kParticles * g_size * (g_size + 1) / 2);
  hid_t type = particle_type();
  hid_t group_plan = timeless(H5P_GROUP_CREATE);
  hid_t group = H5Gcreate2(file, "state", H5P_DEFAULT, group_plan, H5P_DEFAULT);
  hid_t space = H5Screate_simple(1, &total, NULL);
  hid_t memory = H5Screate_simple(1, &count, NULL);
  hid_t plan = creation(0);
  hid_t list = collective();
  hid_t data = H5Dcreate2(group, "particles", type, space, H5P_DEFAULT, plan, H5P_DEFAULT);
  CHECK(H5Sselect_hyperslab(space, H5S_SELECT_SET, &begin, NULL, &count, NULL) >= 0);
  CHECK(H5Dwrite(data, type, memory, space, list, mine) >= 0);
  CHECK(H5Dclose(data) >= 0 && H5Pclose(list) >= 0 && H5Pclose(plan) >= 0);
  CHECK(H5Sclose(memory) >= 0 && H5Sclose(space) >= 0);
  CHECK(H5Gclose(group) >= 0 && H5Pclose(group_plan) >= 0 && H5Tclose(type) >= 0);
}

// Rank r owns r + 1 shares of the particles: parts of different length.
static void write_particles(hid_t file) {
  const hsize_t begin = (hsize_t)(kParticles * g_rank * (g_rank + 1) / 2);
  const hsize_t count = (hsize_t)(kParticles * (g_rank + 1));
  Particle* mine = allocate(count * sizeof *mine);
  memset(mine, 0, count * sizeof *mine);
  for (hsize_t i = 0; i < count; i++) {
    mine[i].id = (int)(begin + i);
    mine[i].weight = 0.5 * mine[i].id;
  }
  store_particles(file, mine, begin, count);
  free(mine);
}

// Reads one member only: strided access within the records.
static void verify_particles(hid_t file) {
  const int count = kParticles * g_size * (g_size + 1) / 2;
  double* weights = allocate((size_t)count * sizeof *weights);
  hid_t type = H5Tcreate(H5T_COMPOUND, sizeof(double));
  CHECK(H5Tinsert(type, "weight", 0, H5T_NATIVE_DOUBLE) >= 0);
  hid_t data = H5Dopen2(file, "state/particles", H5P_DEFAULT);
  hid_t list = collective();
  CHECK(H5Dread(data, type, H5S_ALL, H5S_ALL, list, weights) >= 0);
  for (int i = 0; i < count; i++) {
    CHECK(weights[i] == 0.5 * i);
  }
  CHECK(H5Pclose(list) >= 0 && H5Dclose(data) >= 0 && H5Tclose(type) >= 0);
  free(weights);
}

static void write_first_half(const char* path) {
  hid_t list = file_access();
  hid_t plan = timeless(H5P_FILE_CREATE);
  hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, plan, list);
  CHECK(file >= 0);
  create_series(file);
  for (int step = 0; step < kSteps; step++) {
    append_step(file, step);
    CHECK(H5Fflush(file, H5F_SCOPE_LOCAL) >= 0);
  }
  write_attribute(file, "ranks", g_size);
  CHECK(H5Fclose(file) >= 0 && H5Pclose(plan) >= 0 && H5Pclose(list) >= 0);
}

static void append_second_half(const char* path) {
  hid_t list = file_access();
  hid_t file = H5Fopen(path, H5F_ACC_RDWR, list);
  CHECK(file >= 0);
  verify_series(file, kSteps);
  for (int step = kSteps; step < 2 * kSteps; step++) {
    append_step(file, step);
  }
  write_attribute(file, "steps", 2 * kSteps);
  write_particles(file);
  CHECK(H5Fclose(file) >= 0 && H5Pclose(list) >= 0);
}

// In atomic mode what one rank wrote is there for the next to read, with no flush between.
static void pass_on_atomically(const char* path) {
  hid_t list = file_access();
  hid_t file = H5Fopen(path, H5F_ACC_RDWR, list);
  hbool_t atomic = 0;
  CHECK(file >= 0 && H5Fset_mpi_atomicity(file, 1) >= 0);
  CHECK(H5Fget_mpi_atomicity(file, &atomic) >= 0 && atomic);
  const int giver = (g_rank + 1) % g_size;
  const hsize_t mine[1] = {(hsize_t)g_rank};
  const hsize_t other[1] = {(hsize_t)giver};
  const hsize_t one[1] = {1};
  hid_t data = H5Dopen2(file, "series", H5P_DEFAULT);
  hid_t space = H5Dget_space(data);
  hid_t memory = H5Screate_simple(1, one, NULL);
  long long number = 100 + g_rank;
  CHECK(H5Sselect_hyperslab(space, H5S_SELECT_SET, mine, NULL, one, NULL) >= 0);
  CHECK(H5Dwrite(data, H5T_NATIVE_LLONG, memory, space, H5P_DEFAULT, &number) >= 0);
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK(H5Sselect_hyperslab(space, H5S_SELECT_SET, other, NULL, one, NULL) >= 0);
  CHECK(H5Dread(data, H5T_NATIVE_LLONG, memory, space, H5P_DEFAULT, &number) >= 0);
  CHECK(number == 100 + giver);
  MPI_Barrier(MPI_COMM_WORLD);
  number = g_rank;
  CHECK(H5Sselect_hyperslab(space, H5S_SELECT_SET, mine, NULL, one, NULL) >= 0);
  CHECK(H5Dwrite(data, H5T_NATIVE_LLONG, memory, space, H5P_DEFAULT, &number) >= 0);
  CHECK(H5Sclose(memory) >= 0 && H5Sclose(space) >= 0 && H5Dclose(data) >= 0);
  CHECK(H5Fclose(file) >= 0 && H5Pclose(list) >= 0);
}

static void verify_all(const char* path) {
  hid_t list = file_access();
  hid_t file = H5Fopen(path, H5F_ACC_RDONLY, list);
  CHECK(file >= 0);
  verify_series(file, 2 * kSteps);
  verify_attribute(file, "ranks", g_size);
  verify_attribute(file, "steps", 2 * kSteps);
  verify_particles(file);
  CHECK(H5Fclose(file) >= 0 && H5Pclose(list) >= 0);
}

// Each rank has a file of its own open at the same time, through MPI-IO on MPI_COMM_SELF.
static void write_private(char** argv) {
  char name[32];
  snprintf(name, sizeof name, "private_%d.h5", g_rank);
  const char* path = in_folder(argv, name);
  hid_t list = H5Pcreate(H5P_FILE_ACCESS);
  hid_t plan = timeless(H5P_FILE_CREATE);
  CHECK(H5Pset_fapl_mpio(list, MPI_COMM_SELF, MPI_INFO_NULL) >= 0);
  hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, plan, list);
  CHECK(file >= 0);
  write_attribute(file, "owner", g_rank);
  verify_attribute(file, "owner", g_rank);
  CHECK(H5Fclose(file) >= 0 && H5Pclose(plan) >= 0 && H5Pclose(list) >= 0);
}

// A missing file is an error in every rank, and not an end of the program.
static void open_missing(char** argv) {
  hid_t list = file_access();
  hid_t file = 0;
  const char* path = in_folder(argv, "missing.h5");
  H5E_BEGIN_TRY { file = H5Fopen(path, H5F_ACC_RDONLY, list); }
  H5E_END_TRY
  CHECK(file < 0);
  CHECK(H5Pclose(list) >= 0);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  write_first_half(in_folder(argv, "lifecycle.h5"));
  append_second_half(in_folder(argv, "lifecycle.h5"));
  pass_on_atomically(in_folder(argv, "lifecycle.h5"));
  write_private(argv);
  open_missing(argv);
  verify_all(in_folder(argv, "lifecycle.h5"));
  finish();
  return 0;
}
