#include "tessera/cli/output_file.hpp"

#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <climits>
#include <csignal>

#include "tessera/base/assert.hpp"
#include "tessera/port/posix_disk.hpp"

namespace tessera::cli {

using base::Code;
using base::Result;

namespace {

constexpr std::array kEndingSignals = {SIGINT, SIGTERM, SIGHUP};

// The files that a signal finds unfinished; empty if there is none. Only its first byte decides, so
// that the handler never sees half a path.
constexpr size_t kFiles = 2;
char g_unfinished[kFiles][PATH_MAX];  // NOLINT: a handler has no other way to know

extern "C" void remove_unfinished(int signal) {
  for (const auto& path : g_unfinished) {
    if (path[0] != '\0') ::unlink(path);
  }
  ::signal(signal, SIG_DFL);
  ::raise(signal);
}

// Whoever interrupts a long command does not want to look for what it left. Signals that are
// ignored stay ignored.
void set_unfinished(size_t slot, const std::string& path) {
  auto& place = g_unfinished[slot];
  if (path.empty() || path.size() >= sizeof(place)) {
    place[0] = '\0';
    return;
  }
  path.copy(place + 1, path.size() - 1, 1);
  place[path.size()] = '\0';
  std::atomic_signal_fence(std::memory_order_seq_cst);
  place[0] = path[0];
  for (const int signal : kEndingSignals) {
    if (::signal(signal, remove_unfinished) == SIG_IGN) ::signal(signal, SIG_IGN);
  }
}

}  // namespace

Result<OutputFile> OutputFile::create(const std::string& path, const OutputOptions& options) {
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0) {
    if (!S_ISREG(status.st_mode)) {
      return base::fail(Code::kInvalid, path + " is not a regular file; name another");
    }
    if (!options.replace) {
      return base::fail(Code::kInvalid, path + " is there already; --force replaces it");
    }
  }
  const std::string fresh = fmt::format("{}.{}.new", path, ::getpid());
  // Before it is there: a signal may come between any two instructions, and the name is this
  // process's own.
  const size_t slot = g_unfinished[0][0] == '\0' ? 0 : 1;
  TESSERA_ASSERT(g_unfinished[slot][0] == '\0');
  set_unfinished(slot, fresh);
  auto file = port::PlainFile::open(fresh, {.read = true,
                                            .write = true,
                                            .create = true,
                                            .exclusive = true,
                                            .permissions = options.permissions});
  if (!file) {
    set_unfinished(slot, {});
    return base::Failure{file.error()};
  }
  return OutputFile(path, std::move(*file), slot);
}

OutputFile::~OutputFile() {
  if (!file_) return;
  ::unlink(file_->path().c_str());
  set_unfinished(slot_, {});
}

Result<void> OutputFile::finish() {
  TESSERA_TRY_VOID(file_->sync());
  port::PosixDisk disk;
  TESSERA_TRY_VOID(disk.rename(file_->path(), path_));
  set_unfinished(slot_, {});
  file_.reset();
  return disk.sync_directory(port::directory_of(path_));
}

}  // namespace tessera::cli
