#include "tessera/port/fresh_file.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdio>
#include <string_view>
#include <utility>

#include "tessera/base/assert.hpp"
#include "tessera/port/descriptor.hpp"
#include "tessera/port/exchange.hpp"
#include "tessera/port/system_call.hpp"
#include "tessera/port/system_random.hpp"

namespace tessera::port {

namespace {

using base::Bytes;
using base::Code;
using base::Result;

// --- names of their own

constexpr size_t kDigits = 16;
constexpr std::string_view kEnding = ".tessera";
// The rest of a name fits into the 255 bytes that file systems allow.
constexpr size_t kBaseBytesMax = 200;

// What all names of their own of files that are to have this path begin with.
std::string own_name_begin(const std::string& path) {
  const size_t slash = path.rfind('/');
  const std::string base = slash == std::string::npos ? path : path.substr(slash + 1);
  return "." + base.substr(0, kBaseBytesMax) + ".";
}

std::string draw_own_name(const std::string& path) {
  std::array<char, kDigits + 1> digits{};
  SystemRandom random;
  std::snprintf(digits.data(), digits.size(), "%016llx",
                static_cast<unsigned long long>(random.next()));
  return directory_of(path) + "/" + own_name_begin(path) + digits.data() + std::string(kEnding);
}

bool is_own_name(std::string_view name, std::string_view begin) {
  if (name.size() != begin.size() + kDigits + kEnding.size()) return false;
  if (!name.starts_with(begin) || !name.ends_with(kEnding)) return false;
  return name.substr(begin.size(), kDigits).find_first_not_of("0123456789abcdef") ==
         std::string_view::npos;
}

bool leads_to(const std::string& name, int descriptor) {
  struct stat named {};
  struct stat opened {};
  return ::lstat(name.c_str(), &named) == 0 && ::fstat(descriptor, &opened) == 0 &&
         named.st_dev == opened.st_dev && named.st_ino == opened.st_ino;
}

bool take_lock(int descriptor) { return ::flock(descriptor, LOCK_EX | LOCK_NB) == 0; }

// (FRESH-3) A file of this user that nobody holds. Over NFS, where files have names of their own
// from the beginning, only a descriptor that may write can have this lock.
void remove_if_left(const std::string& name) {
  constexpr int kFlags = O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
  int opened = ::open(name.c_str(), O_RDWR | kFlags);
  if (opened < 0 && errno == EACCES) opened = ::open(name.c_str(), O_RDONLY | kFlags);
  const Descriptor file(opened);
  struct stat status {};
  if (!file.valid() || ::fstat(file.number(), &status) != 0) return;
  if (!S_ISREG(status.st_mode) || status.st_uid != ::geteuid()) return;
  if (take_lock(file.number()) && leads_to(name, file.number())) ::unlink(name.c_str());
}

// What cannot be looked at stays for somebody who can.
void remove_left_behind(const std::string& path) {
  const std::string directory = directory_of(path);
  const std::string begin = own_name_begin(path);
  DIR* const stream = ::opendir(directory.c_str());
  if (stream == nullptr) return;
  while (const dirent* entry = ::readdir(stream)) {
    if (is_own_name(entry->d_name, begin)) remove_if_left(directory + "/" + entry->d_name);
  }
  ::closedir(stream);
}

// --- signals

constexpr std::array kEndingSignals = {SIGINT, SIGTERM, SIGHUP};

// Names of their own that a signal finds. Only the first byte of one decides, so that the handler
// never sees half a path. A file for which there is no slot is left to the next run.
constexpr int kSlots = 4;
char g_unfinished[kSlots][PATH_MAX];     // NOLINT: a handler has no other way to know
std::atomic<bool> g_slot_taken[kSlots];  // NOLINT: as before

extern "C" void remove_unfinished(int signal) {
  for (const auto& path : g_unfinished) {
    if (path[0] != '\0') ::unlink(path);
  }
  ::signal(signal, SIG_DFL);
  ::raise(signal);
}

int take_slot(const std::string& path) {
  if (path.empty() || path.size() >= PATH_MAX) return -1;
  for (int slot = 0; slot < kSlots; ++slot) {
    if (g_slot_taken[slot].exchange(true)) continue;
    auto& place = g_unfinished[slot];
    path.copy(place + 1, path.size() - 1, 1);
    place[path.size()] = '\0';
    std::atomic_signal_fence(std::memory_order_seq_cst);
    place[0] = path[0];
    return slot;
  }
  return -1;
}

void give_slot_back(int slot) {
  if (slot < 0) return;
  g_unfinished[slot][0] = '\0';
  g_slot_taken[slot] = false;
}

// --- names for files

std::string descriptor_path(const std::string& process, int descriptor) {
  return "/proc/" + process + "/fd/" + std::to_string(descriptor);
}

base::Failure is_there(const std::string& path) {
  return base::Failure{{Code::kInvalid, EEXIST, path + " is there by now; it was not replaced"}};
}

// Renames to a name that nobody has; on file systems that cannot refuse, as nearly as may be.
int rename_to_free(const std::string& from, const std::string& to) {
  const int renamed = ::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE);
  const bool cannot = errno == EINVAL || errno == EOPNOTSUPP || is_missing_call(errno);
  if (renamed == 0 || !cannot) return renamed;
  if (::link(from.c_str(), to.c_str()) == 0) return ::unlink(from.c_str());
  if (errno == EEXIST) return -1;
  struct stat status {};
  if (::lstat(to.c_str(), &status) == 0) {
    errno = EEXIST;
    return -1;
  }
  return ::rename(from.c_str(), to.c_str());
}

// Which file a path leads to on this machine, and when it changed last; empty if it leads nowhere.
std::string identity_of(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return {};
  std::string text;
  for (const auto number :
       {static_cast<int64_t>(status.st_dev), static_cast<int64_t>(status.st_ino),
        static_cast<int64_t>(status.st_ctim.tv_sec),
        static_cast<int64_t>(status.st_ctim.tv_nsec)}) {
    text += std::to_string(number) + " ";
  }
  return text;
}

Result<std::string> broadcast_text(Exchange& exchange, const std::string& text) {
  TESSERA_TRY(const Bytes received, exchange.broadcast(0, base::copy_of(base::bytes_of(text))));
  return std::string(base::text_of(received));
}

}  // namespace

Result<std::unique_ptr<PosixFreshFile>> PosixFreshFile::create(const std::string& path,
                                                               mode_t permissions) {
  remove_left_behind(path);
  auto file = PlainFile::open_unnamed(path, permissions);
  if (!file && file.error().errno_value != EOPNOTSUPP) return base::failure_of(file);
  if (file) {
    std::unique_ptr<PosixFreshFile> fresh(new PosixFreshFile(path, *std::move(file)));
    // Without /proc it could never get a name.
    if (::access(fresh->reach().c_str(), F_OK) == 0) {
      static_cast<void>(take_lock(fresh->file_->descriptor()));
      return fresh;
    }
  }
  return create_named(path, permissions);
}

Result<std::unique_ptr<PosixFreshFile>> PosixFreshFile::create_named(const std::string& path,
                                                                     mode_t permissions) {
  const OpenMode mode = {
      .read = true, .write = true, .create = true, .exclusive = true, .permissions = permissions};
  constexpr int kTriesMax = 100;
  for (int tries = 0; tries < kTriesMax; ++tries) {
    std::unique_ptr<PosixFreshFile> fresh(new PosixFreshFile(path, nullptr));
    // Before it is there: a signal may come between any two instructions.
    const std::string name = draw_own_name(path);
    fresh->set_own_name(name);
    auto file = PlainFile::open_as(path, name, mode);
    if (!file) {
      if (file.error().errno_value == EEXIST) continue;
      return base::failure_of(file);
    }
    fresh->file_ = *std::move(file);
    // Whoever looked for names that were left may have taken this one for one of them.
    const int descriptor = fresh->file_->descriptor();
    const bool locked = take_lock(descriptor) || errno != EWOULDBLOCK;
    if (locked && leads_to(name, descriptor)) return fresh;
  }
  return base::fail(Code::kFailed, "cannot create " + path +
                                       ": names that were made beside it do not stay, or its file "
                                       "system gives a file several numbers");
}

PosixFreshFile::~PosixFreshFile() {
  if (own_name_.empty()) return;
  // Where opening it failed, the name may be another's.
  if (file_) ::unlink(own_name_.c_str());
  give_slot_back(slot_);
}

void PosixFreshFile::set_own_name(const std::string& name) {
  give_slot_back(std::exchange(slot_, -1));
  own_name_ = name;
  slot_ = take_slot(name);
}

std::string PosixFreshFile::reach() const {
  if (!own_name_.empty()) return own_name_;
  return descriptor_path(std::to_string(::getpid()), file_->descriptor());
}

int PosixFreshFile::link_to(const std::string& name) const {
  const std::string here = descriptor_path("self", file_->descriptor());
  return ::linkat(AT_FDCWD, here.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW);
}

Result<void> PosixFreshFile::show() {
  if (!own_name_.empty()) return {};
  for (;;) {
    const std::string name = draw_own_name(path_);
    set_own_name(name);
    if (link_to(name) == 0) return {};
    const int why = errno;
    set_own_name({});
    if (why != EEXIST) return base::fail_errno(why, "create " + path_);
  }
}

Result<void> PosixFreshFile::publish(Existing existing) {
  // A name that nobody has is given at once.
  if (own_name_.empty()) {
    if (link_to(path_) == 0) return {};
    if (errno != EEXIST) return base::fail_errno(errno, "create " + path_);
    if (existing == Existing::kKeep) return is_there(path_);
    TESSERA_TRY_VOID(show());
  }
  const int renamed = existing == Existing::kReplace ? ::rename(own_name_.c_str(), path_.c_str())
                                                     : rename_to_free(own_name_, path_);
  if (renamed == 0) {
    set_own_name({});
    return {};
  }
  if (errno == EEXIST) return is_there(path_);
  return base::fail_errno(errno, "create " + path_);
}

void remove_unfinished_at_signals() {
  for (const int signal : kEndingSignals) {
    if (::signal(signal, remove_unfinished) == SIG_IGN) ::signal(signal, SIG_IGN);
  }
}

Result<std::string> reach_together(Exchange& exchange, FreshFile* made) {
  const bool first = exchange.rank() == 0;
  TESSERA_ASSERT((made != nullptr) == first);
  std::string reach = first ? made->reach() : std::string();
  if (exchange.size() == 1) return reach;
  TESSERA_TRY(reach, broadcast_text(exchange, reach));
  TESSERA_TRY(const std::string identity,
              broadcast_text(exchange, first ? identity_of(reach) : std::string()));
  const bool reached = !identity.empty() && identity_of(reach) == identity;
  TESSERA_TRY(const uint64_t missed, exchange.all_max(reached ? 0 : 1));
  if (missed == 0) return reach;
  TESSERA_TRY_VOID(exchange.agree(first ? made->show() : Result<void>()));
  return broadcast_text(exchange, first ? made->reach() : std::string());
}

}  // namespace tessera::port
