// Which files are ours, by name.
#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>

#include "tessera/container/file_kind.hpp"
#include "tessera/mpiio/open_file.hpp"

namespace tessera::mpiio {

namespace {

// Whether one of the globs, separated by colons, matches the path.
bool matches(const char* globs, const char* path) {
  std::string_view rest(globs);
  while (!rest.empty()) {
    const std::string glob(rest.substr(0, rest.find(':')));
    rest.remove_prefix(std::min(glob.size() + 1, rest.size()));
    if (!glob.empty() && container::glob_matches(glob, path)) return true;
  }
  return false;
}

}  // namespace

bool is_ours(const char* path) {
  if (path == nullptr || container::parse_file_name(path).foreign) return false;
  const char* only = std::getenv("TESSERA_ONLY");
  const char* exclude = std::getenv("TESSERA_EXCLUDE");
  if (only != nullptr && *only != '\0' && !matches(only, path)) return false;
  return exclude == nullptr || !matches(exclude, path);
}

}  // namespace tessera::mpiio
