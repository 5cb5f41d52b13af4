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
  CallHandler* call;
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

// MPICH's C++ half throws what its C half returns.
bool is_thrown(MPI_Errhandler handler) {
#ifdef MPIR_ERRORS_THROW_EXCEPTIONS
  return handler == MPIR_ERRORS_THROW_EXCEPTIONS;
#else
  (void)handler;
  return false;
#endif
}

bool returns(MPI_Errhandler handler) { return handler == MPI_ERRORS_RETURN || is_thrown(handler); }

bool is_fatal(MPI_Errhandler handler) {
#ifdef MPI_ERRORS_ABORT  // since MPI 4.0
  if (handler == MPI_ERRORS_ABORT) return true;
#endif
  return handler == MPI_ERRORS_ARE_FATAL;
}

// One more reference that the MPI counts. MPI has no function for it: MPI_FILE_NULL takes the
// handler for a moment and gives it back.
void add_native_reference(MPI_Errhandler handler) {
  struct Null {};
  static auto& one_at_a_time = *new port::Guarded<Null>;
  one_at_a_time.with([&](Null&) {
    MPI_Errhandler before = MPI_ERRHANDLER_NULL;
    MPI_Errhandler again = MPI_ERRHANDLER_NULL;
    TESSERA_NATIVE(MPI_File_get_errhandler)(MPI_FILE_NULL, &before);
    TESSERA_NATIVE(MPI_File_set_errhandler)(MPI_FILE_NULL, handler);
    TESSERA_NATIVE(MPI_File_get_errhandler)(MPI_FILE_NULL, &again);
    TESSERA_NATIVE(MPI_File_set_errhandler)(MPI_FILE_NULL, before);
    TESSERA_NATIVE(MPI_Errhandler_free)(&before);
  });
}

// The reference of an ErrorHandler. Predefined handlers live for ever and need none.
void hold(MPI_Errhandler handler) {
  if (returns(handler) || is_fatal(handler)) return;
  add_error_handler_handle(handler);
}

void let_go(MPI_Errhandler handler) {
  if (returns(handler) || is_fatal(handler)) return;
  if (!drop_error_handler_handle(handler)) TESSERA_NATIVE(MPI_Errhandler_free)(&handler);
}

// A handler whose making we did not see: Open MPI's C++ half goes past MPI's functions.
void call_unknown(MPI_Errhandler handler, MPI_File file, int code) {
#ifdef OPEN_MPI
  using Invoke = int(MPI_Errhandler, void*, int kind, int code, const char* where);
  constexpr int kKindFile = 3;
  static auto* const invoke = reinterpret_cast<Invoke*>(native_symbol("ompi_errhandler_invoke"));
  invoke(handler, file, kKindFile, code, "a file operation");
#else
  (void)handler, (void)file, (void)code;  // MPICH makes all of them by the functions we stand for
#endif
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

ErrorHandler::ErrorHandler(MPI_Errhandler handler) : handle_(handler) { hold(handle_); }

ErrorHandler::ErrorHandler(const ErrorHandler& other) : ErrorHandler(other.handle_) {}

ErrorHandler& ErrorHandler::operator=(const ErrorHandler& other) {
  hold(other.handle_);
  let_go(handle_);
  handle_ = other.handle_;
  return *this;
}

ErrorHandler::~ErrorHandler() { let_go(handle_); }

int ErrorHandler::call(MPI_File file, int code) const {
  if (returns(handle_)) return code;
  if (is_fatal(handle_)) end_program(code);
  if (const std::optional<Known> known = known_handler(handle_)) {
    known->call(known->function, file, code);
  } else {
    call_unknown(handle_, file, code);
  }
  return code;
}

bool ErrorHandler::throws() const { return is_thrown(handle_); }

ErrorHandler default_error_handler() {
  return default_handler().with([](const ErrorHandler& handler) { return handler; });
}

void set_default_error_handler(const ErrorHandler& handler) {
  default_handler().with([&](ErrorHandler& value) { value = handler; });
}

void remember_error_handler(MPI_Errhandler handler, MPI_File_errhandler_function* function,
                            CallHandler* call) {
  if (change_error_handler_call(handler, call)) return;
  table().with([&](std::vector<Known>& known) { known.push_back({handler, function, call, 1}); });
}

bool change_error_handler_call(MPI_Errhandler handler, CallHandler* call) {
  return table().with([&](std::vector<Known>& known) {
    const auto entry = find(known, handler);
    if (entry == known.end()) return false;
    entry->call = call;
    return true;
  });
}

void add_error_handler_handle(MPI_Errhandler handler) {
  if (!change_references(handler, 1)) add_native_reference(handler);
}

bool drop_error_handler_handle(MPI_Errhandler handler) { return change_references(handler, -1); }

}  // namespace tessera::mpiio
