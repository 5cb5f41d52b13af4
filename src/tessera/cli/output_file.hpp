// OutputFile: a file that appears under its name whole or not at all.
//
// Written beside its place under a name of its own, synced, and renamed; whatever goes wrong before
// leaves nothing behind, and so do signals that end the process, but for SIGKILL. Two at a time in
// a process. Thread safety: none.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>

#include "tessera/base/result.hpp"
#include "tessera/port/plain_file.hpp"

namespace tessera::cli {

struct OutputOptions {
  mode_t permissions = 0666;  // less the umask
  bool replace = false;       // a regular file of that name
};

class OutputFile {
 public:
  // Fails with kInvalid if there is a file of that name that may not be replaced, and as the system
  // does.
  [[nodiscard]] static base::Result<OutputFile> create(const std::string& path,
                                                       const OutputOptions& options);
  OutputFile(OutputFile&& other) noexcept = default;
  OutputFile& operator=(OutputFile&&) = delete;
  ~OutputFile();

  [[nodiscard]] port::PlainFile& file() { return *file_; }
  // Makes the file durable under its name and closes it.
  [[nodiscard]] base::Result<void> finish();

 private:
  OutputFile(std::string path, std::unique_ptr<port::PlainFile> file, size_t slot)
      : path_(std::move(path)), file_(std::move(file)), slot_(slot) {}

  std::string path_;
  std::unique_ptr<port::PlainFile> file_;  // null once finished
  size_t slot_;                            // where signals find its name
};

}  // namespace tessera::cli
