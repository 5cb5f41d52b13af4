#include "tessera/port/posix_disk.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <string_view>

#include "tessera/base/checked.hpp"
#include "tessera/port/descriptor.hpp"

namespace tessera::port {

namespace {

// Repeats a system call that answers -1 and EINTR.
template <typename Call>
auto uninterrupted(Call call) {
  for (;;) {
    const auto answer = call();
    if (answer != -1 || errno != EINTR) return answer;
  }
}

base::Result<void> check(int answer, const std::string& what) {
  if (answer == -1) return base::fail_errno(errno, what);
  return {};
}

class PosixFile final : public File {
 public:
  PosixFile(std::string path, Descriptor descriptor)
      : File(std::move(path)), descriptor_(std::move(descriptor)) {}

  base::Result<void> truncate(int64_t size) override {
    TESSERA_ASSERT(size >= 0);
    return check(uninterrupted([&] { return ::ftruncate(descriptor_.number(), size); }),
                 "set the size of " + path() + " to " + std::to_string(size));
  }

  base::Result<int64_t> size() override {
    struct stat status {};
    TESSERA_TRY_VOID(check(::fstat(descriptor_.number(), &status), "get the size of " + path()));
    return int64_t{status.st_size};
  }

  base::Result<void> sync() override {
    // Not repeated on EINTR: whatever the reason, a sync that failed has promised nothing (D3).
    return check(::fsync(descriptor_.number()), "sync " + path());
  }

 protected:
  Attempt read_some(int64_t offset, std::span<const iovec> memory) override {
    return answered(::preadv(descriptor_.number(), memory.data(),
                             base::exact_cast<int>(memory.size()), offset));
  }

  Attempt write_some(int64_t offset, std::span<const iovec> memory) override {
    return answered(::pwritev(descriptor_.number(), memory.data(),
                              base::exact_cast<int>(memory.size()), offset));
  }

 private:
  static Attempt answered(ssize_t answer) {
    if (answer < 0) return {0, errno};
    return {answer, 0};
  }

  const Descriptor descriptor_;
};

base::Result<std::unique_ptr<File>> open_file(const std::string& path, int flags,
                                              const char* what) {
  const int number = uninterrupted([&] { return ::open(path.c_str(), flags | O_CLOEXEC, 0600); });
  if (number < 0) return base::fail_errno(errno, what + path);
  return std::unique_ptr<File>(std::make_unique<PosixFile>(path, Descriptor(number)));
}

struct CloseDirectory {
  void operator()(DIR* directory) const { ::closedir(directory); }
};

}  // namespace

base::Result<std::unique_ptr<File>> PosixDisk::open(const std::string& path, Access access) {
  return open_file(path, access == Access::kRead ? O_RDONLY : O_RDWR, "open ");
}

base::Result<std::unique_ptr<File>> PosixDisk::create(const std::string& path) {
  return open_file(path, O_RDWR | O_CREAT | O_EXCL, "create ");
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
  const std::string what = "sync directory " + directory;
  const Descriptor opened(
      uninterrupted([&] { return ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); }));
  if (!opened.valid()) return base::fail_errno(errno, what);
  return check(::fsync(opened.number()), what);
}

}  // namespace tessera::port
