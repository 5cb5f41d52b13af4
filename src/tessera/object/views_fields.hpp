// Fields: the members of a JSON object of a views file, each checked as it is taken.
//
// Messages name the way to the value, where it stands in the text, and the cause:
// "type.vector.count (line 7, column 20): must be at least 0, is -1". Part of reading views files
// (views_file.hpp) and of use only there. Thread safety: const use from many threads is safe.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/base/json.hpp"
#include "tessera/base/result.hpp"

namespace tessera::object {

// A value and the way to it from the view or file that holds it.
struct Located {
  const base::Json* json = nullptr;
  std::string path;

  // Requires an object that has the key, or an array that has the index.
  [[nodiscard]] Located member(std::string_view key) const;
  [[nodiscard]] Located item(size_t index) const;
};

[[nodiscard]] base::Failure wrong(const Located& value, const std::string& cause);
// The failure of a call that was made for a value, told with the way to it.
[[nodiscard]] base::Failure wrong(const Located& value, const base::Error& error);

// Each fails with kInvalid unless the value is of that kind.
[[nodiscard]] base::Result<int64_t> to_integer(const Located& value);
[[nodiscard]] base::Result<const base::Json::Array*> to_array(const Located& value);
[[nodiscard]] base::Result<std::vector<int64_t>> to_integers(const Located& value);

class Fields {
 public:
  // Fails unless the value is an object all of whose keys are known.
  static base::Result<Fields> of(const Located& value, std::initializer_list<const char*> known);

  [[nodiscard]] bool has(std::string_view key) const { return value_.json->find(key) != nullptr; }
  // Each fails if the key is missing.
  [[nodiscard]] base::Result<Located> required(std::string_view key) const;
  [[nodiscard]] base::Result<int64_t> integer(std::string_view key) const;
  [[nodiscard]] base::Result<std::vector<int64_t>> integers(std::string_view key) const;

  [[nodiscard]] base::Result<int64_t> integer_or(std::string_view key, int64_t otherwise) const;
  [[nodiscard]] const Located& value() const { return value_; }

 private:
  explicit Fields(Located value) : value_(std::move(value)) {}

  Located value_;
};

}  // namespace tessera::object
