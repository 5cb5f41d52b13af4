// MPI-IO through the C++ bindings: a file written and read, and error handlers that throw, that
// return and that are the program's own. Open MPI's bindings are built without exceptions.
#include "check.h"

static int g_calls;
static int g_amode;
static int g_class;

static void remember_call(MPI::File& file, int* code, ...) {
  ++g_calls;
  g_amode = file.Get_amode();
  MPI_Error_class(*code, &g_class);
}

static bool seek_throws(MPI::File& file) {
  try {
    file.Seek(-1, MPI_SEEK_SET);
  } catch (const MPI::Exception&) {
    return true;
  }
  return false;
}

static void write_and_read(MPI::File& file) {
  const int mine = 1000 + g_rank;
  file.Write_at_all(g_rank * static_cast<MPI_Offset>(sizeof mine), &mine, 1, MPI::INT);
  file.Sync();
  MPI::COMM_WORLD.Barrier();
  int next = 0;
  const int neighbour = (g_rank + 1) % g_size;
  MPI::Status status;
  file.Read_at_all(neighbour * static_cast<MPI_Offset>(sizeof next), &next, 1, MPI::INT, status);
  CHECK(next == 1000 + neighbour);
  CHECK(status.Get_count(MPI::INT) == 1);
}

// The stock libraries do not report every bad position, so that only an exact run is held to it.
static void handle_errors(MPI::File& file, bool exact) {
  MPI::Errhandler own = MPI::File::Create_errhandler(remember_call);
  file.Set_errhandler(own);
  own.Free();
  file.Call_errhandler(MPI_ERR_NO_SPACE);
  CHECK(g_calls == 1);
  CHECK(g_amode == (MPI_MODE_CREATE | MPI_MODE_RDWR));
  CHECK(g_class == MPI_ERR_NO_SPACE);
  if (exact) {
    file.Seek(-1, MPI_SEEK_SET);
    CHECK(g_calls > 1);  // MPICH's bindings call it once more
    CHECK(g_class == MPI_ERR_ARG);
  }
  file.Set_errhandler(MPI::ERRORS_RETURN);
  CHECK(!seek_throws(file));
#ifndef OPEN_MPI
  file.Set_errhandler(MPI::ERRORS_THROW_EXCEPTIONS);
  CHECK(!exact || seek_throws(file));
  MPI::Errhandler found = file.Get_errhandler();
  found.Free();
  CHECK(!exact || seek_throws(file));
#endif
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  const bool exact = argc > 2;
  const char* path = in_folder(argv, "cxx.dat");
  MPI::File file =
      MPI::File::Open(MPI::COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI::INFO_NULL);
  write_and_read(file);
  handle_errors(file, exact);
  file.Close();
  finish();
}
