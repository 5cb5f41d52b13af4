// System calls: their answers, interruptions and errors, as the rest of port wants them.
//
// Thread safety: pure but for errno, which belongs to the thread.
#pragma once

#include <cerrno>
#include <string>

#include "tessera/base/result.hpp"

namespace tessera::port {

// Repeats a system call that answers -1 and EINTR.
template <typename Call>
auto uninterrupted(Call call) {
  for (;;) {
    const auto answer = call();
    if (answer != -1 || errno != EINTR) return answer;
  }
}

// Whether an errno says that the system has no such call, so that another way is to be taken: one
// that is too old says ENOSYS, and the filters of containers say EPERM for calls they do not know.
// Only for calls that the caller can do without.
[[nodiscard]] inline bool is_missing_call(int errno_value) {
  return errno_value == ENOSYS || errno_value == EPERM;
}

// The error of a call that answered -1; `what` says what it was to do.
[[nodiscard]] inline base::Result<void> check(int answer, const std::string& what) {
  if (answer == -1) return base::fail_errno(errno, what);
  return {};
}

}  // namespace tessera::port
