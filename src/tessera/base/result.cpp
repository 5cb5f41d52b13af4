#include "tessera/base/result.hpp"

#include <cerrno>
#include <cstring>

namespace tessera::base {

namespace {

Code code_of_errno(int errno_value) {
  switch (errno_value) {
    case ENOENT:
    case ENOTDIR:
      return Code::kNotFound;
    case EACCES:
    case EPERM:
    case EROFS:
      return Code::kDenied;
    case EAGAIN:
    case EINTR:
    case EBUSY:
      return Code::kRetry;
    default:
      return Code::kFailed;
  }
}

}  // namespace

const char* code_name(Code code) {
  switch (code) {
    case Code::kFailed:
      return "failed";
    case Code::kInvalid:
      return "invalid";
    case Code::kNotFound:
      return "not-found";
    case Code::kIntegrity:
      return "integrity";
    case Code::kRetry:
      return "retry";
    case Code::kDenied:
      return "denied";
    case Code::kTooComplex:
      return "too-complex";
  }
  return "unknown";
}

std::string Error::message() const {
  if (errno_value == 0) return context;
  return context + ": " + std::strerror(errno_value);
}

Failure fail(Code code, std::string context) { return Failure{Error{code, 0, std::move(context)}}; }

Failure fail_errno(int errno_value, std::string context) {
  return Failure{Error{code_of_errno(errno_value), errno_value, std::move(context)}};
}

}  // namespace tessera::base
