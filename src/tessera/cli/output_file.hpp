// OutputFile: a file that appears under its name whole or not at all.
//
// A fresh file (port/fresh_file.hpp) that is synced before it gets its name; a file that it
// replaces is held meanwhile, so that no job writes it (container/target.hpp). Whatever goes wrong
// before leaves nothing behind, and so do signals that end the process. Thread safety: none.
#pragma once

#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "tessera/base/result.hpp"
#include "tessera/container/target.hpp"
#include "tessera/port/fresh_file.hpp"
#include "tessera/port/plain_file.hpp"

namespace tessera::cli {

// What commands make anew without --force, where the file that is there is of the same kind.
enum class OutputKind { kPage, kPlan, kPartition, kProfile };

struct OutputOptions {
  mode_t permissions = 0666;           // less the umask
  bool replace = false;                // a regular file of that name, or that a link of it leads to
  std::optional<OutputKind> own = {};  // replaces one of this kind, or without bytes, and no other
};

class OutputFile {
 public:
  // Fails with kInvalid if there is something of that name that may not be replaced, with kRetry if
  // a job writes it, and as the system does. An object file is never replaced as `own`.
  [[nodiscard]] static base::Result<OutputFile> create(const std::string& path,
                                                       const OutputOptions& options);
  [[nodiscard]] port::PlainFile& file() { return fresh_->file(); }
  // Makes the file durable, gives it its name and closes it.
  [[nodiscard]] base::Result<void> finish();

 private:
  OutputFile(container::Target target, std::unique_ptr<port::PosixFreshFile> fresh)
      : target_(std::move(target)), fresh_(std::move(fresh)) {}

  container::Target target_;
  std::unique_ptr<port::PosixFreshFile> fresh_;  // null once finished
};

// Fails as create() with this kind as `own` would for what has the name now: for commands that work
// long before they write. What is no regular file is left to whoever writes.
[[nodiscard]] base::Result<void> check_output(const std::string& path, OutputKind kind);

}  // namespace tessera::cli
