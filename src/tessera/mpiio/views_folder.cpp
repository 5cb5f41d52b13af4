#include "tessera/mpiio/views_folder.hpp"

#include <fcntl.h>
#include <stdio.h>  // renameat2
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>

#include "tessera/port/size_limit.hpp"
#include "tessera/port/system_call.hpp"
#include "tessera/port/system_random.hpp"

namespace tessera::mpiio {

using base::Result;

namespace {

constexpr int kNumberMax = 100'000;

enum class Holder { kNobody, kSameFile, kAnother };

// About which file the text at a path is.
Holder holder_of(const std::string& path, const std::string& begin) {
  std::ifstream stream(path);
  if (!stream) return ::access(path.c_str(), F_OK) == 0 ? Holder::kAnother : Holder::kNobody;
  std::string found(begin.size(), '\0');
  stream.read(found.data(), static_cast<std::streamsize>(found.size()));
  return stream && found == begin ? Holder::kSameFile : Holder::kAnother;
}

Result<void> write_text(const std::string& path, const std::string& text) {
  errno = 0;
  const port::WithoutSizeSignal quiet;
  std::ofstream stream(path, std::ios::binary);
  stream << text;
  stream.close();
  if (!stream) return base::fail_errno(errno != 0 ? errno : EIO, "cannot write " + path);
  return {};
}

// Gives the draft a name that nobody has; false if somebody has it by now.
Result<bool> rename_to_new(const std::string& draft, const std::string& path) {
  const auto from = draft.c_str();
  const auto to = path.c_str();
  if (::renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0) return true;
  if (errno == EEXIST) return false;
  const bool cannot = errno == EINVAL || errno == ENOTSUP || port::is_missing_call(errno);
  if (cannot && ::rename(from, to) == 0) return true;
  return base::fail_errno(errno, "cannot write " + path);
}

// Gives the draft a name, the first one that is free or of the same file.
Result<std::string> rename_draft(const std::string& draft, const std::string& folder,
                                 const RecordedText& recorded) {
  for (int number = 1; number <= kNumberMax; ++number) {
    const std::string path = folder + "/" + recorded.base +
                             (number > 1 ? "." + std::to_string(number) : "") + ".views.json";
    Holder holder = holder_of(path, recorded.begin);
    if (holder == Holder::kNobody) {
      TESSERA_TRY(const bool named, rename_to_new(draft, path));
      if (named) return path;
      holder = holder_of(path, recorded.begin);
    }
    if (holder != Holder::kSameFile) continue;
    if (::rename(draft.c_str(), path.c_str()) == 0) return path;
    return base::fail_errno(errno, "cannot write " + path);
  }
  return base::fail(base::Code::kFailed, folder + " has too many views files of " + recorded.base);
}

}  // namespace

Result<std::string> put_text(const std::string& folder, const RecordedText& recorded) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return base::fail_errno(error.value(), "cannot make the folder " + folder);
  port::SystemRandom random;
  const std::string draft = folder + "/.views-" + std::to_string(random.next());
  auto path = [&]() -> Result<std::string> {
    TESSERA_TRY_VOID(write_text(draft, recorded.text));
    return rename_draft(draft, folder, recorded);
  }();
  if (!path) ::unlink(draft.c_str());
  return path;
}

}  // namespace tessera::mpiio
