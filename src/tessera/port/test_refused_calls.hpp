// System calls that the system refuses, as the filters of containers do, for tests.
//
// A filter stays for as long as the process lives: call in a child (run_processes()).
// Thread safety: of the calling thread, and those that it starts.
#pragma once

#include <gtest/gtest.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstddef>
#include <optional>
#include <vector>

namespace tessera::port {

struct RefusedCall {
  long number = 0;
  int errno_value = EPERM;
  std::optional<uint32_t> first_argument = std::nullopt;  // refused with this one only
};

// From now on the call fails with its errno. Where the system has no filters, the test is skipped
// by whoever asks.
[[nodiscard]] inline bool refuse(const RefusedCall& call) {
  constexpr auto kNumber = static_cast<uint32_t>(offsetof(seccomp_data, nr));
  constexpr auto kArgument = static_cast<uint32_t>(offsetof(seccomp_data, args));
  const auto answer =
      static_cast<uint32_t>(SECCOMP_RET_ERRNO | static_cast<uint32_t>(call.errno_value));
  std::vector<sock_filter> program = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, kNumber),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<uint32_t>(call.number), 0,
               static_cast<uint8_t>(call.first_argument ? 3 : 1)),
  };
  if (call.first_argument) {
    program.push_back(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, kArgument));
    program.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, *call.first_argument, 0, 1));
  }
  program.push_back(BPF_STMT(BPF_RET | BPF_K, answer));
  program.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  const sock_fprog filter = {static_cast<unsigned short>(program.size()), program.data()};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0) == 0;
}

}  // namespace tessera::port
