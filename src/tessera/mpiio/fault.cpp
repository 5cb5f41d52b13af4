#include "tessera/mpiio/fault.hpp"

#include <cerrno>
#include <map>
#include <utility>

#include "tessera/port/guarded.hpp"

namespace tessera::mpiio {

namespace {

// Errors made by fault() carry their class as an errno that no system has.
constexpr int kClassBase = 1 << 20;
constexpr size_t kMaxCodes = 64;

int class_of_errno(int errno_value) {
  switch (errno_value) {
    case ENOENT:
    case ENOTDIR:
      return MPI_ERR_NO_SUCH_FILE;
    case EEXIST:
      return MPI_ERR_FILE_EXISTS;
    case EACCES:
    case EPERM:
      return MPI_ERR_ACCESS;
    case EROFS:
      return MPI_ERR_READ_ONLY;
    case ENOSPC:
    case EFBIG:
      return MPI_ERR_NO_SPACE;
    case EDQUOT:
      return MPI_ERR_QUOTA;
    case ETXTBSY:
      return MPI_ERR_FILE_IN_USE;
    case ENAMETOOLONG:
    case EISDIR:
    case ELOOP:
      return MPI_ERR_BAD_FILE;
    case ENOMEM:
      return MPI_ERR_NO_MEM;
    default:
      return MPI_ERR_IO;
  }
}

// No class of MPI stands for a lock that was taken away.
int lock_lost_class() {
  static const int made = [] {
    int error_class = MPI_ERR_ACCESS;
    if (PMPI_Add_error_class(&error_class) != MPI_SUCCESS) return MPI_ERR_ACCESS;
    PMPI_Add_error_string(error_class, "a lock was taken away while it was in use");
    return error_class;
  }();
  return made;
}

int class_of_code(base::Code code) {
  switch (code) {
    case base::Code::kInvalid:
      return MPI_ERR_ARG;
    case base::Code::kNotFound:
      return MPI_ERR_NO_SUCH_FILE;
    case base::Code::kDenied:
      return lock_lost_class();
    case base::Code::kTooComplex:
      return MPI_ERR_UNSUPPORTED_OPERATION;
    default:
      return MPI_ERR_IO;
  }
}

// MPI bounds the length of an error string.
std::string cut(std::string text) {
  constexpr size_t kMax = MPI_MAX_ERROR_STRING - 1;
  if (text.size() > kMax) text.resize(kMax);
  return text;
}

// The codes that were given out, by class and text.
using Codes = std::map<std::pair<int, std::string>, int>;

port::Guarded<Codes>& codes() {
  static auto& all = *new port::Guarded<Codes>;  // errors may come up while the program ends
  return all;
}

int new_code(int error_class, const std::string& text) {
  int code = 0;
  if (PMPI_Add_error_code(error_class, &code) != MPI_SUCCESS) return error_class;
  if (PMPI_Add_error_string(code, text.c_str()) != MPI_SUCCESS) return error_class;
  return code;
}

}  // namespace

base::Failure fault(int error_class, std::string context) {
  return base::Failure{{base::Code::kInvalid, kClassBase + error_class, std::move(context)}};
}

int class_of(const base::Error& error) {
  if (error.errno_value >= kClassBase) return error.errno_value - kClassBase;
  if (error.errno_value != 0) return class_of_errno(error.errno_value);
  return class_of_code(error.code);
}

std::string text_of(const base::Error& error) {
  if (error.errno_value >= kClassBase) return error.context;
  return error.message();
}

int code_of(const base::Error& error) {
  const int error_class = class_of(error);
  return codes().with([&](Codes& known) {
    const Codes::key_type key{error_class, cut(text_of(error))};
    const auto found = known.find(key);
    if (found != known.end()) return found->second;
    if (known.size() >= kMaxCodes) return error_class;
    return known.emplace(key, new_code(error_class, key.second)).first->second;
  });
}

std::string text_of_code(int code) {
  return codes().with([&](const Codes& known) -> std::string {
    for (const auto& [key, value] : known) {
      if (value == code && value != key.first) return key.second;
    }
    return {};
  });
}

}  // namespace tessera::mpiio
