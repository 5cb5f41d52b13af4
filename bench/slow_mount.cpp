#include "bench/slow_mount.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <utility>

#include "bench/case.hpp"

namespace tessera::bench {

namespace {

namespace fs = std::filesystem;

using base::Code;
using base::Result;

constexpr const char* kDevice = "/dev/fuse";
constexpr double kStartNs = 10e9;
constexpr double kEndNs = 10e9;
constexpr int kNapUs = 1000;

Result<std::string> find_program() {
  std::error_code error;
  const fs::path own = fs::read_symlink("/proc/self/exe", error).parent_path();
  const std::string path = (own / ".." / "lib" / "tessera" / "tessera-slow-fs").string();
  if (::access(path.c_str(), X_OK) == 0) return path;
  return base::fail(Code::kNotFound, path + " is missing: it is built where libfuse 3.12 is");
}

[[noreturn]] void become_program(const std::string& program, const std::string& folder,
                                 pid_t parent) {
  // Asked to end, it unmounts; so nothing stays mounted when this process is killed.
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent) ::_exit(127);
  const std::string files = folder + "/files";
  const std::string mount = folder + "/mount";
  const std::string delay = std::to_string(SlowMount::kDelayUs);
  ::execl(program.c_str(), program.c_str(), files.c_str(), mount.c_str(), delay.c_str(), nullptr);
  ::_exit(127);
}

bool is_mounted(const std::string& folder) {
  struct stat above {};
  struct stat mount {};
  return ::stat(folder.c_str(), &above) == 0 && ::stat((folder + "/mount").c_str(), &mount) == 0 &&
         above.st_dev != mount.st_dev;
}

}  // namespace

Result<SlowMount> SlowMount::start() {
  if (::access(kDevice, R_OK | W_OK) != 0) {
    return base::fail(Code::kNotFound,
                      std::string("a slow file system needs ") + kDevice + ", which is not there");
  }
  TESSERA_TRY(const std::string program, find_program());
  TESSERA_TRY(ScratchFolder folder, ScratchFolder::make());
  for (const char* name : {"/files", "/mount"}) {
    const std::string path = folder.path() + name;
    if (::mkdir(path.c_str(), 0700) != 0) return base::fail_errno(errno, "cannot make " + path);
  }
  const std::string path = folder.path();
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child == 0) become_program(program, path, parent);
  if (child < 0) return base::fail_errno(errno, "cannot start " + program);
  SlowMount mount(std::move(folder), child);
  TESSERA_TRY_VOID(mount.wait_until_mounted());
  return mount;
}

Result<void> SlowMount::wait_until_mounted() {
  const double started_at = now_ns();
  while (!is_mounted(folder_.path())) {
    if (has_ended()) return base::fail(Code::kFailed, "the slow file system could not be mounted");
    if (now_ns() - started_at > kStartNs) {
      return base::fail(Code::kFailed, "the slow file system did not come up");
    }
    ::usleep(kNapUs);
  }
  return {};
}

bool SlowMount::has_ended() {
  if (child_ > 0 && ::waitpid(child_, nullptr, WNOHANG) == 0) return false;
  child_ = -1;
  return true;
}

SlowMount::SlowMount(SlowMount&& other) noexcept
    : folder_(std::move(other.folder_)), child_(std::exchange(other.child_, -1)) {}

SlowMount::~SlowMount() {
  if (child_ > 0) ::kill(child_, SIGTERM);
  const double asked_at = now_ns();
  while (!has_ended() && now_ns() - asked_at < kEndNs) ::usleep(kNapUs);
  // Of a program that crashed, or does not answer.
  if (!folder_.path().empty()) ::umount2(path().c_str(), MNT_DETACH);
  if (child_ <= 0) return;
  ::kill(child_, SIGKILL);
  ::waitpid(child_, nullptr, 0);
}

Result<SlowMount::Requests> SlowMount::requests() const {
  std::array<char, 128> text{};
  const ssize_t length =
      ::getxattr(path().c_str(), "user.tessera.requests", text.data(), text.size() - 1);
  if (length < 0) return base::fail_errno(errno, "cannot ask the slow file system");
  long long reads = 0;
  long long bytes = 0;
  long long largest = 0;
  if (std::sscanf(text.data(), "%lld %lld %lld", &reads, &bytes, &largest) != 3) {
    return base::fail(Code::kFailed, "the slow file system answered no counts");
  }
  return Requests{reads, bytes, largest};
}

}  // namespace tessera::bench
