#include "tessera/cli/mount_command.hpp"

#include <dirent.h>
#include <sys/stat.h>

#include <cerrno>
#include <memory>
#include <string_view>

#include "tessera/cache/object_file.hpp"
#include "tessera/cli/file_kind.hpp"
#include "tessera/cli/fuse_mount.hpp"
#include "tessera/container/reader_lock.hpp"
#include "tessera/container/writer_claim.hpp"
#include "tessera/port/file_space.hpp"
#include "tessera/port/self_team.hpp"
#include "tessera/port/system_random.hpp"

namespace tessera::cli {

using base::Result;

namespace {

struct CloseDirectory {
  void operator()(DIR* directory) const { ::closedir(directory); }
};

// A mount hides what is in the directory.
Result<void> require_empty_folder(const std::string& path) {
  const std::string what = "cannot mount on " + path;
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return base::fail_errno(errno, what);
  if (!S_ISDIR(status.st_mode)) {
    return base::fail(base::Code::kInvalid, what + ": name a directory");
  }
  const std::unique_ptr<DIR, CloseDirectory> stream(::opendir(path.c_str()));
  if (!stream) return base::fail_errno(errno, what);
  while (const dirent* entry = ::readdir(stream.get())) {
    const std::string_view name = entry->d_name;
    if (name == "." || name == "..") continue;
    return base::fail(base::Code::kInvalid,
                      what +
                          ": it is not empty, and the mount would hide what is in it; name an "
                          "empty directory");
  }
  return {};
}

Result<void> mount(const MountOptions& options) {
  TESSERA_TRY_VOID(require_empty_folder(options.folder));
  const auto access = options.read_only ? port::Access::kRead : port::Access::kReadWrite;
  TESSERA_TRY(const auto file, open_regular(options.path, access));
  TESSERA_TRY(const FileKind kind, kind_of(*file));
  if (kind == FileKind::kPlain) {
    return base::fail(base::Code::kInvalid,
                      options.path + " is a plain file; it can be used as it is");
  }
  if (!options.read_only) TESSERA_TRY_VOID(container::claim_for_writing(*file));
  port::SelfTeam team;
  cache::OwnNumbers numbers;
  port::SystemRandom random;
  cache::ObjectFileOptions opening;
  opening.write = !options.read_only;
  cache::Ranks ranks{team, &team, numbers, true};
  ranks.has_readers = [&file = *file] { return container::has_readers(file); };
  if (port::has_name(*file)) ranks.has_name = [&file = *file] { return port::has_name(file); };
  TESSERA_TRY(const auto objects, cache::ObjectFile::open(*file, ranks, random, opening));
  return serve_mount({.container = *file,
                      .objects = *objects,
                      .folder = options.folder,
                      .foreground = options.foreground,
                      .read_only = options.read_only});
}

}  // namespace

ExitCode run_mount(const MountOptions& options) {
  const auto done = mount(options);
  return done ? ExitCode::kOk : report(done.error(), false);
}

}  // namespace tessera::cli
