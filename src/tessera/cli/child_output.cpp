#include "tessera/cli/child_output.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "tessera/port/descriptor.hpp"

namespace tessera::cli {

using base::Result;

namespace {

constexpr unsigned kSecondsMax = 20;
constexpr size_t kOutputBytesMax = size_t{1} << 16;

// In the child; does not return.
[[noreturn]] void become(const std::vector<char*>& words, int out) {
  const int nothing = ::open("/dev/null", O_RDWR);
  ::dup2(nothing, STDIN_FILENO);
  ::dup2(out, STDOUT_FILENO);
  ::dup2(nothing, STDERR_FILENO);
  ::alarm(kSecondsMax);  // outlives exec()
  ::execv(words.front(), words.data());
  ::_exit(127);
}

std::string read_output(int in) {
  std::string output;
  std::string buffer(size_t{1} << 12, '\0');
  while (output.size() < kOutputBytesMax) {
    const ssize_t got = ::read(in, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    output.append(buffer, 0, static_cast<size_t>(got));
  }
  return output;
}

bool ended_well(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return false;
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace

std::vector<char*> exec_words(const std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (const std::string& word : words) pointers.push_back(const_cast<char*>(word.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

Result<std::string> output_of(const std::vector<std::string>& command) {
  const auto words = exec_words(command);
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return base::fail_errno(errno, "cannot make a pipe");
  port::Descriptor in(ends[0]);
  port::Descriptor out(ends[1]);
  const pid_t child = ::fork();
  if (child < 0) return base::fail_errno(errno, fmt::format("cannot start {}", command.front()));
  if (child == 0) become(words, out.number());
  { const port::Descriptor unused(std::move(out)); }
  std::string output = read_output(in.number());
  { const port::Descriptor unused(std::move(in)); }
  if (ended_well(child)) return output;
  return base::fail(base::Code::kFailed, fmt::format("{} gives no answer", command.front()));
}

}  // namespace tessera::cli
