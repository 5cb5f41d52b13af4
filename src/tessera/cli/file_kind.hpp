// How tools open files, and object files among them.
//
// Thread safety: calls are independent of each other.
#pragma once

#include <memory>
#include <string>

#include "tessera/base/result.hpp"
#include "tessera/container/container.hpp"
#include "tessera/container/file_kind.hpp"
#include "tessera/port/plain_file.hpp"

namespace tessera::cli {

using container::FileKind;
using container::kind_of;

// A regular file, open for reading, or for reading and writing; its name may have the prefix obj:.
// Fails with kInvalid if it is
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
