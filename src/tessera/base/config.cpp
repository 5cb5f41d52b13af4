#include "tessera/base/config.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <numeric>
#include <optional>

#include "tessera/base/checked.hpp"

namespace tessera::base {

namespace {

struct Value {
  std::string text;
  int64_t number = 0;
};

std::string quoted(std::string_view text) { return "\"" + std::string(text) + "\""; }

std::string_view trimmed(std::string_view text) {
  const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

// Takes what stands before the separator off the text; all of it where there is none.
std::string_view take_until(std::string_view& text, char separator) {
  const size_t end = std::min(text.find(separator), text.size());
  const std::string_view taken = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return taken;
}

std::optional<int64_t> parse_int(std::string_view text) {
  int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, status] = std::from_chars(text.data(), end, value);
  if (status != std::errc() || stop != end) return std::nullopt;
  return value;
}

std::optional<int64_t> parse_size(std::string_view text) {
  int64_t unit = 1;
  if (!text.empty()) {
    switch (text.back()) {
      case 'k':
      case 'K':
        unit = int64_t{1} << 10;
        break;
      case 'm':
      case 'M':
        unit = int64_t{1} << 20;
        break;
      case 'g':
      case 'G':
        unit = int64_t{1} << 30;
        break;
      default:
        break;
    }
  }
  if (unit != 1) text.remove_suffix(1);
  const auto count = parse_int(text);
  if (!count || *count < 0) return std::nullopt;
  return checked_mul(*count, unit);
}

std::string size_text(int64_t bytes) {
  constexpr std::pair<int, char> kUnits[] = {{30, 'G'}, {20, 'M'}, {10, 'K'}};
  for (const auto& [shift, letter] : kUnits) {
    const int64_t unit = int64_t{1} << shift;
    if (bytes >= unit && bytes % unit == 0) return std::to_string(bytes / unit) + letter;
  }
  return std::to_string(bytes);
}

std::optional<bool> parse_bool(std::string_view text) {
  for (const std::string_view yes : {"on", "true", "yes", "enable", "1"}) {
    if (text == yes) return true;
  }
  for (const std::string_view no : {"off", "false", "no", "disable", "0"}) {
    if (text == no) return false;
  }
  return std::nullopt;
}

bool is_choice(std::string_view choices, std::string_view word) {
  while (!choices.empty()) {
    if (take_until(choices, '|') == word) return true;
  }
  return false;
}

bool within(const Option& option, int64_t value) {
  return option.min <= value && value <= option.max;
}

// The value that a text stands for, or nothing where the option does not allow it.
std::optional<Value> parse_value(const Option& option, std::string_view text) {
  switch (option.type) {
    case OptionType::kBool: {
      const auto value = parse_bool(text);
      if (!value) return std::nullopt;
      return Value{*value ? "on" : "off", *value ? 1 : 0};
    }
    case OptionType::kInt: {
      const auto value = parse_int(text);
      if (!value || !within(option, *value)) return std::nullopt;
      return Value{std::to_string(*value), *value};
    }
    case OptionType::kSize: {
      const auto value = parse_size(text);
      if (!value || !within(option, *value)) return std::nullopt;
      return Value{size_text(*value), *value};
    }
    case OptionType::kEnum:
      if (!is_choice(option.choices, text)) return std::nullopt;
      return Value{std::string(text)};
    case OptionType::kString:
      // A line break would make text() parse back to something else.
      if (!within(option, exact_cast<int64_t>(text.size()))) return std::nullopt;
      if (text.find('\n') != text.npos || trimmed(text) != text) return std::nullopt;
      return Value{std::string(text)};
  }
  return std::nullopt;
}

std::string range_text(const std::string& min, const Option& option, const std::string& max) {
  if (option.max == std::numeric_limits<int64_t>::max()) return "of at least " + min;
  return "from " + min + " to " + max;
}

std::string allowed(const Option& option) {
  switch (option.type) {
    case OptionType::kBool:
      return "on or off";
    case OptionType::kInt:
      return "an integer " +
             range_text(std::to_string(option.min), option, std::to_string(option.max));
    case OptionType::kSize:
      return "a size in bytes, or with suffix K, M or G, " +
             range_text(size_text(option.min), option, size_text(option.max));
    case OptionType::kEnum: {
      std::string words;
      for (std::string_view rest = option.choices; !rest.empty();) {
        const std::string word(take_until(rest, '|'));
        if (!words.empty()) words += rest.empty() ? " or " : ", ";
        words += word;
      }
      return words;
    }
    case OptionType::kString:
      return "a text of at most " + std::to_string(option.max) + " bytes on one line";
  }
  return {};
}

// How many single-character edits turn one word into the other. O(a.size() * b.size()).
size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i + 1;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

Failure unknown_key(const std::vector<Setting>& settings, std::string_view key) {
  // Nothing sensible is close to a very long word, and the distance would cost its length.
  constexpr size_t kKeyMax = 100;
  const std::string_view word = key.substr(0, kKeyMax);
  std::string_view closest;
  size_t best = std::numeric_limits<size_t>::max();
  for (const Setting& setting : settings) {
    const size_t distance = edit_distance(word, setting.option->name);
    if (distance < best) closest = setting.option->name;
    best = std::min(best, distance);
  }
  std::string message = "unknown key " + quoted(word);
  if (!closest.empty()) message += "; the closest known key is " + quoted(closest);
  return fail(Code::kInvalid, message);
}

Failure located(const std::string& place, const Result<void>& result) {
  return fail(result.error().code, place + ": " + result.error().context);
}

std::string environment_name(std::string_view option) {
  std::string name = "TESSERA_";
  for (const char c : option) {
    name += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  }
  return name;
}

std::string cell(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '|') escaped += '\\';
    escaped += c;
  }
  return escaped;
}

std::string code_cell(std::string_view text) {
  return text.empty() ? "(empty)" : "`" + cell(text) + "`";
}

}  // namespace

const char* origin_name(Origin origin) {
  switch (origin) {
    case Origin::kDefault:
      return "default";
    case Origin::kFile:
      return "file";
    case Origin::kEnvironment:
      return "environment";
    case Origin::kExplicit:
      return "explicit";
  }
  return "unknown";
}

Config::Config(std::span<const Option> table) {
  for (const Option& option : table) {
    for (const Setting& earlier : settings_) TESSERA_ASSERT(earlier.option->name != option.name);
    auto value = parse_value(option, option.default_text);
    TESSERA_ASSERT(value.has_value());
    settings_.push_back({&option, Origin::kDefault, std::move(value->text), value->number});
  }
}

Result<Config> Config::parse(std::span<const Option> table, const ConfigSources& sources) {
  Config config(table);
  TESSERA_TRY_VOID(config.apply_file(sources.file_name, sources.file_text));
  if (sources.environment) TESSERA_TRY_VOID(config.apply_environment(sources.environment));
  for (const auto& [key, value] : sources.explicit_values) {
    TESSERA_TRY_VOID(config.apply(Origin::kExplicit, key, value));
  }
  return config;
}

Result<void> Config::apply(Origin origin, std::string_view key, std::string_view value) {
  const auto found = std::find_if(settings_.begin(), settings_.end(), [&](const Setting& setting) {
    return setting.option->name == key;
  });
  if (found == settings_.end()) return unknown_key(settings_, key);
  auto parsed = parse_value(*found->option, value);
  if (!parsed) {
    return fail(Code::kInvalid, "key " + quoted(key) + " has the value " + quoted(value) +
                                    "; allowed is " + allowed(*found->option));
  }
  *found = {found->option, origin, std::move(parsed->text), parsed->number};
  return {};
}

Result<void> Config::apply_file(std::string_view name, std::string_view text) {
  for (int number = 1; !text.empty(); ++number) {
    const std::string_view line = trimmed(take_until(text, '\n'));
    if (line.empty() || line.front() == '#') continue;
    const std::string place = std::string(name) + ":" + std::to_string(number);
    if (line.find('=') == line.npos) {
      return fail(Code::kInvalid, place + ": " + quoted(line) + " is not of the form key=value");
    }
    std::string_view value = line;
    const std::string_view key = trimmed(take_until(value, '='));
    const auto applied = apply(Origin::kFile, key, trimmed(value));
    if (!applied) return located(place, applied);
  }
  return {};
}

Result<void> Config::apply_environment(const GetEnvironment& environment) {
  for (const Setting& setting : settings_) {
    const std::string variable = environment_name(setting.option->name);
    const char* value = environment(variable.c_str());
    if (value == nullptr) continue;
    const auto applied = apply(Origin::kEnvironment, setting.option->name, value);
    if (!applied) return located("environment variable " + variable, applied);
  }
  return {};
}

const Setting& Config::setting(std::string_view name, OptionType type) const {
  const auto found = std::find_if(settings_.begin(), settings_.end(), [&](const Setting& setting) {
    return setting.option->name == name;
  });
  TESSERA_ASSERT(found != settings_.end());
  TESSERA_ASSERT(found->option->type == type);
  return *found;
}

bool Config::get_bool(std::string_view name) const {
  return setting(name, OptionType::kBool).number != 0;
}

int64_t Config::get_int(std::string_view name) const {
  return setting(name, OptionType::kInt).number;
}

int64_t Config::get_size(std::string_view name) const {
  return setting(name, OptionType::kSize).number;
}

const std::string& Config::get_enum(std::string_view name) const {
  return setting(name, OptionType::kEnum).text;
}

const std::string& Config::get_string(std::string_view name) const {
  return setting(name, OptionType::kString).text;
}

std::string Config::text() const {
  std::string lines;
  for (const Setting& setting : settings_) {
    lines += std::string(setting.option->name) + "=" + setting.text + "\n";
  }
  return lines;
}

std::string Config::markdown() const {
  std::string table = "| option | value | origin |\n|---|---|---|\n";
  for (const Setting& setting : settings_) {
    table += "| `" + std::string(setting.option->name) + "` | " + code_cell(setting.text) + " | " +
             origin_name(setting.origin) + " |\n";
  }
  return table;
}

std::string options_markdown(std::span<const Option> table) {
  std::string text = "| option | allowed | default | meaning |\n|---|---|---|---|\n";
  for (const Option& option : table) {
    text += "| `" + std::string(option.name) + "` | " + cell(allowed(option)) + " | " +
            code_cell(option.default_text) + " | " + cell(option.doc) + " |\n";
  }
  return text;
}

}  // namespace tessera::base
