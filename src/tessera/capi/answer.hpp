// Answers of C functions: a status, and a sentence that the thread can ask for until its next call.
//
// Statuses of all interfaces are 0 where the call succeeded; what others mean each interface says.
// No exception leaves. Thread safety: every thread has its own sentence.
#pragma once

#include <exception>
#include <new>
#include <string>

#include "tessera/base/result.hpp"

namespace tessera::capi {

inline constexpr int kOk = 0;

using StatusOf = int (*)(base::Code code);

// What was wrong with the last call of this thread; empty if nothing was.
inline std::string& last_error() {
  thread_local std::string text;
  return text;
}

// Where no memory is left for the sentence there is none.
inline int fail_plainly(StatusOf status_of, const char* text) noexcept {
  last_error().clear();
  try {
    last_error() = text;
  } catch (const std::exception&) {
    last_error().clear();
  }
  return status_of(base::Code::kFailed);
}

// The status of a call that gives a Result<void>.
template <typename Call>
int answer_with(StatusOf status_of, Call call) noexcept {
  try {
    last_error().clear();
    const base::Result<void> done = call();
    if (done) return kOk;
    last_error() = done.error().message();
    return status_of(done.error().code);
  } catch (const std::bad_alloc&) {
    return fail_plainly(status_of, "there is no memory left");
  } catch (const std::exception& thrown) {
    return fail_plainly(status_of, thrown.what());
  }
}

}  // namespace tessera::capi
