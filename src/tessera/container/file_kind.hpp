// Which kind of file a name asks for, and which kind a file is by its bytes.
//
// A name asks by its prefix (obj:), or a rule asks for it: a list such as "*.nc=obj;*.h5=obj", in
// which the first rule counts whose glob matches. A file that has bytes is what they say: object
// files are known by their superblocks. Thread safety: pure functions and values; the file may be
// shared.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/base/result.hpp"
#include "tessera/port/disk.hpp"

namespace tessera::container {

enum class FileKind { kPlain, kObject };

// A file's name as it was given, taken apart.
struct FileName {
  std::string path;      // without the prefix obj:
  bool object = false;   // it had that prefix
  bool foreign = false;  // it has the prefix of another file system, which is part of the path
};
[[nodiscard]] FileName parse_file_name(const std::string& given);

// Whether a glob matches a path; one without a slash is also held against the path's last part.
[[nodiscard]] bool glob_matches(const std::string& glob, const std::string& path);

class KindRules {
 public:
  // "GLOB=KIND;GLOB=KIND", KIND obj or plain; a comma or a line's end separates as well. Fails with
  // kInvalid and a sentence that names the rule.
  [[nodiscard]] static base::Result<KindRules> parse(std::string_view text);

  // What the first rule for this path says, if there is one.
  [[nodiscard]] std::optional<FileKind> kind_of(const std::string& path) const;

 private:
  struct Rule {
    std::string glob;
    FileKind kind = FileKind::kPlain;
  };
  std::vector<Rule> rules_;
};

// Whether it is meant to be an object file: it has a superblock, be it damaged or of a newer
// version.
[[nodiscard]] base::Result<bool> has_superblock(port::File& file);

// A file without any trace of a superblock is a plain one. Fails, as choose_superblock() does, if
// there is a trace but the file cannot be used: cut off, damaged, or of a newer version.
[[nodiscard]] base::Result<FileKind> kind_of(port::File& file);

}  // namespace tessera::container
