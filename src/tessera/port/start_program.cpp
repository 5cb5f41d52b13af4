#include "tessera/port/start_program.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "tessera/base/assert.hpp"
#include "tessera/port/descriptor.hpp"
#include "tessera/port/system_call.hpp"

namespace tessera::port {

namespace {

constexpr size_t kPipeBytes = 4096;

// What the children need, and answer; made before, since they may allocate nothing.
struct Start {
  std::vector<char*> arguments;
  std::vector<char*> environment;
  int input = -1;  // a descriptor
  int error = 0;   // why it could not become the program
  int status = 0;
};

bool is_named(const char* variable, const std::vector<std::string>& names) {
  return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
    return std::strncmp(variable, name.c_str(), name.size()) == 0 && variable[name.size()] == '=';
  });
}

// As getdents64() fills it in.
struct DirectoryEntry {
  uint64_t inode;
  int64_t next;
  uint16_t bytes;
  uint8_t type;
  char name[1];
};

// Closes the descriptors from 3 on that /proc lists; whether it does. Nothing is allocated.
bool close_listed() {
  const int listing = ::open("/proc/self/fd", O_RDONLY | O_DIRECTORY);
  if (listing < 0) return false;
  alignas(DirectoryEntry) char entries[4096];
  for (bool again = true; again;) {
    again = false;
    // From the beginning after every closing, for that changes what is listed.
    ::lseek(listing, 0, SEEK_SET);
    for (;;) {
      const auto bytes = ::syscall(SYS_getdents64, listing, entries, sizeof(entries));
      if (bytes <= 0) break;
      for (long at = 0; at < bytes;) {
        const auto* entry = reinterpret_cast<const DirectoryEntry*>(entries + at);
        const int number = std::atoi(entry->name);
        if (number >= 3 && number != listing) again = ::close(number) == 0 || again;
        at += entry->bytes;
      }
    }
  }
  ::close(listing);
  return true;
}

}  // namespace

void close_all_but_standard() {
  if (::close_range(3, ~0U, 0) == 0) return;
  if (close_listed()) return;
  // What is open lies below the limit, which may be as good as none.
  constexpr long kTriedMax = 1 << 20;
  const long limit = std::min(::sysconf(_SC_OPEN_MAX), kTriedMax);
  for (int number = 3; number < limit; ++number) ::close(number);
}

namespace {

[[noreturn]] void become_program(Start& start) {
  // Handlers of the program that we are in are of no use to the new one.
  struct sigaction standard {};
  standard.sa_handler = SIG_DFL;
  for (int number = 1; number < NSIG; ++number) ::sigaction(number, &standard, nullptr);
  // It is to be told of a limit of file sizes by errors.
  ::signal(SIGXFSZ, SIG_IGN);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  // No descriptor more than there were: the program may have no room for one.
  const bool has_input = start.input >= 0 && ::dup2(start.input, 0) == 0;
  if (start.input == 0) ::fcntl(0, F_SETFD, 0);
  for (int number = has_input ? 1 : 0; number < 3; ++number) ::close(number);
  const int nothing = ::open("/dev/null", O_RDWR);
  for (int number = nothing + 1; number < 3; ++number) ::dup2(nothing, number);
  close_all_but_standard();
  ::execve(start.arguments.front(), start.arguments.data(), start.environment.data());
  start.error = errno;
  ::_exit(127);
}

// A child without a signal at its end, in whose name the program runs: one that becomes a program
// would be given the signal again. It shares our memory, and we wait.
int stand_between(void* argument) {
  auto& start = *static_cast<Start*>(argument);
  const pid_t program = ::vfork();
  if (program == 0) become_program(start);
  if (program < 0) start.error = errno;
  if (program > 0) uninterrupted([&] { return ::waitpid(program, &start.status, 0); });
  ::_exit(0);
}

// The end of a pipe from which the text can be read.
base::Result<Descriptor> pipe_with(std::string_view text) {
  TESSERA_ASSERT(text.size() <= kPipeBytes);
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return base::fail_errno(errno, "open a pipe");
  Descriptor from(ends[0]);
  const Descriptor to(ends[1]);
  const auto written =
      uninterrupted([&] { return ::write(to.number(), text.data(), text.size()); });
  if (written == static_cast<ssize_t>(text.size())) return from;
  return base::fail_errno(errno, "write to a pipe");
}

}  // namespace

base::Result<int> run_program(const std::vector<std::string>& arguments,
                              const std::vector<std::string>& without, std::string_view input) {
  Start start;
  Descriptor pipe;
  if (!input.empty()) {
    TESSERA_TRY(pipe, pipe_with(input));
    start.input = pipe.number();
  }
  for (const std::string& argument : arguments) {
    start.arguments.push_back(const_cast<char*>(argument.c_str()));
  }
  start.arguments.push_back(nullptr);
  for (char** variable = environ; *variable != nullptr; ++variable) {
    if (!is_named(*variable, without)) start.environment.push_back(*variable);
  }
  start.environment.push_back(nullptr);

  // No handler of ours may run in the children, which have our memory.
  constexpr size_t kStackBytes = size_t{64} << 10;
  const auto stack = std::make_unique<std::byte[]>(kStackBytes);
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::sigprocmask(SIG_BLOCK, &all, &before);
  const int child =
      ::clone(stand_between, stack.get() + kStackBytes, CLONE_VM | CLONE_VFORK, &start);
  if (child < 0) start.error = errno;
  if (child > 0) uninterrupted([&] { return ::waitpid(child, nullptr, __WALL); });
  ::sigprocmask(SIG_SETMASK, &before, nullptr);

  if (start.error != 0) return base::fail_errno(start.error, "start " + arguments.front());
  if (!WIFEXITED(start.status)) {
    return base::fail(base::Code::kFailed, arguments.front() + " was ended by a signal");
  }
  return WEXITSTATUS(start.status);
}

}  // namespace tessera::port
