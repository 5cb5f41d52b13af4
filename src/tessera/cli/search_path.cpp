#include "tessera/cli/search_path.hpp"

#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

namespace tessera::cli {

using base::Code;
using base::Result;

std::vector<std::string> folders_of(std::string_view list) {
  std::vector<std::string> folders;
  while (!list.empty()) {
    const size_t end = std::min(list.find(':'), list.size());
    if (end > 0) folders.emplace_back(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return folders;
}

bool is_file(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
}

Result<std::string> find_program(const std::string& name, std::string_view path_list) {
  std::vector<std::string> candidates;
  if (name.find('/') != name.npos) {
    candidates.push_back(name);
  } else {
    for (const std::string& folder : folders_of(path_list))
      candidates.push_back(folder + "/" + name);
  }
  bool forbidden = false;
  for (const std::string& candidate : candidates) {
    if (!is_file(candidate)) continue;
    if (::access(candidate.c_str(), X_OK) == 0) return candidate;
    forbidden = true;
  }
  if (forbidden) return base::fail(Code::kDenied, fmt::format("{} may not be run", name));
  const bool here = !name.empty() && name.find('/') == name.npos && is_file(name);
  return base::fail(Code::kNotFound,
                    fmt::format("there is no program {}{}", name,
                                here ? fmt::format("; did you mean ./{}", name) : ""));
}

}  // namespace tessera::cli
