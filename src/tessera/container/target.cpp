#include "tessera/container/target.hpp"

#include <sys/stat.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

#include "tessera/container/writer_claim.hpp"

namespace tessera::container {

using base::Code;
using base::Result;
using port::PlainFile;

namespace {

// For writing, which the claim needs, or for reading where that is all that is allowed.
Result<std::unique_ptr<PlainFile>> open_existing(const std::string& path) {
  auto file = PlainFile::open(path, {.read = true, .write = true});
  const int why = file ? 0 : file.error().errno_value;
  const bool read_only = why == EACCES || why == EPERM || why == EROFS || why == ETXTBSY;
  return read_only ? PlainFile::open(path, {.read = true}) : std::move(file);
}

// Renaming to a symbolic link would replace the link and not the file. What is no regular file, as
// where /dev/stdout leads, has no path and is refused later.
Result<std::string> without_link(const std::string& path) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0 || !S_ISLNK(status.st_mode)) return path;
  const bool found = ::stat(path.c_str(), &status) == 0;
  if (found && !S_ISREG(status.st_mode)) return path;
  char* const real = found ? ::realpath(path.c_str(), nullptr) : nullptr;
  if (real == nullptr) return base::fail_errno(errno, "follow the symbolic link " + path);
  std::string resolved = real;
  std::free(real);
  return resolved;
}

}  // namespace

Result<Target> Target::hold(const std::string& path, port::Existing existing,
                            MayReplace may_replace) {
  TESSERA_TRY(std::string place, without_link(path));
  Target target(std::move(place), existing, std::move(may_replace));
  TESSERA_TRY_VOID(target.take());
  return target;
}

bool Target::is_named() const {
  if (!file_) return false;
  struct stat named {};
  const auto identity = file_->identity();
  return ::stat(path_.c_str(), &named) == 0 && identity &&
         *identity == PlainFile::Identity{uint64_t{named.st_dev}, uint64_t{named.st_ino}};
}

Result<void> Target::take() {
  file_.reset();
  if (path_ == "-") {
    return base::fail(Code::kInvalid,
                      "this cannot be written to standard output; name a file instead of -");
  }
  struct stat status {};
  if (::stat(path_.c_str(), &status) != 0) {
    if (errno == ENOENT) return {};
    return base::fail_errno(errno, "look at " + path_);
  }
  if (!S_ISREG(status.st_mode)) {
    return base::fail(Code::kInvalid, path_ + " is not a regular file; name another");
  }
  if (existing_ == port::Existing::kKeep) {
    return base::fail(Code::kInvalid, path_ + " is there already; --force replaces it");
  }
  TESSERA_TRY(file_, open_existing(path_));
  if (may_replace_) TESSERA_TRY_VOID(may_replace_(*file_));
  // A file that may only be read cannot be claimed, and that is not told; a writer is seen all the
  // same.
  if (!has_writer(*file_)) return claim_for_writing(*file_);
  return base::fail(Code::kRetry,
                    path_ + " is open for writing elsewhere; wait until that job has ended");
}

Result<void> Target::publish(port::FreshFile& fresh) {
  constexpr int kTriesMax = 100;
  for (int tries = 1;; ++tries) {
    if (!is_named()) TESSERA_TRY_VOID(take());
    const bool replaces = file_ != nullptr;
    auto published = fresh.publish(replaces ? port::Existing::kReplace : port::Existing::kKeep);
    // Somebody was quicker: what has the name now may be written. It may also be a link to nothing.
    const bool appeared = !published && !replaces && published.error().errno_value == EEXIST;
    if (appeared && existing_ == port::Existing::kReplace && tries < kTriesMax) continue;
    if (published) file_.reset();  // so that the space of what was replaced is free
    return published;
  }
}

Result<void> Target::require_unchanged() const {
  if (is_named()) return {};
  return base::fail(Code::kRetry,
                    path_ +
                        " was replaced or removed meanwhile; what has the name now was left "
                        "as it is");
}

Result<void> copy_permissions(const PlainFile& from, const std::string& to) {
  struct stat status {};
  if (::fstat(from.descriptor(), &status) != 0) {
    return base::fail_errno(errno, "read the permissions of " + from.path());
  }
  // Only root may give files away; where that is refused they stay with whoever made them.
  const bool given = ::chown(to.c_str(), status.st_uid, status.st_gid) == 0;
  const mode_t permissions = status.st_mode & (given ? 07777U : 0777U);
  if (::chmod(to.c_str(), permissions) == 0) return {};
  return base::fail_errno(errno, "set the permissions of " + to);
}

bool is_one_file(const std::string& one, const std::string& other) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  if (fs::equivalent(one, other, ignored)) return true;
  const fs::path whole = fs::weakly_canonical(one, ignored);
  return !whole.empty() && whole == fs::weakly_canonical(other, ignored);
}

}  // namespace tessera::container
