#include "tessera/cli/separate_files.hpp"

#include <fmt/core.h>

#include "tessera/container/target.hpp"

namespace tessera::cli {

using base::Result;

namespace {

// What cannot be looked at is told by whoever opens it.
bool is_same(const std::string& one, const std::string& other) {
  return !one.empty() && !other.empty() && container::is_one_file(one, other);
}

Result<void> check_pair(const NamedFile& output, const NamedFile& other) {
  if (!is_same(output.path, other.path)) return {};
  return base::fail(base::Code::kInvalid, fmt::format("{} and {} are one file, {}", other.name,
                                                      output.name, output.path));
}

}  // namespace

Result<void> check_separate(std::span<const NamedFile> inputs, std::span<const NamedFile> outputs) {
  for (size_t i = 0; i < outputs.size(); ++i) {
    for (const NamedFile& input : inputs) TESSERA_TRY_VOID(check_pair(outputs[i], input));
    for (const NamedFile& before : outputs.first(i)) {
      TESSERA_TRY_VOID(check_pair(outputs[i], before));
    }
  }
  return {};
}

}  // namespace tessera::cli
