#include "tessera/base/json_writer.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include "tessera/base/assert.hpp"
#include "tessera/base/utf8.hpp"

namespace tessera::base {

namespace {

// The two-character escape of a control character, quote or backslash; nullptr if it has none.
const char* short_escape(char c) {
  switch (c) {
    case '"':
      return "\\\"";
    case '\\':
      return "\\\\";
    case '\b':
      return "\\b";
    case '\f':
      return "\\f";
    case '\n':
      return "\\n";
    case '\r':
      return "\\r";
    case '\t':
      return "\\t";
    default:
      return nullptr;
  }
}

void append_ascii(std::string& quoted, char c) {
  constexpr std::string_view kHex = "0123456789abcdef";
  const auto byte = static_cast<unsigned char>(c);
  if (const char* escape = short_escape(c)) {
    quoted += escape;
  } else if (byte < 0x20 || byte == 0x7F) {
    quoted += "\\u00";
    quoted += kHex[byte >> 4U];
    quoted += kHex[byte & 0xFU];
  } else {
    quoted += c;
  }
}

}  // namespace

std::string json_quoted(std::string_view text) {
  std::string quoted = "\"";
  while (!text.empty()) {
    const size_t length = utf8_length(text);
    if (length == 0) {
      quoted += "\\ufffd";
    } else if (length == 1) {
      append_ascii(quoted, text.front());
    } else {
      quoted += text.substr(0, length);
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return quoted += '"';
}

void JsonWriter::new_line() {
  text_ += '\n';
  text_.append(2 * levels_.size(), ' ');
}

void JsonWriter::separate(Level& level) {
  if (level.items++ > 0) text_ += ',';
  if (style_ == Style::kCompact) return;
  if (level.layout == Layout::kLines) {
    new_line();
  } else if (level.items > 1) {
    text_ += ' ';
  }
}

void JsonWriter::begin_item() {
  if (levels_.empty()) {
    TESSERA_ASSERT(text_.empty());
  } else if (levels_.back().bracket == '{') {
    TESSERA_ASSERT(after_key_);
  } else {
    separate(levels_.back());
  }
  after_key_ = false;
}

JsonWriter& JsonWriter::key(std::string_view name) {
  TESSERA_ASSERT(!levels_.empty() && levels_.back().bracket == '{' && !after_key_);
  separate(levels_.back());
  text_ += json_quoted(name);
  text_ += style_ == Style::kPretty ? ": " : ":";
  after_key_ = true;
  return *this;
}

JsonWriter& JsonWriter::scalar(std::string_view token) {
  begin_item();
  text_ += token;
  return *this;
}

JsonWriter& JsonWriter::value(double real) {
  if (!std::isfinite(real)) return null();
  std::array<char, 32> digits{};
  const auto result = std::to_chars(digits.data(), digits.data() + digits.size(), real);
  std::string token(digits.data(), result.ptr);
  if (token.find_first_of(".e") == std::string::npos) token += ".0";
  return scalar(token);
}

JsonWriter& JsonWriter::value(std::string_view text) { return scalar(json_quoted(text)); }

JsonWriter& JsonWriter::open(char bracket, Layout layout) {
  begin_item();
  // What stands in one line has room for no lines.
  if (!levels_.empty() && levels_.back().layout == Layout::kOneLine) layout = Layout::kOneLine;
  text_ += bracket;
  levels_.push_back({bracket, layout, 0});
  return *this;
}

JsonWriter& JsonWriter::close(char bracket) {
  TESSERA_ASSERT(!levels_.empty() && !after_key_);
  const Level level = levels_.back();
  TESSERA_ASSERT((level.bracket == '{') == (bracket == '}'));
  levels_.pop_back();
  if (style_ == Style::kPretty && level.layout == Layout::kLines && level.items > 0) new_line();
  text_ += bracket;
  return *this;
}

// Recursion is bounded: a Json was read within JsonLimits::depth.
JsonWriter& JsonWriter::value(const Json& json) {
  if (const bool* boolean = json.boolean()) return value(*boolean);
  if (const int64_t* integer = json.integer()) return value(*integer);
  if (const double* real = json.real()) return value(*real);
  if (const std::string* text = json.string()) return value(std::string_view(*text));
  if (const Json::Array* array = json.array()) {
    begin_array();
    for (const Json& item : *array) value(item);
    return end_array();
  }
  if (const Json::Object* object = json.object()) {
    begin_object();
    for (const Json::Member& item : *object) key(item.key).value(item.value);
    return end_object();
  }
  return null();
}

std::string JsonWriter::finish() {
  TESSERA_ASSERT(levels_.empty() && !text_.empty());
  if (style_ == Style::kPretty) text_ += '\n';
  return std::exchange(text_, std::string());
}

}  // namespace tessera::base
