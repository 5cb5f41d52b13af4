// Error handlers of files.
//
// The MPI's own error handler objects cannot be called on our files, so the function behind each
// file error handler is remembered when the program makes it, and called from here with our handle.
// The MPI's object stays alive while one of our files refers to it, also after the program freed
// its own handle, since MPI_File_get_errhandler must answer it.
// Thread safety: everything.
#pragma once

#include <mpi.h>

#include "tessera/base/result.hpp"

namespace tessera::mpiio {

// A reference to an error handler; MPI_ERRORS_RETURN at first.
class ErrorHandler {
 public:
  ErrorHandler();
  explicit ErrorHandler(MPI_Errhandler handler);  // one more reference
  ErrorHandler(const ErrorHandler& other);
  ErrorHandler& operator=(const ErrorHandler& other);
  ~ErrorHandler();

  [[nodiscard]] MPI_Errhandler handle() const { return handle_; }
  // Calls the handler for a code, with the handle of the file; answers the code if it returns.
  // A fatal handler ends the program with the text of the code.
  int call(MPI_File file, int code) const;
  // Whether MPI_File_call_errhandler leaves the code to the MPI's C++ half, which throws it.
  [[nodiscard]] bool throws() const;

 private:
  MPI_Errhandler handle_;
};

// What MPI_FILE_NULL has: files get it when they are opened, failing opens call it.
[[nodiscard]] ErrorHandler default_error_handler();
void set_default_error_handler(const ErrorHandler& handler);

// Calls the function behind a handler in the way of the language that made it: files are pointers
// in C, numbers in Fortran, objects in C++.
using CallHandler = void(MPI_File_errhandler_function* function, MPI_File file, int& code);

// A handler that the program made; to be called by the functions that do so. A handler that is
// known already gets the way of calling.
void remember_error_handler(MPI_Errhandler handler, MPI_File_errhandler_function* function,
                            CallHandler* call);
// The way of calling alone; false if the handler is not known, since it is none of files.
bool change_error_handler_call(MPI_Errhandler handler, CallHandler* call);
// One more handle in the program's hands, as MPI_File_get_errhandler answers it.
void add_error_handler_handle(MPI_Errhandler handler);
// The program frees a handle; false if it is not a known handler, so that the MPI must do it.
[[nodiscard]] bool drop_error_handler_handle(MPI_Errhandler handler);

}  // namespace tessera::mpiio
