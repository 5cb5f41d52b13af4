/* A rank that is in the middle of a write for long: slow_write FILE. It opens the file in atomic
 * mode with a view that has gaps, says "writing", writes, and prints the class and the text of what
 * came of it. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc < 2) MPI_Abort(MPI_COMM_WORLD, 2);
  MPI_File file;
  if (MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_RDWR, MPI_INFO_NULL, &file) != MPI_SUCCESS ||
      MPI_File_set_atomicity(file, 1) != MPI_SUCCESS) {
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  MPI_Datatype spread;
  MPI_Type_vector(2, 1, 2, MPI_INT, &spread);
  MPI_Type_commit(&spread);
  MPI_File_set_view(file, 0, MPI_INT, spread, "native", MPI_INFO_NULL);
  int data[2] = {0};
  printf("writing\n");
  fflush(stdout);
  const int code = MPI_File_write_at(file, 0, data, 2, MPI_INT, MPI_STATUS_IGNORE);
  int error_class = 0, length = 0;
  char text[MPI_MAX_ERROR_STRING] = "";
  MPI_Error_class(code, &error_class);
  MPI_Error_string(code, text, &length);
  printf("class %s: %.*s\n", error_class > MPI_ERR_LASTCODE ? "of its own" : "of MPI", length,
         text);
  MPI_Type_free(&spread);
  MPI_File_close(&file);
  MPI_Finalize();
  return 0;
}
