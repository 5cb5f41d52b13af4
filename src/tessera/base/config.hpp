// Configuration: a table of options, and their values for one run.
//
// Each program states its options once, in a constexpr table; parsing, messages, listings and
// documents follow from it. A configuration is parsed once and never changes, so that ranks can
// compare it at open. A value comes from the strongest source that names its key:
//
//   default  <  file of key=value lines  <  environment variable TESSERA_KEY  <  explicit
//
// A key or value that is wrong in any source is an error, also when a stronger source overrides it.
// Only known names are looked up in the environment, so a misspelt variable there goes unnoticed;
// a misspelt key elsewhere does not. The only input reached from here is the injected getenv.
// Thread safety: immutable after parse().
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tessera/base/result.hpp"

namespace tessera::base {

enum class OptionType { kBool, kInt, kSize, kEnum, kString };

// One row of the table. Built by the functions below, which fill in what each type needs.
struct Option {
  std::string_view name;  // snake_case; its environment variable is TESSERA_ and this in capitals
  OptionType type;
  std::string_view default_text;  // written as a user would write it
  std::string_view doc;           // one line, for people who set it
  std::string_view choices;       // kEnum: the words, separated by '|'
  int64_t min = 0;                // kInt, kSize: the value's bounds; kString: its length's
  int64_t max = std::numeric_limits<int64_t>::max();
};

struct Bounds {
  int64_t min;
  int64_t max;
};

constexpr Option bool_option(std::string_view name, std::string_view default_text,
                             std::string_view doc) {
  return {name, OptionType::kBool, default_text, doc, {}, 0, 1};
}
constexpr Option int_option(std::string_view name, std::string_view default_text, Bounds bounds,
                            std::string_view doc) {
  return {name, OptionType::kInt, default_text, doc, {}, bounds.min, bounds.max};
}
// Bytes, written with an optional suffix K, M or G (powers of 1024).
constexpr Option size_option(std::string_view name, std::string_view default_text, Bounds bounds,
                             std::string_view doc) {
  return {name, OptionType::kSize, default_text, doc, {}, bounds.min, bounds.max};
}
constexpr Option enum_option(std::string_view name, std::string_view default_text,
                             std::string_view choices, std::string_view doc) {
  return {name, OptionType::kEnum, default_text, doc, choices, 0, 0};
}
constexpr Option string_option(std::string_view name, std::string_view default_text,
                               int64_t length_max, std::string_view doc) {
  return {name, OptionType::kString, default_text, doc, {}, 0, length_max};
}

enum class Origin { kDefault, kFile, kEnvironment, kExplicit };

// The word that listings print: "default", "file", "environment" or "explicit".
const char* origin_name(Origin origin);

// As std::getenv: null where the variable is not set.
using GetEnvironment = std::function<const char*(const char*)>;
using KeyValue = std::pair<std::string, std::string>;

struct ConfigSources {
  std::string_view file_name;             // for messages only
  std::string_view file_text;             // lines "key=value", empty lines, lines starting with '#'
  GetEnvironment environment;             // may be empty: no environment is consulted
  std::vector<KeyValue> explicit_values;  // the last of several values of one key counts
};

// An option's effective value.
struct Setting {
  const Option* option;
  Origin origin;
  std::string text;    // canonical: equal values have equal texts
  int64_t number = 0;  // kBool 0 or 1, kInt, kSize in bytes; 0 for the other types
};

class Config {
 public:
  // Requires that the table outlives the configuration, has unique names and valid defaults.
  // Fails with kInvalid and a sentence that names the key, the value and what is allowed.
  static Result<Config> parse(std::span<const Option> table, const ConfigSources& sources);

  // Each requires that the table has the option, with this type. O(options).
  [[nodiscard]] bool get_bool(std::string_view name) const;
  [[nodiscard]] int64_t get_int(std::string_view name) const;
  [[nodiscard]] int64_t get_size(std::string_view name) const;
  [[nodiscard]] const std::string& get_enum(std::string_view name) const;
  [[nodiscard]] const std::string& get_string(std::string_view name) const;

  // All options in table order.
  [[nodiscard]] const std::vector<Setting>& settings() const { return settings_; }
  // The effective values as "key=value" lines; parses back to the same values.
  [[nodiscard]] std::string text() const;
  // A Markdown table of option, value and origin.
  [[nodiscard]] std::string markdown() const;

 private:
  explicit Config(std::span<const Option> table);

  Result<void> apply(Origin origin, std::string_view key, std::string_view value);
  Result<void> apply_file(std::string_view name, std::string_view text);
  Result<void> apply_environment(const GetEnvironment& environment);
  [[nodiscard]] const Setting& setting(std::string_view name, OptionType type) const;

  std::vector<Setting> settings_;
};

// A Markdown table of option, allowed values, default and meaning: the reference for users.
[[nodiscard]] std::string options_markdown(std::span<const Option> table);

}  // namespace tessera::base
