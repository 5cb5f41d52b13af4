#include "tessera/port/posix_disk.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <string_view>

#include "tessera/port/descriptor.hpp"
#include "tessera/port/fresh_file.hpp"
#include "tessera/port/plain_file.hpp"
#include "tessera/port/system_call.hpp"

namespace tessera::port {

namespace {

struct CloseDirectory {
  void operator()(DIR* directory) const { ::closedir(directory); }
};

OpenMode mode_of(Access access) {
  return {.read = access != Access::kDirectWrite,
          .write = access != Access::kRead,
          .direct = access == Access::kDirectWrite};
}

base::Result<std::unique_ptr<File>> open_file(const std::string& path, const OpenMode& mode) {
  TESSERA_TRY(auto file, PlainFile::open(path, mode));
  return std::unique_ptr<File>(std::move(file));
}

}  // namespace

base::Result<std::unique_ptr<File>> PosixDisk::open(const std::string& path, Access access) {
  return open_file(path, mode_of(access));
}

base::Result<std::unique_ptr<File>> PosixDisk::open_fresh(const std::string& reach,
                                                          const std::string& path, Access access) {
  TESSERA_TRY(auto file, PlainFile::open_as(path, reach, mode_of(access)));
  return std::unique_ptr<File>(std::move(file));
}

base::Result<std::unique_ptr<File>> PosixDisk::create(const std::string& path) {
  constexpr OpenMode kNew = {
      .read = true, .write = true, .create = true, .exclusive = true, .permissions = 0600};
  return open_file(path, kNew);
}

base::Result<std::unique_ptr<FreshFile>> PosixDisk::make_fresh(const std::string& path) {
  TESSERA_TRY(auto fresh, PosixFreshFile::create(path, 0600));
  return std::unique_ptr<FreshFile>(std::move(fresh));
}

base::Result<void> PosixDisk::remove(const std::string& path) {
  return check(::unlink(path.c_str()), "remove " + path);
}

base::Result<void> PosixDisk::rename(const std::string& from, const std::string& to) {
  return check(::rename(from.c_str(), to.c_str()), "rename " + from + " to " + to);
}

base::Result<void> PosixDisk::make_directory(const std::string& path) {
  return check(::mkdir(path.c_str(), 0700), "make directory " + path);
}

base::Result<std::vector<std::string>> PosixDisk::list(const std::string& directory) {
  const std::unique_ptr<DIR, CloseDirectory> stream(::opendir(directory.c_str()));
  if (!stream) return base::fail_errno(errno, "list " + directory);
  std::vector<std::string> names;
  for (;;) {
    errno = 0;
    const dirent* entry = ::readdir(stream.get());
    if (entry == nullptr) break;
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  if (errno != 0) return base::fail_errno(errno, "list " + directory);
  std::sort(names.begin(), names.end());
  return names;
}

base::Result<void> PosixDisk::sync_directory(const std::string& directory) {
  TESSERA_TRY(const OpenDirectory opened, OpenDirectory::open(directory));
  return opened.sync();
}

base::Result<OpenDirectory> OpenDirectory::open(const std::string& path) {
  Descriptor opened(
      uninterrupted([&] { return ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); }));
  if (!opened.valid()) return base::fail_errno(errno, "open directory " + path);
  return OpenDirectory(path, std::move(opened));
}

base::Result<void> OpenDirectory::sync() const {
  return check(::fsync(descriptor_.number()), "sync directory " + path_);
}

}  // namespace tessera::port
