#include "tessera/cli/output_file.hpp"

#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <climits>
#include <csignal>

#include "tessera/port/posix_disk.hpp"

namespace tessera::cli {

using base::Code;
using base::Result;

namespace {

constexpr std::array kEndingSignals = {SIGINT, SIGTERM, SIGHUP};

// The file that a signal finds unfinished; empty if there is none. Only its first byte decides, so
// that the handler never sees half a path.
char g_unfinished[PATH_MAX];  // NOLINT: a handler has no other way to know

extern "C" void remove_unfinished(int signal) {
  if (g_unfinished[0] != '\0') ::unlink(g_unfinished);
  ::signal(signal, SIG_DFL);
  ::raise(signal);
}

// Whoever interrupts a long command does not want to look for what it left. Signals that are
// ignored stay ignored.
void set_unfinished(const std::string& path) {
  if (path.empty() || path.size() >= sizeof(g_unfinished)) {
    g_unfinished[0] = '\0';
    return;
  }
  path.copy(g_unfinished + 1, path.size() - 1, 1);
  g_unfinished[path.size()] = '\0';
  std::atomic_signal_fence(std::memory_order_seq_cst);
  g_unfinished[0] = path[0];
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
  set_unfinished(fresh);
  auto file = port::PlainFile::open(fresh, {.read = true,
                                            .write = true,
                                            .create = true,
                                            .exclusive = true,
                                            .permissions = options.permissions});
  if (!file) {
    set_unfinished({});
    return base::Failure{file.error()};
  }
  return OutputFile(path, std::move(*file));
}

OutputFile::~OutputFile() {
  if (!file_) return;
  ::unlink(file_->path().c_str());
  set_unfinished({});
}

Result<void> OutputFile::finish() {
  TESSERA_TRY_VOID(file_->sync());
  port::PosixDisk disk;
  TESSERA_TRY_VOID(disk.rename(file_->path(), path_));
  set_unfinished({});
  file_.reset();
  return disk.sync_directory(port::directory_of(path_));
}

}  // namespace tessera::cli
