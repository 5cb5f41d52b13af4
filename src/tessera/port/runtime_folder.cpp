#include "tessera/port/runtime_folder.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

namespace tessera::port {

namespace {

constexpr mode_t kOwnerOnly = 0700;

bool is_own_folder(const std::string& path) {
  struct stat found {};
  return ::stat(path.c_str(), &found) == 0 && S_ISDIR(found.st_mode) && found.st_uid == ::geteuid();
}

std::string place_of_folder() {
  const char* named = std::getenv("XDG_RUNTIME_DIR");
  if (named != nullptr && named[0] == '/' && is_own_folder(named)) {
    return std::string(named) + "/tessera";
  }
  return "/tmp/tessera-" + std::to_string(::geteuid());
}

}  // namespace

base::Result<std::string> runtime_folder() {
  std::string path = place_of_folder();
  if (::mkdir(path.c_str(), kOwnerOnly) == -1 && errno != EEXIST) {
    return base::fail_errno(errno, "make the folder " + path);
  }
  struct stat found {};
  // Not through a link, which somebody else may have put there.
  if (::lstat(path.c_str(), &found) == -1) {
    return base::fail_errno(errno, "look at the folder " + path);
  }
  const bool own = S_ISDIR(found.st_mode) && found.st_uid == ::geteuid();
  if (!own || (found.st_mode & 0777) != kOwnerOnly) {
    return base::fail(base::Code::kDenied,
                      path + " is not a folder that only you may enter (mode 0700); remove it");
  }
  return path;
}

}  // namespace tessera::port
