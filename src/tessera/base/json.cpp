#include "tessera/base/json.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>
#include <utility>

#include "tessera/base/assert.hpp"
#include "tessera/base/json_writer.hpp"
#include "tessera/base/utf8.hpp"

namespace tessera::base {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::optional<uint32_t> hex_digit(char c) {
  if (is_digit(c)) return static_cast<uint32_t>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<uint32_t>(c - 'a' + 10);
  if (c >= 'A' && c <= 'F') return static_cast<uint32_t>(c - 'A' + 10);
  return std::nullopt;
}

// The character of a two-character escape; 0 if there is none.
char unescaped(char c) {
  constexpr std::string_view kEscapes = "\"\\/bfnrt";
  constexpr std::string_view kCharacters = "\"\\/\b\f\n\r\t";
  const size_t found = kEscapes.find(c);
  return found == std::string_view::npos ? '\0' : kCharacters[found];
}

// At most the first few characters, for messages.
std::string shortened(std::string_view text) {
  size_t shown = 24;
  if (text.size() <= shown) return std::string(text);
  while (shown > 0 && (static_cast<unsigned char>(text[shown]) & 0xC0U) == 0x80) --shown;
  return std::string(text.substr(0, shown)) + "...";
}

}  // namespace

// One pass over the text. Recursion is bounded by JsonLimits::depth.
class JsonParser {
 public:
  JsonParser(std::string_view text, const JsonLimits& limits) : text_(text), limits_(limits) {}

  Result<Json> document();

 private:
  static constexpr uint32_t kHighSurrogate = 0xD800;
  static constexpr uint32_t kLowSurrogate = 0xDC00;
  static constexpr uint32_t kPastSurrogates = 0xE000;

  [[nodiscard]] bool at_end() const { return at_ == text_.size(); }
  [[nodiscard]] char peek() const { return at_end() ? '\0' : text_[at_]; }
  [[nodiscard]] JsonPlace place() const {
    return {line_, static_cast<uint32_t>(at_ - line_begin_ + 1)};
  }

  Failure failure_at(JsonPlace where, const std::string& what) const {
    return fail(Code::kInvalid, to_string(where) + ": " + what);
  }
  [[nodiscard]] std::string found() const;
  Failure expected(const std::string& what) const {
    return failure_at(place(), "expected " + what + ", found " + found());
  }

  void skip_space();
  bool skip(char c);

  Result<Json> value();
  Result<void> value_into(Json& json);
  Result<void> word_into(Json& json);
  Result<void> number_into(Json& json);
  Result<void> integer_into(Json& json, std::string_view token, JsonPlace where) const;
  Result<void> real_into(Json& json, std::string_view token, JsonPlace where) const;
  Result<void> digits();
  Result<void> array_into(Json& json);
  Result<void> object_into(Json& json);
  Result<Json::Member> member();
  Result<void> refuse_duplicates(const Json::Object& object) const;

  Result<std::string> string();
  Result<void> character_into(std::string& text);
  Result<void> escape_into(std::string& text);
  Result<uint32_t> code_point();
  Result<uint32_t> four_hex_digits();

  std::string_view text_;
  const JsonLimits& limits_;
  size_t at_ = 0;
  size_t line_begin_ = 0;
  uint32_t line_ = 1;
  int64_t values_ = 0;
  int depth_ = 0;
};

std::string JsonParser::found() const {
  if (at_end()) return "the end of the text";
  const size_t length = utf8_length(text_.substr(at_));
  const auto byte = static_cast<unsigned char>(text_[at_]);
  if (length == 0 || byte < 0x20 || byte == 0x7F) return "byte " + std::to_string(byte);
  return "'" + std::string(text_.substr(at_, length)) + "'";
}

void JsonParser::skip_space() {
  for (; !at_end(); ++at_) {
    const char c = text_[at_];
    if (c == '\n') {
      ++line_;
      line_begin_ = at_ + 1;
    } else if (c != ' ' && c != '\t' && c != '\r') {
      return;
    }
  }
}

bool JsonParser::skip(char c) {
  if (at_end() || text_[at_] != c) return false;
  ++at_;
  return true;
}

Result<Json> JsonParser::document() {
  skip_space();
  TESSERA_TRY(Json json, value());
  skip_space();
  if (!at_end()) return expected("the end of the text");
  return json;
}

Result<Json> JsonParser::value() {
  Json json;
  json.place_ = place();
  if (++values_ > limits_.values) {
    return failure_at(place(), "more than " + std::to_string(limits_.values) + " values");
  }
  TESSERA_TRY_VOID(value_into(json));
  return json;
}

Result<void> JsonParser::value_into(Json& json) {
  const char c = peek();
  if (c == '-' || is_digit(c)) return number_into(json);
  if (c == '"') {
    TESSERA_TRY(std::string content, string());
    Json::Box<std::string> box;
    if (!content.empty()) box = std::make_unique<std::string>(std::move(content));
    json.value_ = std::move(box);
    return {};
  }
  if (c != '{' && c != '[') return word_into(json);
  if (depth_ == limits_.depth) {
    return failure_at(place(), "nested deeper than " + std::to_string(limits_.depth) + " levels");
  }
  ++depth_;
  auto result = c == '{' ? object_into(json) : array_into(json);
  --depth_;
  return result;
}

Result<void> JsonParser::word_into(Json& json) {
  const std::string_view rest = text_.substr(at_);
  const auto take = [&](std::string_view word) {
    if (!rest.starts_with(word)) return false;
    at_ += word.size();
    return true;
  };
  if (take("true")) {
    json.value_ = true;
  } else if (take("false")) {
    json.value_ = false;
  } else if (!take("null")) {
    return expected("a value");
  }
  return {};
}

Result<void> JsonParser::digits() {
  if (!is_digit(peek())) return expected("a digit");
  while (is_digit(peek())) ++at_;
  return {};
}

Result<void> JsonParser::number_into(Json& json) {
  const JsonPlace where = place();
  const size_t begin = at_;
  skip('-');
  const bool zero = peek() == '0';
  const size_t first_digit = at_;
  TESSERA_TRY_VOID(digits());
  if (zero && at_ - first_digit > 1) {
    return failure_at(where, "a number may not begin with 0 and go on with digits");
  }
  bool integral = true;
  if (skip('.')) {
    integral = false;
    TESSERA_TRY_VOID(digits());
  }
  if (skip('e') || skip('E')) {
    integral = false;
    if (!skip('+')) skip('-');
    TESSERA_TRY_VOID(digits());
  }
  const std::string_view token = text_.substr(begin, at_ - begin);
  return integral ? integer_into(json, token, where) : real_into(json, token, where);
}

Result<void> JsonParser::integer_into(Json& json, std::string_view token, JsonPlace where) const {
  int64_t number = 0;
  const auto result = std::from_chars(token.data(), token.data() + token.size(), number);
  if (result.ec != std::errc()) {
    return failure_at(where, "integer " + shortened(token) + " does not fit in 64 bits");
  }
  json.value_ = number;
  return {};
}

Result<void> JsonParser::real_into(Json& json, std::string_view token, JsonPlace where) const {
  double number = 0;
  const auto result = std::from_chars(token.data(), token.data() + token.size(), number);
  if (result.ec != std::errc()) {
    return failure_at(where, "number " + shortened(token) + " is out of range");
  }
  json.value_ = number;
  return {};
}

Result<void> JsonParser::array_into(Json& json) {
  Json::Box<Json::Array> items;
  skip('[');
  skip_space();
  while (!skip(']')) {
    if (items != nullptr) {
      if (!skip(',')) return expected("',' or ']'");
      skip_space();
    } else {
      items = std::make_unique<Json::Array>();
    }
    TESSERA_TRY(Json item, value());
    items->push_back(std::move(item));
    skip_space();
  }
  json.value_ = std::move(items);
  return {};
}

Result<void> JsonParser::object_into(Json& json) {
  Json::Box<Json::Object> members;
  skip('{');
  skip_space();
  while (!skip('}')) {
    if (members != nullptr) {
      if (!skip(',')) return expected("',' or '}'");
      skip_space();
    } else {
      members = std::make_unique<Json::Object>();
    }
    TESSERA_TRY(Json::Member item, member());
    members->push_back(std::move(item));
    skip_space();
  }
  if (members != nullptr) TESSERA_TRY_VOID(refuse_duplicates(*members));
  json.value_ = std::move(members);
  return {};
}

Result<Json::Member> JsonParser::member() {
  Json::Member member;
  member.place = place();
  if (peek() != '"') return expected("a key in quotes");
  TESSERA_TRY(member.key, string());
  skip_space();
  if (!skip(':')) return expected("':'");
  skip_space();
  TESSERA_TRY(member.value, value());
  return member;
}

Result<void> JsonParser::refuse_duplicates(const Json::Object& object) const {
  std::vector<const Json::Member*> sorted;
  sorted.reserve(object.size());
  for (const Json::Member& member : object) sorted.push_back(&member);
  // By address too, so that of two equal keys the later one is reported.
  std::sort(sorted.begin(), sorted.end(), [](const Json::Member* a, const Json::Member* b) {
    return a->key != b->key ? a->key < b->key : a < b;
  });
  const auto found = std::adjacent_find(
      sorted.begin(), sorted.end(),
      [](const Json::Member* a, const Json::Member* b) { return a->key == b->key; });
  if (found == sorted.end()) return {};
  const Json::Member* second = *std::next(found);
  return failure_at(second->place,
                    "key " + json_quoted(shortened(second->key)) + " is given twice");
}

Result<std::string> JsonParser::string() {
  const JsonPlace where = place();
  std::string content;
  skip('"');
  while (!skip('"')) {
    if (at_end()) return failure_at(where, "this string has no closing quote");
    TESSERA_TRY_VOID(character_into(content));
  }
  return content;
}

Result<void> JsonParser::character_into(std::string& text) {
  if (skip('\\')) return escape_into(text);
  const size_t length = utf8_length(text_.substr(at_));
  if (length == 0) return failure_at(place(), found() + " is not UTF-8");
  if (static_cast<unsigned char>(text_[at_]) < 0x20) {
    return failure_at(place(), "a string may not hold " + found() + " unescaped");
  }
  text += text_.substr(at_, length);
  at_ += length;
  return {};
}

Result<void> JsonParser::escape_into(std::string& text) {
  if (skip('u')) {
    TESSERA_TRY(const uint32_t character, code_point());
    append_utf8(text, character);
    return {};
  }
  const char character = unescaped(peek());
  if (at_end() || character == '\0') return expected("one of \"\\/bfnrtu after '\\'");
  text += character;
  ++at_;
  return {};
}

Result<uint32_t> JsonParser::code_point() {
  const JsonPlace where = place();
  TESSERA_TRY(const uint32_t first, four_hex_digits());
  if (first < kHighSurrogate || first >= kPastSurrogates) return first;
  const auto lone = [&] { return failure_at(where, "a surrogate without its other half"); };
  if (first >= kLowSurrogate || !skip('\\') || !skip('u')) return lone();
  TESSERA_TRY(const uint32_t second, four_hex_digits());
  if (second < kLowSurrogate || second >= kPastSurrogates) return lone();
  return 0x10000 + ((first - kHighSurrogate) << 10U) + (second - kLowSurrogate);
}

Result<uint32_t> JsonParser::four_hex_digits() {
  uint32_t number = 0;
  for (int i = 0; i < 4; ++i) {
    const auto digit = hex_digit(peek());
    if (!digit) return expected("four hexadecimal digits after '\\u'");
    number = (number << 4U) | *digit;
    ++at_;
  }
  return number;
}

Result<Json> Json::parse(std::string_view text, const JsonLimits& limits) {
  TESSERA_ASSERT(limits.size_bytes <= std::numeric_limits<uint32_t>::max());
  if (text.size() > static_cast<uint64_t>(limits.size_bytes)) {
    return fail(Code::kInvalid, "the text has " + std::to_string(text.size()) + " bytes; at most " +
                                    std::to_string(limits.size_bytes) + " are read");
  }
  return JsonParser(text, limits).document();
}

const char* Json::kind_name() const {
  constexpr const char* kNames[] = {"null",     "a boolean", "an integer", "a real number",
                                    "a string", "an array",  "an object"};
  return kNames[value_.index()];
}

const Json* Json::find(std::string_view key) const {
  const Object* members = object();
  if (members == nullptr) return nullptr;
  for (const Member& member : *members) {
    if (member.key == key) return &member.value;
  }
  return nullptr;
}

std::string to_string(JsonPlace place) {
  return "line " + std::to_string(place.line) + ", column " + std::to_string(place.column);
}

}  // namespace tessera::base
