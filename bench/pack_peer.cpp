#include "bench/pack_peer.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <vector>

namespace tessera::bench {

namespace {

constexpr int kAnswerTimeoutMs = 60'000;

base::Result<std::string> find_program(const std::string& mpi) {
  const std::string name = "tessera-pack-peer-" + mpi;
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
  for (const auto& folder : {self / ".." / "lib" / "tessera", self}) {
    const auto path = folder / name;
    if (access(path.c_str(), X_OK) == 0) return path.string();
  }
  return base::fail(base::Code::kNotFound,
                    fmt::format("{} is neither beside {} nor in ../lib/tessera: it is built where "
                                "that MPI's compiler is installed",
                                name, self.string()));
}

[[noreturn]] void become_peer(const std::string& program, const std::string& launcher) {
  // Open MPI refuses root, and warns about fabrics that a single process does not use.
  setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
  setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
  setenv("OMPI_MCA_btl", "self", 1);
  setenv("OMPI_MCA_pml", "ob1", 1);
  if (launcher.empty()) {
    execl(program.c_str(), program.c_str(), nullptr);
  } else {
    execlp(launcher.c_str(), launcher.c_str(), "-n", "1", program.c_str(), nullptr);
  }
  _exit(127);
}

void close_fd(int& fd) {
  if (fd >= 0) close(fd);
  fd = -1;
}

}  // namespace

base::Result<std::unique_ptr<PackPeer>> PackPeer::start(const std::string& mpi) {
  TESSERA_TRY(const std::string program, find_program(mpi));
  std::unique_ptr<PackPeer> peer(new PackPeer);
  for (const std::string& launcher : {std::string(), "mpiexec." + mpi}) {
    TESSERA_TRY_VOID(peer->spawn(program, launcher));
    const base::Result<std::string> greeting = peer->read_line();
    if (greeting && greeting->starts_with("ready ")) {
      peer->version_ = greeting->substr(6);
      return peer;
    }
    peer->end();
  }
  return base::fail(base::Code::kFailed,
                    fmt::format("{} starts neither alone nor under mpiexec", program));
}

base::Result<void> PackPeer::spawn(const std::string& program, const std::string& launcher) {
  signal(SIGPIPE, SIG_IGN);  // a child that died is seen as EPIPE
  std::array<int, 2> down = {-1, -1};
  std::array<int, 2> up = {-1, -1};
  if (pipe2(down.data(), O_CLOEXEC) != 0) return base::fail_errno(errno, "cannot make a pipe");
  if (pipe2(up.data(), O_CLOEXEC) != 0) {
    const int cause = errno;
    close(down[0]);
    close(down[1]);
    return base::fail_errno(cause, "cannot make a pipe");
  }
  child_ = fork();
  if (child_ == 0) {
    dup2(down[0], STDIN_FILENO);
    dup2(up[1], STDOUT_FILENO);
    become_peer(program, launcher);
  }
  const int cause = errno;
  close(down[0]);
  close(up[1]);
  to_child_ = down[1];
  from_child_ = up[0];
  if (child_ < 0) return base::fail_errno(cause, "cannot start " + program);
  return {};
}

void PackPeer::end() {
  close_fd(to_child_);
  close_fd(from_child_);
  if (child_ > 0) waitpid(child_, nullptr, 0);
  child_ = -1;
  unread_.clear();
}

PackPeer::~PackPeer() { end(); }

base::Result<std::string> PackPeer::read_line() {
  for (;;) {
    const size_t line_end = unread_.find('\n');
    if (line_end != std::string::npos) {
      std::string line = unread_.substr(0, line_end);
      unread_.erase(0, line_end + 1);
      return line;
    }
    pollfd waiting = {from_child_, POLLIN, 0};
    const int ready = poll(&waiting, 1, kAnswerTimeoutMs);
    if (ready == 0) {
      kill(child_, SIGKILL);
      return base::fail(base::Code::kFailed, "the MPI peer did not answer within a minute");
    }
    std::array<char, 512> buffer;
    const ssize_t got = read(from_child_, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return base::fail(base::Code::kFailed, "the MPI peer ended");
    unread_.append(buffer.data(), static_cast<size_t>(got));
  }
}

base::Result<std::string> PackPeer::ask(const std::string& line) {
  const std::string whole = line + "\n";
  if (write(to_child_, whole.data(), whole.size()) != static_cast<ssize_t>(whole.size())) {
    return base::fail_errno(errno, "cannot write to the MPI peer");
  }
  TESSERA_TRY(std::string answer, read_line());
  if (answer.starts_with("error")) {
    return base::fail(base::Code::kFailed, fmt::format("{} on '{}': {}", version_, line, answer));
  }
  return answer;
}

base::Result<std::string> PackPeer::prepare(const StridedLayout& layout) {
  TESSERA_TRY(const std::string answer, ask(fmt::format("prepare {} {} {}", layout.run_bytes,
                                                        layout.stride_bytes, layout.count)));
  return answer.substr(std::min<size_t>(3, answer.size()));
}

base::Result<void> PackPeer::prepare_as(const StridedLayout& layout, const std::string& forms) {
  TESSERA_TRY_VOID(ask(fmt::format("prepare {} {} {} {}", layout.run_bytes, layout.stride_bytes,
                                   layout.count, forms)));
  return {};
}

base::Result<double> PackPeer::measure(const std::string& line) {
  TESSERA_TRY(const std::string answer, ask(line));
  double ns = 0;
  const char* end = answer.data() + answer.size();
  if (std::from_chars(answer.data(), end, ns).ec != std::errc()) {
    return base::fail(base::Code::kFailed, "the MPI peer answered '" + answer + "'");
  }
  return ns;
}

base::Result<double> PackPeer::pack(int64_t repetitions) {
  return measure(fmt::format("pack {}", repetitions));
}

base::Result<double> PackPeer::unpack(int64_t repetitions) {
  return measure(fmt::format("unpack {}", repetitions));
}

}  // namespace tessera::bench
