// Files of one command that must not be the same.
//
// A command that reads some files and writes others would destroy what it was given, or what it has
// just written, if the user named one twice by mistake.
// Thread safety: pure but for looking at the file system.
#pragma once

#include <span>
#include <string>

#include "tessera/base/result.hpp"

namespace tessera::cli {

// A file and how the user named it, for example "--save".
struct NamedFile {
  std::string name;
  std::string path;  // empty: the user named none
};

// Fails with kInvalid, naming both, if an output is an input or another output: the same file by
// whatever path, or the same path where there is no file yet.
[[nodiscard]] base::Result<void> check_separate(std::span<const NamedFile> inputs,
                                                std::span<const NamedFile> outputs);

}  // namespace tessera::cli
