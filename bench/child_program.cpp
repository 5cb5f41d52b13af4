#include "bench/child_program.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "bench/case.hpp"

namespace tessera::bench {

namespace {

constexpr double kEndSeconds = 10;
constexpr int kNapUs = 1000;

[[noreturn]] void become_program(const std::vector<char*>& words, const std::string& log,
                                 pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent) ::_exit(127);
  if (!log.empty()) {
    const int output = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    ::dup2(output, STDOUT_FILENO);
    ::dup2(output, STDERR_FILENO);
  }
  ::execv(words[0], words.data());
  ::_exit(127);
}

}  // namespace

base::Result<std::string> program_beside(const std::string& place) {
  std::error_code error;
  const auto own = std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
  std::string path = (own / place).lexically_normal().string();
  if (::access(path.c_str(), X_OK) == 0) return path;
  return base::fail(base::Code::kNotFound, path + " is missing");
}

base::Result<ChildProgram> ChildProgram::start(const std::vector<std::string>& words,
                                               const std::string& log) {
  std::vector<char*> pointers;
  for (const std::string& word : words) pointers.push_back(const_cast<char*>(word.c_str()));
  pointers.push_back(nullptr);
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid == 0) become_program(pointers, log, parent);
  if (pid < 0) return base::fail_errno(errno, "cannot start " + words.front());
  return ChildProgram(pid);
}

std::optional<int> ChildProgram::ends_within(double seconds) {
  const double asked_at = now_ns();
  for (;;) {
    int status = 0;
    if (pid_ <= 0) return -1;
    if (::waitpid(pid_, &status, WNOHANG) != 0) {
      pid_ = -1;
      return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    }
    if (now_ns() - asked_at >= seconds * 1e9) return std::nullopt;
    ::usleep(kNapUs);
  }
}

void ChildProgram::ask_to_end() const {
  if (pid_ > 0) ::kill(pid_, SIGTERM);
}

ChildProgram::~ChildProgram() {
  if (pid_ <= 0) return;
  ask_to_end();
  if (ends_within(kEndSeconds)) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

}  // namespace tessera::bench
