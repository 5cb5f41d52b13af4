/* A field on the nodes of a mesh: written by some processes, read by another number of them.
 *
 *   mpiexec -n 4 ./mesh_field FILE [--mesh MESH | --grid NX NY NZ] [--load N] [--policy NAME]
 *   mpiexec -n 3 ./mesh_field FILE --read [--mesh MESH | --grid NX NY NZ] [--load N]
 *
 * The mesh is divided into as many parts as there are ranks. Each rank holds its own nodes and the
 * replicas of its neighbours' nodes, with `load` doubles on each, of two variables. Every holder
 * of a node has the same values, so a plan chooses who writes which: rank 0 makes it and saves it
 * beside the file, all ranks load it. The file has the values of all nodes, in their order, of the
 * first variable and then of the second; no rank stands in it. So any number of ranks reads it:
 * each all that it holds, with the replicas, and checks every value.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tessera_mesh.h>
#include <tessera_mesh_mpi.h>

enum { kVariables = 2, kCorners = 8, kTag = 1 };

typedef struct {
  const char* file;
  const char* mesh; /* NULL: the grid */
  const char* policy;
  int grid[3]; /* nodes along each axis */
  int load;
  int reads;
} Task;

typedef struct {
  int rank, ranks;
  int64_t nodes;               /* of the mesh */
  tessera_mesh_plan* plan;     /* as all ranks have it */
  tessera_mesh_node_list held; /* what this rank holds, ascending */
  double* values[kVariables];  /* of the nodes held, `load` of each */
} Part;

static void give_up(const char* what, const char* why) {
  fprintf(stderr, "mesh_field: %s: %s\n", what, why);
  MPI_Abort(MPI_COMM_WORLD, 1);
  exit(1);
}

static void check_mpi(int code, const char* what) {
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  if (code == MPI_SUCCESS) return;
  MPI_Error_string(code, text, &length);
  give_up(what, text);
}

static void check_mesh(int status, const char* what) {
  if (status != TESSERA_MESH_OK) give_up(what, tessera_mesh_error());
}

static void* allocate(size_t count, size_t bytes) {
  void* memory = calloc(count + 1, bytes);
  if (!memory) give_up("memory", "there is none left");
  return memory;
}

/* Beside the file, one for each number of ranks. */
static char* plan_path(const Task* task, int ranks) {
  /* In front of a colon stands how MPI is to open the file, and that is no part of its name. */
  const char* const colon = strchr(task->file, ':');
  const char* const name = colon ? colon + 1 : task->file;
  const size_t bytes = strlen(name) + 32;
  char* const path = allocate(bytes, 1);
  snprintf(path, bytes, "%s.%d.plan", name, ranks);
  return path;
}

/* A grid of hexahedra, as any program may have its mesh in memory. */
static tessera_mesh_plan* plan_grid(const Task* task, int parts,
                                    const tessera_mesh_options* options) {
  const int nx = task->grid[0], ny = task->grid[1], nz = task->grid[2];
  const int64_t elements = (int64_t)(nx - 1) * (ny - 1) * (nz - 1);
  int64_t* const begins = allocate((size_t)elements + 1, sizeof *begins);
  int32_t* const corners = allocate((size_t)elements * kCorners, sizeof *corners);
  int64_t filled = 0;
  for (int64_t i = 0; i < elements; ++i) {
    const int64_t x = i % (nx - 1), y = i / (nx - 1) % (ny - 1), z = i / (nx - 1) / (ny - 1);
    for (int c = 0; c < kCorners; ++c)
      corners[filled++] =
          (int32_t)(((z + (c >> 2)) * ny + (y + (c >> 1 & 1))) * nx + (x + (c & 1)));
    begins[i + 1] = filled;
  }
  const tessera_mesh_elements mesh = {(int64_t)nx * ny * nz, elements, begins, corners};
  tessera_mesh_plan* plan = NULL;
  check_mesh(tessera_mesh_plan_divide(&mesh, parts, options, &plan), "grid");
  free(begins);
  free(corners);
  return plan;
}

/* Tells every rank what it holds, as whoever distributes a mesh does. */
static void send_held(const tessera_mesh_plan* plan, int ranks) {
  for (int part = 1; part < ranks; ++part) {
    size_t count = 0;
    check_mesh(tessera_mesh_held(plan, part, NULL, 0, &count), "held nodes");
    int64_t* const nodes = allocate(count, sizeof *nodes);
    check_mesh(tessera_mesh_held(plan, part, nodes, count, &count), "held nodes");
    check_mpi(MPI_Send(nodes, (int)count, MPI_INT64_T, part, kTag, MPI_COMM_WORLD), "send");
    free(nodes);
  }
}

static void receive_held(Part* part) {
  MPI_Status status;
  int count = 0;
  check_mpi(MPI_Probe(0, kTag, MPI_COMM_WORLD, &status), "probe");
  MPI_Get_count(&status, MPI_INT64_T, &count);
  int64_t* const nodes = allocate((size_t)count, sizeof *nodes);
  check_mpi(MPI_Recv(nodes, count, MPI_INT64_T, 0, kTag, MPI_COMM_WORLD, &status), "receive");
  part->held = (tessera_mesh_node_list){nodes, (size_t)count};
}

/* On rank 0: makes the plan for this number of ranks, saves it and distributes the nodes. */
static void plan_and_send(const Task* task, Part* part, const char* path) {
  const tessera_mesh_options options = {task->policy, 0.10, 1};
  tessera_mesh_plan* plan = NULL;
  if (task->mesh)
    check_mesh(tessera_mesh_plan_files(task->mesh, NULL, part->ranks, &options, &plan), "plan");
  else
    plan = plan_grid(task, part->ranks, &options);
  check_mesh(tessera_mesh_plan_save(plan, path), "save");
  size_t count = 0;
  check_mesh(tessera_mesh_held(plan, 0, NULL, 0, &count), "held nodes");
  int64_t* const nodes = allocate(count, sizeof *nodes);
  check_mesh(tessera_mesh_held(plan, 0, nodes, count, &count), "held nodes");
  part->held = (tessera_mesh_node_list){nodes, count};
  send_held(plan, part->ranks);
  tessera_mesh_plan_free(plan);
}

static Part set_up(const Task* task) {
  Part part = {0};
  MPI_Comm_rank(MPI_COMM_WORLD, &part.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &part.ranks);
  char* const path = plan_path(task, part.ranks);
  if (part.rank == 0)
    plan_and_send(task, &part, path);
  else
    receive_held(&part);
  tessera_mesh_facts facts;
  check_mesh(tessera_mesh_plan_load(path, NULL, &part.plan), "load");
  check_mesh(tessera_mesh_plan_fits(part.plan, part.ranks), path);
  check_mesh(tessera_mesh_plan_facts(part.plan, &facts), "facts");
  part.nodes = facts.nodes;
  if (part.rank == 0)
    printf("%lld nodes in %d parts: %lld intervals of %.1f nodes, imbalance %.2f\n",
           (long long)facts.nodes, facts.parts, (long long)facts.intervals, facts.average_length,
           facts.imbalance);
  for (int v = 0; v < kVariables; ++v)
    part.values[v] = allocate(part.held.count * (size_t)task->load, sizeof(double));
  free(path);
  return part;
}

static void tear_down(Part* part) {
  for (int v = 0; v < kVariables; ++v) free(part->values[v]);
  free((void*)part->held.nodes);
  tessera_mesh_plan_free(part->plan);
}

/* What the simulation has on a node: the same on every rank that holds it. */
static double value_of(int variable, int64_t node, int i) {
  return (double)node + 1e-3 * i + 1e9 * variable;
}

static MPI_File open_file(const Task* task, int mode, MPI_Datatype view) {
  MPI_File file;
  check_mpi(MPI_File_open(MPI_COMM_WORLD, task->file, mode, MPI_INFO_NULL, &file), task->file);
  check_mpi(MPI_File_set_view(file, 0, MPI_DOUBLE, view, "native", MPI_INFO_NULL), "view");
  return file;
}

/* The same two types serve both variables: the view goes on where the one before ended. */
static void write_field(const Task* task, Part* part) {
  MPI_Datatype in_file, in_memory;
  check_mesh(tessera_mesh_file_type(part->plan, part->rank, task->load, MPI_DOUBLE, &in_file),
             "file type");
  check_mesh(tessera_mesh_memory_type(part->plan, part->rank, &part->held, task->load, MPI_DOUBLE,
                                      &in_memory),
             "memory type");
  for (int v = 0; v < kVariables; ++v)
    for (size_t n = 0; n < part->held.count; ++n)
      for (int i = 0; i < task->load; ++i)
        part->values[v][n * (size_t)task->load + (size_t)i] = value_of(v, part->held.nodes[n], i);
  MPI_File file = open_file(task, MPI_MODE_CREATE | MPI_MODE_WRONLY, in_file);
  for (int v = 0; v < kVariables; ++v)
    check_mpi(MPI_File_write_all(file, part->values[v], 1, in_memory, MPI_STATUS_IGNORE), "write");
  check_mpi(MPI_File_close(&file), "close");
  MPI_Type_free(&in_file);
  MPI_Type_free(&in_memory);
}

static int64_t count_wrong(const Task* task, const Part* part) {
  int64_t wrong = 0;
  for (int v = 0; v < kVariables; ++v)
    for (size_t n = 0; n < part->held.count; ++n)
      for (int i = 0; i < task->load; ++i)
        wrong += part->values[v][n * (size_t)task->load + (size_t)i] !=
                 value_of(v, part->held.nodes[n], i);
  return wrong;
}

/* Reads all that this rank holds; whoever wrote it does not matter. */
static int64_t read_field(const Task* task, Part* part) {
  MPI_Datatype in_file;
  check_mesh(tessera_mesh_node_type(&part->held, part->nodes, task->load, MPI_DOUBLE, &in_file),
             "type of the nodes held");
  MPI_File file = open_file(task, MPI_MODE_RDONLY, in_file);
  const int count = (int)part->held.count * task->load;
  for (int v = 0; v < kVariables; ++v) {
    MPI_Status status;
    int got = 0;
    check_mpi(MPI_File_read_all(file, part->values[v], count, MPI_DOUBLE, &status), "read");
    MPI_Get_count(&status, MPI_DOUBLE, &got);
    if (got != count) give_up(task->file, "is too short; is it of another mesh or load?");
  }
  check_mpi(MPI_File_close(&file), "close");
  MPI_Type_free(&in_file);
  return count_wrong(task, part);
}

static void usage(void) {
  give_up("usage",
          "mesh_field FILE [--read] [--mesh MESH | --grid NX NY NZ] [--load N] [--policy NAME]");
}

static const char* next(char*** words) {
  if (!(*words)[1]) usage();
  return *++*words;
}

static int positive(const char* text, int least) {
  const int number = atoi(text);
  if (number < least) usage();
  return number;
}

static Task parse(char** words) {
  Task task = {NULL, NULL, "optimal", {13, 11, 9}, 3, 0};
  while (*++words) {
    if (strcmp(*words, "--read") == 0)
      task.reads = 1;
    else if (strcmp(*words, "--mesh") == 0)
      task.mesh = next(&words);
    else if (strcmp(*words, "--policy") == 0)
      task.policy = next(&words);
    else if (strcmp(*words, "--load") == 0)
      task.load = positive(next(&words), 1);
    else if (strcmp(*words, "--grid") == 0)
      for (int axis = 0; axis < 3; ++axis) task.grid[axis] = positive(next(&words), 2);
    else if (!task.file && **words != '-')
      task.file = *words;
    else
      usage();
  }
  if (!task.file) usage();
  return task;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const Task task = parse(argv);
  Part part = set_up(&task);
  int64_t mine[2] = {(int64_t)part.held.count, 0}, all[2] = {0, 0};
  if (task.reads)
    mine[1] = read_field(&task, &part);
  else
    write_field(&task, &part);
  MPI_Allreduce(mine, all, 2, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  if (part.rank == 0)
    printf("%d ranks, which hold %lld nodes, have %s %d variables of %d doubles a node\n",
           part.ranks, (long long)all[0], task.reads ? "read" : "written", kVariables, task.load);
  if (part.rank == 0 && all[1] != 0) printf("%lld values are wrong\n", (long long)all[1]);
  tear_down(&part);
  MPI_Finalize();
  return all[1] != 0;
}
