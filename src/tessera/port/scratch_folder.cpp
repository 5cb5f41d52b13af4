#include "tessera/port/scratch_folder.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <filesystem>

#include "tessera/port/start_program.hpp"
#include "tessera/port/system_random.hpp"

namespace tessera::port {

namespace {

// In a child: removes the folder once no other process holds the pipe's other end. Processes that
// are still ending may make a file meanwhile, so it tries for a while.
[[noreturn]] void remove_after_parent(const std::string& path, int read_end) {
  constexpr int kTries = 50;
  constexpr useconds_t kPauseUs = 100'000;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) ::signal(signal, SIG_IGN);
  // Also the pipes of other folders, whose children would wait for this one. Whoever reads what the
  // parent prints shall see its end.
  ::dup2(read_end, 0);
  ::close(1);
  ::close(2);
  close_all_but_standard();
  char nothing = 0;
  while (::read(0, &nothing, 1) < 0 && errno == EINTR) {
  }
  std::error_code error;
  for (int i = 0; i < kTries; ++i) {
    std::filesystem::remove_all(path, error);
    if (!error) break;
    ::usleep(kPauseUs);
  }
  ::_exit(0);
}

}  // namespace

base::Result<ScratchFolder> ScratchFolder::make(const std::string& above,
                                                const std::string& prefix) {
  SystemRandom random;
  char digits[17];
  std::snprintf(digits, sizeof(digits), "%016llx", static_cast<unsigned long long>(random.next()));
  const std::string path = above + "/" + prefix + "-" + digits;
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return base::fail_errno(errno, "cannot make a pipe");
  const Descriptor read_end(ends[0]);
  ScratchFolder folder;
  folder.path_ = path;
  folder.write_end_ = Descriptor(ends[1]);
  // Before the folder is there, so that none is without somebody to remove it.
  folder.child_ = ::fork();
  if (folder.child_ == 0) remove_after_parent(path, read_end.number());
  if (folder.child_ < 0) return base::fail_errno(errno, "cannot start a process");
  if (::mkdir(path.c_str(), 0700) != 0) return base::fail_errno(errno, "cannot make " + path);
  return folder;
}

ScratchFolder::~ScratchFolder() {
  { const Descriptor ended(std::move(write_end_)); }
  while (child_ > 0 && ::waitpid(child_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace tessera::port
