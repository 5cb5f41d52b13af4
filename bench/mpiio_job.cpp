#include "bench/mpiio_job.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "bench/case.hpp"

namespace tessera::bench {

namespace {

namespace fs = std::filesystem;

constexpr double kStartSeconds = 60;
constexpr double kPrepareSeconds = 60;
constexpr double kEndSeconds = 10;
constexpr int kPollMs = 200;

fs::path own_folder() {
  std::error_code error;
  return fs::read_symlink("/proc/self/exe", error).parent_path();
}

base::Result<std::string> find_peer(const std::string& mpi) {
  const fs::path path = own_folder() / ".." / "lib" / "tessera" / ("tessera-mpiio-peer-" + mpi);
  if (access(path.c_str(), X_OK) == 0) return path.string();
  return base::fail(base::Code::kNotFound,
                    fmt::format("{} is missing: it is built where that MPI's compiler is installed",
                                path.string()));
}

base::Result<std::string> find_library(const JobKind& kind) {
  const fs::path base = kind.build.empty() ? own_folder() / ".." : fs::path(kind.build);
  const fs::path path = base / "lib" / fmt::format("libtessera-mpiio-{}.so", kind.mpi);
  std::error_code error;
  const fs::path whole = fs::canonical(path, error);
  if (!error) return whole.string();
  return base::fail(
      base::Code::kNotFound,
      fmt::format("{} is missing: there is nothing of ours to measure", path.string()));
}

[[noreturn]] void become_launcher(const std::vector<std::string>& command, int output) {
  for (const char* name : {"LD_PRELOAD", "ROMIO_HINTS", "OMPI_MCA_io", "OMPI_MCA_fcoll"}) {
    unsetenv(name);
  }
  setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
  setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
  setpgid(0, 0);                     // so that a job that hangs can be ended whole
  prctl(PR_SET_PDEATHSIG, SIGTERM);  // and none outlives a harness that was killed
  const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
  dup2(nothing, STDIN_FILENO);
  dup2(output, STDOUT_FILENO);
  dup2(output, STDERR_FILENO);
  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  execvp(words[0], words.data());
  _exit(127);
}

void write_all_lines(const std::vector<int>& fds, const std::string& line) {
  // A line is shorter than PIPE_BUF and the FIFO empty, so it goes whole or the job is gone.
  for (const int fd : fds) (void)!write(fd, line.data(), line.size());
}

base::Result<std::vector<double>> numbers_in(const std::string& answer) {
  std::vector<double> numbers;
  std::istringstream words(answer);
  std::string word;
  words >> word;
  while (words >> word) {
    double number = 0;
    const auto parsed = std::from_chars(word.data(), word.data() + word.size(), number);
    if (parsed.ec != std::errc() || parsed.ptr != word.data() + word.size()) {
      return base::fail(base::Code::kFailed, "the MPI-IO peer answered '" + answer + "'");
    }
    numbers.push_back(number);
  }
  return numbers;
}

}  // namespace

std::vector<std::string> launch_command(const JobKind& kind, const std::string& program,
                                        const std::string& preload, const std::string& folder) {
  std::vector<std::string> command;
  if (kind.mpi == "openmpi") {
    // More ranks than cores is what is measured: all contestants yield while they wait.
    command = {"mpiexec.openmpi", "--oversubscribe",     "--bind-to", "none",
               "--mca",           "mpi_yield_when_idle", "1"};
    if (!preload.empty()) command.insert(command.end(), {"-x", "LD_PRELOAD=" + preload});
  } else {
    command = {"mpiexec." + kind.mpi};
    if (!preload.empty()) command.insert(command.end(), {"-genv", "LD_PRELOAD", preload});
  }
  command.insert(command.end(), {"-n", std::to_string(kind.ranks)});
  command.insert(command.end(), kind.arguments.begin(), kind.arguments.end());
  command.insert(command.end(), {program, folder});
  return command;
}

base::Result<std::unique_ptr<MpiJob>> MpiJob::start(const JobKind& kind,
                                                    const std::string& scratch) {
  signal(SIGPIPE, SIG_IGN);
  std::unique_ptr<MpiJob> job(new MpiJob);
  job->title_ = fmt::format("{} ({}, {} ranks){}", kind.library, kind.mpi, kind.ranks,
                            kind.build.empty() ? "" : " of " + kind.build);
  TESSERA_TRY_VOID(job->make_folder(scratch, kind.ranks));
  TESSERA_TRY_VOID(job->launch(kind));
  TESSERA_TRY(const std::string greeting, job->read_line(kStartSeconds));
  const std::string expected = kind.tessera ? "ready tessera " : "ready stock ";
  if (!greeting.starts_with(expected)) {
    return base::fail(base::Code::kFailed, fmt::format("{} came up as '{}', not as '{}...'",
                                                       job->title_, greeting, expected));
  }
  job->version_ = greeting.substr(expected.size());
  return job;
}

base::Result<void> MpiJob::make_folder(const std::string& scratch, int ranks) {
  std::string name = scratch + "/job-XXXXXX";
  if (mkdtemp(name.data()) == nullptr) {
    return base::fail_errno(errno, "cannot make a folder in " + scratch);
  }
  folder_ = name;
  for (int rank = -1; rank < ranks; ++rank) {
    const std::string path =
        rank < 0 ? folder_ + "/answer" : fmt::format("{}/command.{}", folder_, rank);
    if (mkfifo(path.c_str(), 0600) != 0) return base::fail_errno(errno, "cannot make " + path);
    // Open for both, so that neither side waits for the other to open.
    const int fd = open(path.c_str(), O_RDWR | O_CLOEXEC);
    if (fd < 0) return base::fail_errno(errno, "cannot open " + path);
    if (rank < 0) {
      answers_ = fd;
    } else {
      commands_.push_back(fd);
    }
  }
  return {};
}

base::Result<void> MpiJob::launch(const JobKind& kind) {
  TESSERA_TRY(const std::string program, find_peer(kind.mpi));
  std::string preload;
  if (kind.tessera) {
    TESSERA_TRY(preload, find_library(kind));
  }
  const auto command = launch_command(kind, program, preload, folder_);
  const std::string log = folder_ + "/log";
  const int output = open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (output < 0) return base::fail_errno(errno, "cannot make " + log);
  child_ = fork();
  if (child_ == 0) become_launcher(command, output);
  const int cause = errno;
  close(output);
  if (child_ < 0) return base::fail_errno(cause, "cannot start " + command[0]);
  return {};
}

bool MpiJob::has_ended() {
  if (child_ <= 0) return true;
  if (waitpid(child_, nullptr, WNOHANG) == 0) return false;
  child_ = -1;
  return true;
}

bool MpiJob::ends_within(double seconds) {
  const double asked_at = now_ns();
  while (!has_ended()) {
    if (now_ns() - asked_at > seconds * 1e9) return false;
    usleep(1000);
  }
  return true;
}

void MpiJob::end() {
  for (const int fd : commands_) close(fd);
  commands_.clear();
  if (!ends_within(kEndSeconds)) end_by_force();
}

// The launcher ends its ranks when it is asked to end; killed, it would leave them behind.
void MpiJob::end_by_force() {
  if (child_ > 0) kill(child_, SIGTERM);
  if (ends_within(kEndSeconds)) return;
  kill(-child_, SIGKILL);
  waitpid(child_, nullptr, 0);
  child_ = -1;
}

MpiJob::~MpiJob() {
  end();
  if (answers_ >= 0) close(answers_);
  std::error_code ignored;
  if (!folder_.empty()) fs::remove_all(folder_, ignored);
}

std::string MpiJob::last_words() const {
  std::ifstream log(folder_ + "/log");
  std::string said;
  for (std::string line; std::getline(log, line);) {
    if (line.find_first_not_of("- \t") == std::string::npos) continue;
    said += (said.empty() ? "" : " | ") + line;
    if (said.size() > 400) break;
  }
  return said.empty() ? said : ", saying: " + said;
}

base::Result<std::string> MpiJob::read_line(double seconds) {
  const double asked_at = now_ns();
  for (;;) {
    const size_t line_end = unread_.find('\n');
    if (line_end != std::string::npos) {
      std::string line = unread_.substr(0, line_end);
      unread_.erase(0, line_end + 1);
      return line;
    }
    pollfd waiting = {answers_, POLLIN, 0};
    if (poll(&waiting, 1, kPollMs) > 0) {
      std::array<char, 1024> buffer;
      const ssize_t got = read(answers_, buffer.data(), buffer.size());
      if (got > 0) unread_.append(buffer.data(), static_cast<size_t>(got));
      continue;
    }
    if (has_ended()) {
      return base::fail(base::Code::kFailed, title_ + " ended" + last_words());
    }
    if (now_ns() - asked_at > seconds * 1e9) {
      end_by_force();
      return base::fail(base::Code::kFailed, fmt::format("{} did not answer within {} s{}", title_,
                                                         seconds, last_words()));
    }
  }
}

base::Result<std::vector<double>> MpiJob::ask(const std::string& line, double seconds) {
  if (!alive()) return base::fail(base::Code::kFailed, title_ + " has ended");
  write_all_lines(commands_, line + "\n");
  TESSERA_TRY(const std::string answer, read_line(seconds));
  if (answer.starts_with("ok ")) return numbers_in(answer);
  return base::fail(base::Code::kFailed, fmt::format("{} on '{}': {}", title_, line, answer));
}

base::Result<int64_t> MpiJob::prepare(const Workload& workload) {
  if (prepared_ == workload) return prepared_bytes_;
  prepared_ = {};
  TESSERA_TRY(const auto numbers,
              ask(fmt::format("prepare {} {} {} {}", workload.name, workload.args[0],
                              workload.args[1], workload.args[2]),
                  kPrepareSeconds));
  if (numbers.size() != 1) return base::fail(base::Code::kFailed, title_ + " answered no size");
  prepared_ = workload;
  prepared_bytes_ = static_cast<int64_t>(numbers[0]);
  return prepared_bytes_;
}

}  // namespace tessera::bench
