// Error handlers of files, and the texts of our error codes.
#include <atomic>
#include <cstring>

#include "tessera/mpiio/access.hpp"
#include "tessera/mpiio/error_handlers.hpp"
#include "tessera/mpiio/fault.hpp"
#include "tessera/mpiio/native.hpp"
#include "tessera/mpiio/open_file.hpp"

namespace tessera::mpiio {

namespace {

void call_c(MPI_File_errhandler_function* function, MPI_File file, int& code) {
  function(&file, &code);
}

void call_fortran(MPI_File_errhandler_function* function, MPI_File file, int& code) {
  using FortranFunction = void(MPI_Fint*, MPI_Fint*, ...);
  MPI_Fint number = MPI_File_c2f(file);
  reinterpret_cast<FortranFunction*>(function)(&number, &code);
}

// MPICH's C++ half has one function that calls handlers of every kind of object.
using CxxDispatch = void(int kind, int* object, int* code, void (*function)());
std::atomic<CxxDispatch*> mpich_cxx_dispatch{nullptr};

void call_mpich_cxx(MPI_File_errhandler_function* function, MPI_File file, int& code) {
  constexpr int kKindFile = 1;
  mpich_cxx_dispatch.load()(kKindFile, reinterpret_cast<int*>(&file), &code,
                            reinterpret_cast<void (*)()>(function));
}

// Fortran programs make handlers by functions that do not go through MPI's C functions, or do not
// tell them the language. All have this shape; the last argument may be left out.
using FortranCreate = void(MPI_File_errhandler_function*, MPI_Fint*, MPI_Fint*);

void create_in_fortran(const char* name, MPI_File_errhandler_function* function,
                       MPI_Fint* errhandler, MPI_Fint* code) {
  MPI_Fint outcome = MPI_SUCCESS;
  reinterpret_cast<FortranCreate*>(native_symbol(name))(function, errhandler, &outcome);
  if (outcome == MPI_SUCCESS) {
    remember_error_handler(PMPI_Errhandler_f2c(*errhandler), function, call_fortran);
  }
  if (code != nullptr) *code = outcome;
}

}  // namespace

}  // namespace tessera::mpiio

using namespace tessera::mpiio;  // NOLINT: the functions below are the program's

extern "C" {

int MPI_File_create_errhandler(MPI_File_errhandler_function* function, MPI_Errhandler* errhandler) {
  const int code = TESSERA_NATIVE(MPI_File_create_errhandler)(function, errhandler);
  if (code == MPI_SUCCESS) remember_error_handler(*errhandler, function, call_c);
  return code;
}

int MPI_File_set_errhandler(MPI_File fh, MPI_Errhandler errhandler) {
  if (OpenFile* file = OpenFile::from(fh)) {
    if (errhandler == MPI_ERRHANDLER_NULL) {
      return raise(*file, fault(MPI_ERR_ARG, "MPI_ERRHANDLER_NULL handles no errors").error);
    }
    file->handler = ErrorHandler(errhandler);
    return MPI_SUCCESS;
  }
  if (fh == MPI_FILE_NULL) set_default_error_handler(ErrorHandler(errhandler));
  return TESSERA_NATIVE(MPI_File_set_errhandler)(fh, errhandler);
}

int MPI_File_get_errhandler(MPI_File fh, MPI_Errhandler* errhandler) {
  const OpenFile* file = OpenFile::from(fh);
  if (file == nullptr && fh != MPI_FILE_NULL) {
    return TESSERA_NATIVE(MPI_File_get_errhandler)(fh, errhandler);
  }
  const ErrorHandler handler = file != nullptr ? file->handler : default_error_handler();
  *errhandler = handler.handle();
  add_error_handler_handle(*errhandler);
  return MPI_SUCCESS;
}

int MPI_File_call_errhandler(MPI_File fh, int code) {
  OpenFile* file = OpenFile::from(fh);
  if (file == nullptr) return TESSERA_NATIVE(MPI_File_call_errhandler)(fh, code);
  file->handler.call(fh, code);
  return file->handler.throws() ? code : MPI_SUCCESS;
}

int MPI_Errhandler_free(MPI_Errhandler* errhandler) {
  if (!drop_error_handler_handle(*errhandler)) {
    return TESSERA_NATIVE(MPI_Errhandler_free)(errhandler);
  }
  *errhandler = MPI_ERRHANDLER_NULL;
  return MPI_SUCCESS;
}

int MPI_Error_string(int code, char* text, int* length) {
  const std::string ours = text_of_code(code);
  if (ours.empty()) return TESSERA_NATIVE(MPI_Error_string)(code, text, length);
  std::memcpy(text, ours.c_str(), ours.size() + 1);
  *length = static_cast<int>(ours.size());
  return MPI_SUCCESS;
}

// Names as Fortran compilers and the MPIs' Fortran halves form them.
// NOLINTBEGIN(readability-identifier-naming)
void mpi_file_create_errhandler_(MPI_File_errhandler_function* function, MPI_Fint* errhandler,
                                 MPI_Fint* code) {
  create_in_fortran("mpi_file_create_errhandler_", function, errhandler, code);
}

void pmpi_file_create_errhandler_(MPI_File_errhandler_function* function, MPI_Fint* errhandler,
                                  MPI_Fint* code) {
  create_in_fortran("pmpi_file_create_errhandler_", function, errhandler, code);
}

void mpi_file_create_errhandler_f08_(MPI_File_errhandler_function* function, MPI_Fint* errhandler,
                                     MPI_Fint* code) {
  create_in_fortran("mpi_file_create_errhandler_f08_", function, errhandler, code);
}

void ompi_file_create_errhandler_f(MPI_File_errhandler_function* function, MPI_Fint* errhandler,
                                   MPI_Fint* code) {
  create_in_fortran("ompi_file_create_errhandler_f", function, errhandler, code);
}

// MPICH's C++ half makes handlers by the C functions and says so afterwards.
void MPII_Errhandler_set_cxx(MPI_Errhandler errhandler, void (*dispatch)()) {
  using Own = void(MPI_Errhandler, void (*)());
  mpich_cxx_dispatch = reinterpret_cast<CxxDispatch*>(dispatch);
  change_error_handler_call(errhandler, call_mpich_cxx);
  reinterpret_cast<Own*>(native_symbol("MPII_Errhandler_set_cxx"))(errhandler, dispatch);
}
// NOLINTEND(readability-identifier-naming)

}  // extern "C"

TESSERA_ALSO_PMPI(MPI_File_create_errhandler);
TESSERA_ALSO_PMPI(MPI_File_set_errhandler);
TESSERA_ALSO_PMPI(MPI_File_get_errhandler);
TESSERA_ALSO_PMPI(MPI_File_call_errhandler);
TESSERA_ALSO_PMPI(MPI_Errhandler_free);
TESSERA_ALSO_PMPI(MPI_Error_string);
