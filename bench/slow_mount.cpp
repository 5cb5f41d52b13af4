#include "bench/slow_mount.hpp"

#include <fmt/format.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <utility>

#include "bench/case.hpp"

namespace tessera::bench {

namespace {

using base::Code;
using base::Result;

constexpr const char* kDevice = "/dev/fuse";
constexpr double kStartNs = 10e9;
constexpr double kEndSeconds = 10;
constexpr double kNapSeconds = 0.001;

Result<std::string> find_program() {
  auto path = program_beside("../lib/tessera/tessera-slow-fs");
  if (path) return path;
  return base::fail(Code::kNotFound, path.error().context + ": it is built where libfuse 3.12 is");
}

bool is_mounted(const std::string& folder) {
  struct stat above {};
  struct stat mount {};
  if (::stat((folder + "/mount").c_str(), &mount) != 0) return errno == ENOTCONN;
  return ::stat(folder.c_str(), &above) == 0 && above.st_dev != mount.st_dev;
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
  TESSERA_TRY(ChildProgram started, ChildProgram::start({program, path + "/files", path + "/mount",
                                                         std::to_string(kDelayUs)}));
  SlowMount mount(std::move(folder), std::move(started));
  TESSERA_TRY_VOID(mount.wait_until_mounted());
  return mount;
}

Result<void> SlowMount::wait_until_mounted() {
  const double started_at = now_ns();
  while (!is_mounted(folder_.path())) {
    if (program_.ends_within(kNapSeconds)) {
      return base::fail(Code::kFailed, "the slow file system could not be mounted");
    }
    if (now_ns() - started_at > kStartNs) {
      return base::fail(Code::kFailed, "the slow file system did not come up");
    }
  }
  return {};
}

SlowMount::~SlowMount() {
  if (folder_.path().empty()) return;
  program_.ask_to_end();
  // One that crashed, or does not answer, has not unmounted.
  if (!program_.ends_within(kEndSeconds) || is_mounted(folder_.path())) {
    ::umount2(path().c_str(), MNT_DETACH);
  }
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
