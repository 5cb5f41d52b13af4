#include "tessera/cli/hint_variables.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <string_view>

#include "tessera/base/nearest.hpp"
#include "tessera/move/hints.hpp"

namespace tessera::cli {

using base::Code;
using base::Result;

namespace {

constexpr std::string_view kOurs = "tessera_";
constexpr std::string_view kList = "TESSERA_HINTS";

std::vector<std::string_view> hint_names() {
  std::vector<std::string_view> names;
  for (const base::Option& hint : move::hint_table()) names.push_back(hint.name);
  return names;
}

Result<Variable> parse_hint(const std::string& hint) {
  const size_t equals = hint.find('=');
  if (equals == hint.npos) {
    return base::fail(Code::kInvalid, fmt::format("'{}' is not of the form hint=value", hint));
  }
  Variable parsed = {hint.substr(0, equals), hint.substr(equals + 1)};
  if (!move::is_hint(parsed.first)) {
    return base::fail(Code::kInvalid,
                      fmt::format("no hint is called '{}'{} (see tessera hints)", parsed.first,
                                  base::did_you_mean(parsed.first, hint_names())));
  }
  TESSERA_TRY_VOID(move::check_hint(parsed.first, parsed.second));
  return parsed;
}

std::string variable_name(std::string_view hint) {
  std::string name(hint);
  for (char& c : name) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return name;
}

void set(std::vector<Variable>& variables, const Variable& wanted) {
  const auto same = [&](const Variable& variable) { return variable.first == wanted.first; };
  std::erase_if(variables, same);
  variables.push_back(wanted);
}

}  // namespace

Result<std::vector<Variable>> hint_variables(const std::vector<std::string>& hints,
                                             const std::string& present) {
  std::vector<Variable> variables;
  std::vector<Variable> listed;
  for (const std::string& hint : hints) {
    TESSERA_TRY(const Variable parsed, parse_hint(hint));
    if (parsed.first.starts_with(kOurs)) {
      set(variables, {variable_name(parsed.first), parsed.second});
    } else if (parsed.second.find_first_of(";\n") != std::string::npos) {
      return base::fail(Code::kInvalid,
                        fmt::format("the value of {} holds a ';' or a new line", parsed.first));
    } else {
      set(listed, parsed);
    }
  }
  if (listed.empty()) return variables;
  std::string list = present;
  for (const auto& [name, value] : listed) {
    list += fmt::format("{}{}={}", list.empty() ? "" : ";", name, value);
  }
  variables.emplace_back(kList, list);
  return variables;
}

}  // namespace tessera::cli
