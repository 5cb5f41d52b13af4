// Assertions: programmer errors stop the process, in every build.
//
// An assertion states what the code around it relies on. It is never used for input, for the
// operating system's answers or for peers: those are operating errors and travel as Result.
// Thread safety: all functions may be called from any thread.
#pragma once

namespace tessera::base {

// Prints "file:line: assertion failed: expression" on standard error and aborts.
[[noreturn]] void assertion_failed(const char* expression, const char* file, int line) noexcept;

}  // namespace tessera::base

#define TESSERA_ASSERT(expression) \
  (static_cast<bool>(expression)   \
       ? static_cast<void>(0)      \
       : ::tessera::base::assertion_failed(#expression, __FILE__, __LINE__))
