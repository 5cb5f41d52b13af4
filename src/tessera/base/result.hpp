// Result: a value or the reason why there is none.
//
// Spelled like std::expected, which g++ 12 does not have in C++20 mode. An Error carries a code
// (one per way a caller may react), the errno where the operating system gave one, and a sentence
// for the person who reads it. Results may not be ignored; the error path costs an allocation, the
// other none. Thread safety: as for any value type.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "tessera/base/assert.hpp"

namespace tessera::base {

// One code for each reaction a caller can have; the command line turns them into exit codes.
enum class Code {
  kFailed,      // nothing a caller can do but report it
  kInvalid,     // the request or input is wrong and will stay wrong
  kNotFound,    // the named thing does not exist
  kIntegrity,   // stored or received bytes are not what they claim to be
  kRetry,       // the same call may succeed later
  kDenied,      // permission is missing or has expired
  kTooComplex,  // an exact answer would exceed the work budget; a coarser request may succeed
};

// The name of a code as documents and --json print it, for example "not-found".
const char* code_name(Code code);

struct Error {
  Code code = Code::kFailed;
  int errno_value = 0;  // 0 where no system call was involved
  std::string context;  // what was attempted and why it failed, without a final full stop

  // "context" or "context: No such file or directory", ready for one line of output.
  [[nodiscard]] std::string message() const;
};

// Marks an error on its way into a Result<T> of any T.
struct Failure {
  Error error;
};

[[nodiscard]] Failure fail(Code code, std::string context);
// The code follows from errno_value: ENOENT is kNotFound, EACCES and EPERM kDenied, EAGAIN, EINTR
// and EBUSY kRetry, all others kFailed.
[[nodiscard]] Failure fail_errno(int errno_value, std::string context);

template <typename T>
class [[nodiscard]] Result {
 public:
  using value_type = T;

  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}  // NOLINT: as std::expected
  Result(Failure failure)                                                // NOLINT: as std::expected
      : state_(std::in_place_index<1>, std::move(failure.error)) {}

  [[nodiscard]] bool has_value() const { return state_.index() == 0; }
  explicit operator bool() const { return has_value(); }

  // Requires has_value().
  T& value() & { return checked(); }
  const T& value() const& { return const_cast<Result*>(this)->checked(); }
  T&& value() && { return std::move(checked()); }
  T& operator*() & { return checked(); }
  const T& operator*() const& { return const_cast<Result*>(this)->checked(); }
  T&& operator*() && { return std::move(checked()); }
  T* operator->() { return &checked(); }
  const T* operator->() const { return &const_cast<Result*>(this)->checked(); }

  // Requires !has_value().
  [[nodiscard]] const Error& error() const {
    TESSERA_ASSERT(!has_value());
    return *std::get_if<1>(&state_);
  }

 private:
  T& checked() {
    TESSERA_ASSERT(has_value());
    return *std::get_if<0>(&state_);
  }

  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  using value_type = void;

  Result() = default;
  Result(Failure failure) : error_(std::move(failure.error)) {}  // NOLINT: as std::expected

  [[nodiscard]] bool has_value() const { return !error_.has_value(); }
  explicit operator bool() const { return has_value(); }
  void value() const { TESSERA_ASSERT(has_value()); }
  [[nodiscard]] const Error& error() const {
    TESSERA_ASSERT(!has_value());
    return *error_;
  }

 private:
  std::optional<Error> error_;
};

// The error of a failed result, on its way into a result of another type.
template <typename T>
[[nodiscard]] Failure failure_of(const Result<T>& result) {
  return Failure{result.error()};
}

}  // namespace tessera::base

#define TESSERA_CONCAT_INNER(a, b) a##b
#define TESSERA_CONCAT(a, b) TESSERA_CONCAT_INNER(a, b)

// TESSERA_TRY(auto x, f()): declares x from the value of f(), or returns its error.
#define TESSERA_TRY(declaration, expression) \
  TESSERA_TRY_IMPL(TESSERA_CONCAT(tessera_result_, __LINE__), declaration, expression)
#define TESSERA_TRY_IMPL(result, declaration, expression)  \
  auto result = (expression);                              \
  if (!result) return ::tessera::base::failure_of(result); \
  declaration = *std::move(result)

// TESSERA_TRY_VOID(f()): goes on if f() succeeded, or returns its error.
#define TESSERA_TRY_VOID(expression)                         \
  do {                                                       \
    if (auto tessera_result = (expression); !tessera_result) \
      return ::tessera::base::failure_of(tessera_result);    \
  } while (false)
