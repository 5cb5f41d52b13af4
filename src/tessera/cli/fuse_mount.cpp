#include "tessera/cli/fuse_mount.hpp"

#ifdef TESSERA_WITH_FUSE

#define FUSE_USE_VERSION 31
#include <fuse3/fuse.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <syslog.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <memory>
#include <vector>

#include "tessera/base/checked.hpp"
#include "tessera/cache/linear_file.hpp"

namespace tessera::cli {

namespace {

using base::Result;

// The file that is mounted, as the functions below find it.
class Mount {
 public:
  explicit Mount(const MountRequest& request)
      : request_(request), file_(request.objects), name_(last_part(request.container.path())) {
    look_at_container();
    changed_ = container_.st_mtim;
  }

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] bool is_file(const char* path) const { return path + 1 == name_; }
  [[nodiscard]] cache::LinearFile& file() { return file_; }
  [[nodiscard]] bool read_only() const { return request_.read_only; }
  [[nodiscard]] int descriptor() const { return request_.container.descriptor(); }
  // Owner and permissions are the container's.
  void look_at_container() {
    if (::fstat(descriptor(), &container_) != 0) container_ = {};
  }
  void set_changed(timespec when) { changed_ = when; }
  void touch() { ::clock_gettime(CLOCK_REALTIME, &changed_); }

  void describe_folder(struct stat& answer) const {
    answer.st_mode = S_IFDIR | (request_.read_only ? 0555 : 0755);
    answer.st_nlink = 2;
    fill_owner(answer);
  }
  Result<void> describe_file(struct stat& answer) {
    TESSERA_TRY(answer.st_size, file_.size());
    answer.st_mode = S_IFREG | (container_.st_mode & (request_.read_only ? 0555U : 0777U));
    answer.st_nlink = 1;
    answer.st_blocks = base::ceil_div(answer.st_size, int64_t{512});
    fill_owner(answer);
    return {};
  }

 private:
  static std::string last_part(const std::string& path) {
    const size_t slash = path.rfind('/');
    return slash == std::string::npos ? path : path.substr(slash + 1);
  }
  void fill_owner(struct stat& answer) const {
    answer.st_uid = container_.st_uid;
    answer.st_gid = container_.st_gid;
    answer.st_mtim = changed_;
    answer.st_ctim = changed_;
    answer.st_atim = changed_;
  }

  const MountRequest& request_;
  cache::LinearFile file_;
  const std::string name_;
  struct stat container_ {};
  timespec changed_{};
};

Mount& mounted() { return *static_cast<Mount*>(::fuse_get_context()->private_data); }

int answer_of(const Result<void>& result) {
  if (result) return 0;
  const base::Error& error = result.error();
  return -(error.errno_value != 0 ? error.errno_value : EIO);
}

int get_attributes(const char* path, struct stat* answer, fuse_file_info* /*file*/) {
  *answer = {};
  if (std::strcmp(path, "/") == 0) {
    mounted().describe_folder(*answer);
    return 0;
  }
  if (!mounted().is_file(path)) return -ENOENT;
  return answer_of(mounted().describe_file(*answer));
}

int read_folder(const char* path, void* list, fuse_fill_dir_t add, off_t /*from*/,
                fuse_file_info* /*file*/, fuse_readdir_flags /*flags*/) {
  if (std::strcmp(path, "/") != 0) return -ENOTDIR;
  for (const char* name : {".", "..", mounted().name().c_str()}) {
    if (add(list, name, nullptr, 0, fuse_fill_dir_flags{}) != 0) return -ENOMEM;
  }
  return 0;
}

int open_file(const char* path, fuse_file_info* file) {
  if (!mounted().is_file(path)) return -ENOENT;
  if (mounted().read_only() && (file->flags & O_ACCMODE) != O_RDONLY) return -EROFS;
  // Only this process changes the file, and the kernel sees every change.
  file->keep_cache = 1;
  return 0;
}

int read_file(const char* /*path*/, char* memory, size_t bytes, off_t offset,
              fuse_file_info* /*file*/) {
  const port::Transfer done =
      mounted().file().read_at(offset, {reinterpret_cast<std::byte*>(memory), bytes});
  return done ? base::exact_cast<int>(done.bytes) : answer_of(done.status);
}

int write_file(const char* /*path*/, const char* memory, size_t bytes, off_t offset,
               fuse_file_info* /*file*/) {
  const port::Transfer done =
      mounted().file().write_at(offset, {reinterpret_cast<const std::byte*>(memory), bytes});
  if (done) mounted().touch();
  return done ? base::exact_cast<int>(done.bytes) : answer_of(done.status);
}

int truncate_file(const char* path, off_t size, fuse_file_info* /*file*/) {
  if (!mounted().is_file(path)) return -ENOENT;
  mounted().touch();
  return answer_of(mounted().file().truncate(size));
}

int sync_file(const char* /*path*/, int /*data_only*/, fuse_file_info* /*file*/) {
  if (mounted().read_only()) return 0;
  return answer_of(mounted().file().sync());
}

// At every close: unmounting does not wait for us, so whoever looks at the container right after it
// must find what was written. Costs nothing where nothing was.
int flush_file(const char* path, fuse_file_info* file) { return sync_file(path, 0, file); }

// Programs that copy set the time afterwards; it lasts as long as the mount.
int set_times(const char* path, const timespec times[2], fuse_file_info* /*file*/) {
  if (!mounted().is_file(path)) return 0;
  if (times[1].tv_nsec == UTIME_NOW) {
    mounted().touch();
  } else if (times[1].tv_nsec != UTIME_OMIT) {
    mounted().set_changed(times[1]);
  }
  return 0;
}

int change_mode(const char* path, mode_t mode, fuse_file_info* /*file*/) {
  if (!mounted().is_file(path)) return -EPERM;
  if (::fchmod(mounted().descriptor(), mode & 07777U) != 0) return -errno;
  mounted().look_at_container();
  return 0;
}

int change_owner(const char* path, uid_t user, gid_t group, fuse_file_info* /*file*/) {
  if (!mounted().is_file(path)) return -EPERM;
  if (::fchown(mounted().descriptor(), user, group) != 0) return -errno;
  mounted().look_at_container();
  return 0;
}

// There is as much room as the container has.
int describe_room(const char* /*path*/, struct statvfs* answer) {
  return ::fstatvfs(mounted().descriptor(), answer) == 0 ? 0 : -errno;
}

fuse_operations operations() {
  fuse_operations answers{};
  answers.getattr = get_attributes;
  answers.readdir = read_folder;
  answers.open = open_file;
  answers.read = read_file;
  answers.write = write_file;
  answers.truncate = truncate_file;
  answers.fsync = sync_file;
  answers.flush = flush_file;
  answers.utimens = set_times;
  answers.chmod = change_mode;
  answers.chown = change_owner;
  answers.statfs = describe_room;
  return answers;
}

// A comma would begin another option.
std::string option_value(std::string text) {
  for (char& c : text) {
    if (c == ',' || c == '\\') c = '_';
  }
  return text;
}

// What libfuse says goes into our one line instead of lines of its own.
std::string& last_words() {
  static std::string words;
  return words;
}

void take_words(fuse_log_level /*level*/, const char* format, va_list values) {
  std::array<char, 256> line{};
  std::vsnprintf(line.data(), line.size(), format, values);
  last_words() = line.data();
  while (last_words().ends_with('\n')) last_words().pop_back();
}

struct DestroyFuse {
  void operator()(fuse* session) const { ::fuse_destroy(session); }
};

std::unique_ptr<fuse, DestroyFuse> make_session(const MountRequest& request, Mount& mount) {
  const std::string options =
      "default_permissions,subtype=tessera,fsname=" + option_value(request.container.path()) +
      (request.read_only ? ",ro" : "");
  std::vector<std::string> words = {"tessera", "-o", options};
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  fuse_args arguments = FUSE_ARGS_INIT(static_cast<int>(pointers.size()), pointers.data());
  const fuse_operations answers = operations();
  std::unique_ptr<fuse, DestroyFuse> session(
      ::fuse_new(&arguments, &answers, sizeof(answers), &mount));
  ::fuse_opt_free_args(&arguments);
  return session;
}

// Until it is unmounted or a signal ends it.
Result<void> serve(fuse* session, const MountRequest& request) {
  if (::fuse_daemonize(request.foreground ? 1 : 0) != 0) {
    return base::fail(base::Code::kFailed, "cannot go to the background");
  }
  fuse_session* const inner = ::fuse_get_session(session);
  if (::fuse_set_signal_handlers(inner) != 0) {
    return base::fail(base::Code::kFailed, "cannot set the handlers of signals");
  }
  ::fuse_loop(session);
  ::fuse_remove_signal_handlers(inner);
  return {};
}

}  // namespace

Result<void> serve_mount(const MountRequest& request) {
  ::fuse_set_log_func(take_words);
  Mount mount(request);
  const auto session = make_session(request, mount);
  if (!session) return base::fail(base::Code::kFailed, "libfuse cannot be started");
  if (::fuse_mount(session.get(), request.folder.c_str()) != 0) {
    return base::fail(base::Code::kFailed,
                      "cannot mount on " + request.folder + " (" + last_words() +
                          "); it must be a directory of yours, and /dev/fuse must be there");
  }
  Result<void> served = serve(session.get(), request);
  ::fuse_unmount(session.get());
  if (!served || request.read_only) return served;
  Result<void> committed = mount.file().sync();
  if (!committed && !request.foreground) {
    ::syslog(LOG_ERR, "tessera mount: what was written to %s since the last sync is lost: %s",
             request.container.path().c_str(), committed.error().message().c_str());
  }
  return committed;
}

}  // namespace tessera::cli

#else

namespace tessera::cli {

base::Result<void> serve_mount(const MountRequest& request) {
  return base::fail(base::Code::kInvalid,
                    "cannot mount " + request.container.path() +
                        ": this program was built without libfuse3; use tessera export");
}

}  // namespace tessera::cli

#endif
