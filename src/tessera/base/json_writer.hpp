// JSON writer: values in, well-formed text out.
//
// Calls follow the text from left to right; keys and values in the wrong place are programmer
// errors and assert. Whatever strings hold, the text is valid JSON in UTF-8: bytes that are not
// UTF-8 become U+FFFD. Thread safety: none; one thread writes one text.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/base/checked.hpp"
#include "tessera/base/json.hpp"

namespace tessera::base {

class JsonWriter {
 public:
  enum class Style { kCompact, kPretty };
  // How a container is laid out in pretty text: one item a line, or all of it in one line.
  enum class Layout { kLines, kOneLine };

  explicit JsonWriter(Style style = Style::kPretty) : style_(style) {}

  JsonWriter& begin_object(Layout layout = Layout::kLines) { return open('{', layout); }
  JsonWriter& end_object() { return close('}'); }
  JsonWriter& begin_array(Layout layout = Layout::kLines) { return open('[', layout); }
  JsonWriter& end_array() { return close(']'); }
  // Requires to be in an object, before a value.
  JsonWriter& key(std::string_view name);

  JsonWriter& null() { return scalar("null"); }
  JsonWriter& value(bool boolean) { return scalar(boolean ? "true" : "false"); }
  // Written so that it reads back as the same real; infinities and NaN become null.
  JsonWriter& value(double real);
  JsonWriter& value(std::string_view text);
  JsonWriter& value(const char* text) { return value(std::string_view(text)); }
  template <std::integral T>
  JsonWriter& value(T integer) {
    return scalar(std::to_string(exact_cast<int64_t>(integer)));
  }
  // A whole value as it was read.
  JsonWriter& value(const Json& json);

  // Shorthand for key() and value().
  template <typename T>
  JsonWriter& member(std::string_view name, const T& content) {
    return key(name).value(content);
  }

  // The text, with a final newline in pretty style; the writer is empty afterwards. Requires
  // exactly one complete value.
  [[nodiscard]] std::string finish();

 private:
  struct Level {
    char bracket = '{';
    Layout layout = Layout::kLines;
    int64_t items = 0;
  };

  JsonWriter& open(char bracket, Layout layout);
  JsonWriter& close(char bracket);
  JsonWriter& scalar(std::string_view token);
  void begin_item();
  void separate(Level& level);
  void new_line();

  Style style_;
  std::string text_;
  std::vector<Level> levels_;
  bool after_key_ = false;
};

// The text as a JSON string, quotes included.
[[nodiscard]] std::string json_quoted(std::string_view text);

}  // namespace tessera::base
