#include "tessera/mpiio/views_folder.hpp"

#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>

#include "tessera/base/bytes.hpp"
#include "tessera/port/fresh_file.hpp"

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

// Makes a complete file of it; false if somebody has the name by now, and it is not to be replaced.
Result<bool> put_at(const std::string& path, const std::string& text, port::Existing existing) {
  constexpr mode_t kPermissions = 0666;  // less the umask
  TESSERA_TRY(const auto fresh, port::PosixFreshFile::create(path, kPermissions));
  TESSERA_TRY_VOID(fresh->file().write_at(0, base::bytes_of(text)).status);
  const auto published = fresh->publish(existing);
  if (!published && published.error().errno_value == EEXIST) return false;
  if (!published) return base::failure_of(published);
  return true;
}

// Under the first name that is free or of the same file.
Result<std::string> put_numbered(const std::string& folder, const RecordedText& recorded) {
  for (int number = 1; number <= kNumberMax; ++number) {
    const std::string path = folder + "/" + recorded.base +
                             (number > 1 ? "." + std::to_string(number) : "") + ".views.json";
    Holder holder = holder_of(path, recorded.begin);
    if (holder == Holder::kNobody) {
      TESSERA_TRY(const bool named, put_at(path, recorded.text, port::Existing::kKeep));
      if (named) return path;
      holder = holder_of(path, recorded.begin);
    }
    if (holder != Holder::kSameFile) continue;
    TESSERA_TRY_VOID(put_at(path, recorded.text, port::Existing::kReplace));
    return path;
  }
  return base::fail(base::Code::kFailed, folder + " has too many views files of " + recorded.base);
}

}  // namespace

Result<std::string> put_text(const std::string& folder, const RecordedText& recorded) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return base::fail_errno(error.value(), "cannot make the folder " + folder);
  return put_numbered(folder, recorded);
}

}  // namespace tessera::mpiio
