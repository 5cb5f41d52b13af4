// JSON: a small reader of untrusted text.
//
// What people and programs hand to the command line is JSON (RFC 8259). The reader accepts nothing
// else: no comments, no trailing commas, no byte order mark, no duplicate keys, no lone surrogates,
// no bytes that are not UTF-8. Time is O(n log n) and memory O(n) in the size of the text, and both
// are bounded by JsonLimits whatever the text says. json_writer.hpp is the other direction.
// Thread safety: values; const use from many threads is safe.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tessera/base/result.hpp"

namespace tessera::base {

// Bounds on one text. A value costs at most about 64 bytes of memory.
struct JsonLimits {
  int64_t size_bytes = int64_t{64} << 20;  // at most 4 GiB
  int64_t values = int64_t{1} << 21;       // of all kinds, at all depths
  int depth = 64;                          // arrays and objects inside each other
};

// Where a value begins in its text, both counted from 1; columns are bytes.
struct JsonPlace {
  uint32_t line = 1;
  uint32_t column = 1;
};

class Json {
 public:
  struct Member;
  using Array = std::vector<Json>;
  using Object = std::vector<Member>;  // in the order of the text; keys are distinct

  enum class Kind { kNull, kBoolean, kInteger, kReal, kString, kArray, kObject };

  // Fails with kInvalid; the message has the form "line 3, column 7: expected ',' or ']', found
  // 'x'".
  static Result<Json> parse(std::string_view text, const JsonLimits& limits = {});

  Json() = default;
  Json(Json&&) noexcept = default;
  Json& operator=(Json&&) noexcept = default;

  [[nodiscard]] Kind kind() const { return static_cast<Kind>(value_.index()); }
  [[nodiscard]] JsonPlace place() const { return place_; }
  // The kind with its article, for messages: "an integer".
  [[nodiscard]] const char* kind_name() const;

  [[nodiscard]] bool is_null() const { return kind() == Kind::kNull; }
  // Each answers nullptr if the value is of another kind. A number written without fraction and
  // exponent is an integer, any other a real.
  [[nodiscard]] const bool* boolean() const { return std::get_if<bool>(&value_); }
  [[nodiscard]] const int64_t* integer() const { return std::get_if<int64_t>(&value_); }
  [[nodiscard]] const double* real() const { return std::get_if<double>(&value_); }
  [[nodiscard]] const std::string* string() const { return boxed<std::string>(); }
  [[nodiscard]] const Array* array() const { return boxed<Array>(); }
  [[nodiscard]] const Object* object() const { return boxed<Object>(); }
  // The value of a key; nullptr if there is none or this is no object. Cost: O(members).
  [[nodiscard]] const Json* find(std::string_view key) const;

 private:
  friend class JsonParser;

  // Keeps a value at 24 bytes; empty text, arrays and objects are null and cost nothing more.
  template <typename T>
  using Box = std::unique_ptr<T>;

  template <typename T>
  [[nodiscard]] const T* boxed() const {
    static const T kEmpty{};
    const auto* box = std::get_if<Box<T>>(&value_);
    if (box == nullptr) return nullptr;
    return *box ? box->get() : &kEmpty;
  }

  // In the order of Kind.
  std::variant<std::monostate, bool, int64_t, double, Box<std::string>, Box<Array>, Box<Object>>
      value_;
  JsonPlace place_;
};

struct Json::Member {
  std::string key;
  JsonPlace place;  // of the key
  Json value;
};

// "line 3, column 7"
[[nodiscard]] std::string to_string(JsonPlace place);

}  // namespace tessera::base
