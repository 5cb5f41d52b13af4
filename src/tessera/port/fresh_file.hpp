// FreshFile: a file that appears under its name complete, or not at all.
//
// What a command makes takes long to write, and may be interrupted or killed meanwhile. So it is
// written to a file without a name (O_TMPFILE), which gets its name when it is complete: a process
// that dies leaves nothing. A name can be given only where there is none; a file that is there is
// replaced by renaming, for which the complete file has a name of its own for a moment. Where a
// file system has no files without names, or other machines have to open the file, it has a name
// of its own from the beginning: `.NAME.0123456789abcdef.tessera`, with 16 digits, beside NAME.
//   (FRESH-1) At any instant the name leads to what it led to before, or to the complete file.
//   (FRESH-2) Two that make the same file at once each publish a complete file: neither writes to
//        nor removes what the other makes.
//   (FRESH-3) Names of their own are held by a lock (flock) of the process that gave them. Those
//        of the same NAME that nobody holds were left by a process that was killed; whoever makes
//        NAME next removes them.
//   (FRESH-4) What was not published is gone with the object, and at a signal that ends the process
//        if it asked for that (remove_unfinished_at_signals()).
// Thread safety: an object is used by one thread at a time, its file() by several.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>

#include "tessera/base/result.hpp"
#include "tessera/port/disk.hpp"
#include "tessera/port/plain_file.hpp"

namespace tessera::port {

class Exchange;

// FreshFile of disk.hpp on the file systems of the machine.
class PosixFreshFile final : public FreshFile {
 public:
  // Beside the path, with these permissions less the umask. Fails as creating a file there does.
  [[nodiscard]] static base::Result<std::unique_ptr<PosixFreshFile>> create(const std::string& path,
                                                                            mode_t permissions);
  // The same with a name of its own from the beginning: what create() does where files without a
  // name are not to be had.
  [[nodiscard]] static base::Result<std::unique_ptr<PosixFreshFile>> create_named(
      const std::string& path, mode_t permissions);
  PosixFreshFile(const PosixFreshFile&) = delete;
  PosixFreshFile& operator=(const PosixFreshFile&) = delete;
  ~PosixFreshFile() override;

  [[nodiscard]] PlainFile& file() override { return *file_; }
  [[nodiscard]] std::string reach() const override;
  [[nodiscard]] base::Result<void> publish(Existing existing) override;

  [[nodiscard]] base::Result<void> show() override;

 private:
  PosixFreshFile(std::string path, std::unique_ptr<PlainFile> file)
      : path_(std::move(path)), file_(std::move(file)) {}

  void set_own_name(const std::string& name);
  // Gives it another name besides. As link().
  [[nodiscard]] int link_to(const std::string& name) const;

  const std::string path_;
  std::unique_ptr<PlainFile> file_;
  std::string own_name_;  // empty while it has none
  int slot_ = -1;         // where signals find the own name
};

// From now on SIGINT, SIGTERM and SIGHUP remove this process's unfinished files before they end it.
// Signals that are ignored stay ignored. For commands, which own their process. Thread safety: one
// thread.
void remove_unfinished_at_signals();

// Collective: where all ranks, of any machines, can open what the first one made: the file itself
// if they share a machine, else by a name of its own. The first rank gives the file, the others
// null. Fails on all alike.
[[nodiscard]] base::Result<std::string> reach_together(Exchange& exchange, FreshFile* made);

}  // namespace tessera::port
