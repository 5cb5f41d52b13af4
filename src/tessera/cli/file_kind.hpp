// Which kind of file a path leads to, and how tools open object files.
//
// Thread safety: calls are independent of each other.
#pragma once

#include <memory>
#include <string>

#include "tessera/base/result.hpp"
#include "tessera/container/container.hpp"
#include "tessera/port/plain_file.hpp"

namespace tessera::cli {

enum class FileKind { kPlain, kObject };

// A file without any trace of a superblock is a plain one. Fails, as choose_superblock() does, if
// there is a trace but the file cannot be used: cut off, damaged, or of a newer version.
[[nodiscard]] base::Result<FileKind> kind_of(port::File& file);

// A regular file, open for reading, or for reading and writing. Fails with kInvalid if it is
// anything else, a directory or a pipe, with kNotFound or kDenied as the system says.
[[nodiscard]] base::Result<std::unique_ptr<port::PlainFile>> open_regular(const std::string& path,
                                                                          port::Access access);

// An object file as of its last commit.
struct OpenedObject {
  std::unique_ptr<port::PlainFile> file;
  container::Container container;
  container::Contents contents;
};
// Fails with kInvalid for a plain file, else as kind_of() and Container do.
[[nodiscard]] base::Result<OpenedObject> open_object(const std::string& path);

}  // namespace tessera::cli
