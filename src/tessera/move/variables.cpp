#include "tessera/move/variables.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

#include "tessera/base/nearest.hpp"
#include "tessera/move/hints.hpp"

namespace tessera::move {

namespace {

constexpr std::string_view kPrefix = "TESSERA_";
constexpr std::string_view kOwnHints = "tessera_";

// Those that are no hints: of the library, of the programs, and of the tests.
constexpr std::array<std::string_view, 21> kOthers = {
    "BENCH_DIR", "EMULATED_STORE", "EXCLUDE",      "EXPLAIN", "FAKE_NODES", "HINTS",
    "HOME",      "HOST",           "KEY_FILE",     "KINDS",   "LEASE",      "LOCKS",
    "ONLY",      "PROFILE",        "RECORD_VIEWS", "REPORT",  "SEED",       "SKIP_SETUP",
    "SOAK",      "TEST_SEED",      "VERSION"};

// Names without their prefix, as variables spell them.
std::vector<std::string> known_names() {
  std::vector<std::string> names(kOthers.begin(), kOthers.end());
  for (const base::Option& hint : hint_table()) {
    if (!hint.name.starts_with(kOwnHints)) continue;
    std::string name(hint.name.substr(kOwnHints.size()));
    for (char& c : name) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    names.push_back(std::move(name));
  }
  return names;
}

}  // namespace

std::vector<std::string> misspelt_variables(const char* const* environment) {
  std::vector<std::string> messages;
  const std::vector<std::string> names = known_names();
  const std::vector<std::string_view> known(names.begin(), names.end());
  for (; *environment != nullptr; ++environment) {
    std::string_view text = *environment;
    if (!text.starts_with(kPrefix)) continue;
    const std::string_view whole = text.substr(0, text.find('='));
    const std::string_view name = whole.substr(kPrefix.size());
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    const std::string_view meant = base::nearest(name, known);
    if (meant.empty()) continue;
    messages.push_back(std::string(whole) + " is not a variable of Tessera; did you mean " +
                       std::string(kPrefix) + std::string(meant) + "?");
  }
  std::sort(messages.begin(), messages.end());
  return messages;
}

}  // namespace tessera::move
