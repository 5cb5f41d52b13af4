#include "tessera/port/key_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <span>
#include <string_view>
#include <utility>

#include "tessera/port/descriptor.hpp"

namespace tessera::port {

namespace {

constexpr mode_t kOwnersMode = 0600;
// The digits, an end of line, and a byte by which a longer file is noticed.
constexpr size_t kTextBytesMax = 2 * SecretKey::kBytes + 3;

base::Failure refused(const std::string& path, const std::string& why) {
  return base::fail(base::Code::kDenied, "key file " + path + ": " + why);
}

base::Result<void> check_owner(const Descriptor& file, const std::string& path) {
  struct stat status {};
  if (::fstat(file.number(), &status) == -1) return base::fail_errno(errno, "key file " + path);
  if (!S_ISREG(status.st_mode)) return refused(path, "is not a plain file");
  if (status.st_uid != ::geteuid()) return refused(path, "belongs to another user");
  if ((status.st_mode & 077) != 0) {
    return refused(path, "others may read or write it; run: chmod 600 " + path);
  }
  return {};
}

std::string_view without_line_end(std::string_view text) {
  if (text.ends_with('\n')) text.remove_suffix(1);
  if (text.ends_with('\r')) text.remove_suffix(1);
  return text;
}

base::Result<void> write_all(const Descriptor& file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = ::write(file.number(), text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return base::fail_errno(errno, "write the key");
    text.remove_prefix(static_cast<size_t>(count));
  }
  return {};
}

base::Result<void> write_key(const Descriptor& file, const SecretKey& key) {
  // Whatever mask the user has, no more and no less than this.
  if (::fchmod(file.number(), kOwnersMode) == -1) return base::fail_errno(errno, "set its mode");
  base::Result<void> written;
  key.reveal([&](std::string_view text) { written = write_all(file, text); });
  if (written) written = write_all(file, "\n");
  if (written && ::fsync(file.number()) == -1) return base::fail_errno(errno, "write the key");
  return written;
}

}  // namespace

base::Result<SecretKey> read_key_file(const std::string& path) {
  // Opening a pipe would else wait for its other end.
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file.valid()) return base::fail_errno(errno, "key file " + path);
  TESSERA_TRY_VOID(check_owner(file, path));
  std::array<char, kTextBytesMax> text{};
  const ssize_t count = ::read(file.number(), text.data(), text.size());
  if (count < 0) return base::fail_errno(errno, "key file " + path);
  auto key = SecretKey::parse(without_line_end({text.data(), static_cast<size_t>(count)}));
  wipe(std::as_writable_bytes(std::span(text)));
  if (!key) return base::fail(key.error().code, "key file " + path + ": " + key.error().context);
  return key;
}

base::Result<void> make_key_file(const std::string& path, Random& random) {
  const Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kOwnersMode));
  if (!file.valid()) return base::fail_errno(errno, "make the key file " + path);
  const auto written = write_key(file, SecretKey::draw(random));
  if (written) return {};
  // Half a key is of no use, and stands in the way of the next attempt.
  ::unlink(path.c_str());
  return base::Failure{{written.error().code, written.error().errno_value,
                        "make the key file " + path + ": " + written.error().context}};
}

base::Result<std::optional<SecretKey>> key_for(const std::string& address,
                                               const std::string& file) {
  if (address.starts_with("unix:")) return std::optional<SecretKey>();
  const char* variable = std::getenv("TESSERA_KEY_FILE");
  const std::string path = file.empty() && variable != nullptr ? variable : file;
  if (path.empty()) {
    return base::fail(base::Code::kDenied, address +
                                               " asks for a key: name the file that holds "
                                               "it, or set TESSERA_KEY_FILE");
  }
  TESSERA_TRY(auto key, read_key_file(path));
  return std::optional<SecretKey>(std::move(key));
}

}  // namespace tessera::port
