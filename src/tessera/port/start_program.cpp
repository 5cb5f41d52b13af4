#include "tessera/port/start_program.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <memory>

#include "tessera/port/system_call.hpp"

namespace tessera::port {

namespace {

// What the children need, and answer; made before, since they may allocate nothing.
struct Start {
  std::vector<char*> arguments;
  std::vector<char*> environment;
  int error = 0;  // why it could not become the program
  int status = 0;
};

bool is_named(const char* variable, const std::vector<std::string>& names) {
  return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
    return std::strncmp(variable, name.c_str(), name.size()) == 0 && variable[name.size()] == '=';
  });
}

[[noreturn]] void become_program(Start& start) {
  // Handlers of the program that we are in are of no use to the new one.
  struct sigaction standard {};
  standard.sa_handler = SIG_DFL;
  for (int number = 1; number < NSIG; ++number) ::sigaction(number, &standard, nullptr);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  const int nothing = ::open("/dev/null", O_RDWR);
  for (int number = 0; number < 3; ++number) ::dup2(nothing, number);
  ::close_range(3, ~0U, 0);
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

}  // namespace

base::Result<int> run_program(const std::vector<std::string>& arguments,
                              const std::vector<std::string>& without) {
  Start start;
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
