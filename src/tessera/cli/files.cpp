#include "tessera/cli/files.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

namespace tessera::cli {

using base::Code;
using base::Result;

namespace {

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (number_ > STDERR_FILENO) ::close(number_);
  }
  [[nodiscard]] int get() const { return number_; }

 private:
  int number_;
};

Result<std::string> read_up_to(int descriptor, const std::string& path, int64_t size_bytes_max) {
  std::string content;
  std::string buffer(size_t{1} << 16, '\0');
  for (;;) {
    const ssize_t got = ::read(descriptor, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return base::fail_errno(errno, fmt::format("cannot read {}", path));
    if (got == 0) return content;
    content.append(buffer, 0, static_cast<size_t>(got));
    if (content.size() > static_cast<size_t>(size_bytes_max)) {
      return base::fail(Code::kInvalid, fmt::format("{} has more than {} bytes, the largest that "
                                                    "is read",
                                                    path, size_bytes_max));
    }
  }
}

Result<void> write_all(int descriptor, const std::string& path, std::string_view content) {
  while (!content.empty()) {
    const ssize_t put = ::write(descriptor, content.data(), content.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return base::fail_errno(errno, fmt::format("cannot write {}", path));
    content.remove_prefix(static_cast<size_t>(put));
  }
  return {};
}

// Devices such as /dev/stdout are written in place; they cannot be replaced.
Result<void> write_in_place(const std::string& path, std::string_view content) {
  const Descriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (file.get() < 0) return base::fail_errno(errno, fmt::format("cannot write {}", path));
  return write_all(file.get(), path, content);
}

}  // namespace

Result<std::string> read_whole(const std::string& path, int64_t size_bytes_max) {
  if (path == "-") return read_up_to(STDIN_FILENO, "standard input", size_bytes_max);
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) return base::fail_errno(errno, fmt::format("cannot read {}", path));
  struct stat status {};
  if (::fstat(file.get(), &status) == 0 && S_ISDIR(status.st_mode)) {
    return base::fail(Code::kInvalid, fmt::format("{} is a directory; name a file", path));
  }
  return read_up_to(file.get(), path, size_bytes_max);
}

Result<void> write_whole(const std::string& path, std::string_view content, OutputKind kind) {
  if (path == "-") {
    return base::fail(Code::kInvalid, "standard output is taken; name a file instead of -");
  }
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) {
    return write_in_place(path, content);
  }
  auto written = [&]() -> Result<void> {
    TESSERA_TRY(auto output, OutputFile::create(path, {.own = kind}));
    TESSERA_TRY_VOID(output.file().write_at(0, base::bytes_of(content)).status);
    return output.finish();
  }();
  if (written || written.error().errno_value == 0) return written;
  base::Error error = written.error();
  error.context = fmt::format("cannot write {}", path);
  return base::Failure{std::move(error)};
}

}  // namespace tessera::cli
