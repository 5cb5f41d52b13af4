#include "tessera/mpiio/error_handlers.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <vector>

#include "tessera/mpiio/native.hpp"
#include "tessera/port/guarded.hpp"

namespace tessera::mpiio {

namespace {

struct Known {
  MPI_Errhandler handler;
  MPI_File_errhandler_function* function;
  Language language;
  int references;  // handles of the program and of our files
};

port::Guarded<std::vector<Known>>& table() {
  static auto& all = *new port::Guarded<std::vector<Known>>;
  return all;
}

std::vector<Known>::iterator find(std::vector<Known>& known, MPI_Errhandler handler) {
  return std::find_if(known.begin(), known.end(),
                      [&](const Known& entry) { return entry.handler == handler; });
}

// Whether the handler is known; its reference count is changed then, and the MPI's object freed
// with the last reference.
bool change_references(MPI_Errhandler handler, int by) {
  return table().with([&](std::vector<Known>& known) {
    const auto entry = find(known, handler);
    if (entry == known.end()) return false;
    entry->references += by;
    if (entry->references > 0) return true;
    TESSERA_NATIVE(MPI_Errhandler_free)(&entry->handler);
    known.erase(entry);
    return true;
  });
}

std::optional<Known> known_handler(MPI_Errhandler handler) {
  return table().with([&](std::vector<Known>& known) -> std::optional<Known> {
    const auto entry = find(known, handler);
    if (entry == known.end()) return std::nullopt;
    return *entry;
  });
}

void call_fortran(MPI_File_errhandler_function* function, MPI_File file, int& code) {
  using FortranFunction = void(MPI_Fint*, MPI_Fint*, ...);
  MPI_Fint number = MPI_File_c2f(file);
  reinterpret_cast<FortranFunction*>(function)(&number, &code);
}

[[noreturn]] void end_program(int code) {
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  std::fprintf(stderr, "tessera: fatal error in a file operation: %s\n", text);
  PMPI_Abort(MPI_COMM_WORLD, code);
  std::abort();
}

port::Guarded<ErrorHandler>& default_handler() {
  static auto& handler = *new port::Guarded<ErrorHandler>;
  return handler;
}

}  // namespace

ErrorHandler::ErrorHandler() : handle_(MPI_ERRORS_RETURN) {}

ErrorHandler::ErrorHandler(MPI_Errhandler handler) : handle_(handler) {
  change_references(handle_, 1);
}

ErrorHandler::ErrorHandler(const ErrorHandler& other) : ErrorHandler(other.handle_) {}

ErrorHandler& ErrorHandler::operator=(const ErrorHandler& other) {
  change_references(other.handle_, 1);
  change_references(handle_, -1);
  handle_ = other.handle_;
  return *this;
}

ErrorHandler::~ErrorHandler() { change_references(handle_, -1); }

int ErrorHandler::call(MPI_File file, int code) const {
  if (handle_ == MPI_ERRORS_RETURN) return code;
  if (handle_ == MPI_ERRORS_ARE_FATAL) end_program(code);
  const std::optional<Known> known = known_handler(handle_);
  if (known && known->language == Language::kC) {
    known->function(&file, &code);
  } else if (known) {
    call_fortran(known->function, file, code);
  } else {
    // Made in a way that we do not know: the MPI calls it, on the only handle that both know.
    TESSERA_NATIVE(MPI_File_call_errhandler)(MPI_FILE_NULL, code);
  }
  return code;
}

ErrorHandler default_error_handler() {
  return default_handler().with([](const ErrorHandler& handler) { return handler; });
}

void set_default_error_handler(const ErrorHandler& handler) {
  default_handler().with([&](ErrorHandler& value) { value = handler; });
}

void remember_error_handler(MPI_Errhandler handler, MPI_File_errhandler_function* function,
                            Language language) {
  table().with([&](std::vector<Known>& known) {
    const auto entry = find(known, handler);
    if (entry != known.end()) {
      entry->language = language;
    } else {
      known.push_back({handler, function, language, 1});
    }
  });
}

void add_error_handler_handle(MPI_Errhandler handler) { change_references(handler, 1); }

bool drop_error_handler_handle(MPI_Errhandler handler) { return change_references(handler, -1); }

}  // namespace tessera::mpiio
