// Which files are ours, by name.
#include <fnmatch.h>

#include <array>
#include <cstdlib>
#include <string>
#include <string_view>

#include "tessera/mpiio/open_file.hpp"

namespace tessera::mpiio {

namespace {

// Prefixes by which programs ask for a file system of their MPI, and those of file kinds to come.
constexpr std::array<std::string_view, 13> kForeignPrefixes = {
    "ufs",   "nfs",     "lustre", "panfs", "gpfs",  "testfs", "daos",
    "gfarm", "quobyte", "xfs",    "piofs", "pvfs2", "ln"};

bool has_foreign_prefix(std::string_view path) {
  const size_t colon = path.find(':');
  if (colon == std::string_view::npos) return false;
  const std::string_view prefix = path.substr(0, colon);
  for (const std::string_view foreign : kForeignPrefixes) {
    if (prefix == foreign) return true;
  }
  return false;
}

// Whether one of the globs, separated by colons, matches the path; a glob without a slash is also
// held against the last part of the path alone.
bool matches(const char* globs, const char* path) {
  const std::string_view whole(path);
  const std::string name(whole.substr(whole.rfind('/') + 1));
  std::string_view rest(globs);
  while (!rest.empty()) {
    const std::string glob(rest.substr(0, rest.find(':')));
    rest.remove_prefix(std::min(glob.size() + 1, rest.size()));
    if (glob.empty()) continue;
    if (fnmatch(glob.c_str(), path, 0) == 0) return true;
    if (glob.find('/') == std::string::npos && fnmatch(glob.c_str(), name.c_str(), 0) == 0) {
      return true;
    }
  }
  return false;
}

}  // namespace

bool is_ours(const char* path) {
  if (path == nullptr || has_foreign_prefix(path)) return false;
  const char* only = std::getenv("TESSERA_ONLY");
  const char* exclude = std::getenv("TESSERA_EXCLUDE");
  if (only != nullptr && *only != '\0' && !matches(only, path)) return false;
  return exclude == nullptr || !matches(exclude, path);
}

}  // namespace tessera::mpiio
