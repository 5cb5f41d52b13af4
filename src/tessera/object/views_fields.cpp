#include "tessera/object/views_fields.hpp"

#include <algorithm>

#include "tessera/base/assert.hpp"
#include "tessera/base/json_writer.hpp"

namespace tessera::object {

using base::Code;
using base::Failure;
using base::Json;
using base::Result;

namespace {

Failure wrong_kind(const Located& value, const char* expected) {
  return wrong(value, std::string("must be ") + expected + ", is " + value.json->kind_name());
}

}  // namespace

Located Located::member(std::string_view key) const {
  const Json* found = json->find(key);
  TESSERA_ASSERT(found != nullptr);
  return {found, path.empty() ? std::string(key) : path + "." + std::string(key)};
}

Located Located::item(size_t index) const {
  TESSERA_ASSERT(json->array() != nullptr && index < json->array()->size());
  return {&(*json->array())[index], path + "[" + std::to_string(index) + "]"};
}

Failure wrong(const Located& value, const std::string& cause) {
  return wrong(value, base::Error{Code::kInvalid, 0, cause});
}

Failure wrong(const Located& value, const base::Error& error) {
  const std::string place = to_string(value.json->place());
  const std::string where = value.path.empty() ? place : value.path + " (" + place + ")";
  return base::fail(error.code, where + ": " + error.message());
}

Result<int64_t> to_integer(const Located& value) {
  const int64_t* number = value.json->integer();
  if (number == nullptr) return wrong_kind(value, "an integer");
  return *number;
}

Result<const Json::Array*> to_array(const Located& value) {
  const Json::Array* array = value.json->array();
  if (array == nullptr) return wrong_kind(value, "an array");
  return array;
}

Result<std::vector<int64_t>> to_integers(const Located& value) {
  TESSERA_TRY(const Json::Array* array, to_array(value));
  std::vector<int64_t> numbers;
  numbers.reserve(array->size());
  for (size_t i = 0; i < array->size(); ++i) {
    const int64_t* number = (*array)[i].integer();
    if (number == nullptr) return wrong_kind(value.item(i), "an integer");
    numbers.push_back(*number);
  }
  return numbers;
}

Result<Fields> Fields::of(const Located& value, std::initializer_list<const char*> known) {
  const Json::Object* object = value.json->object();
  if (object == nullptr) return wrong_kind(value, "an object");
  for (const Json::Member& member : *object) {
    if (std::find(known.begin(), known.end(), member.key) != known.end()) continue;
    std::string names;
    for (const char* name : known) names += (names.empty() ? "" : ", ") + std::string(name);
    const std::string shown = base::json_quoted(std::string_view(member.key).substr(0, 40));
    return wrong(value, "unknown key " + shown + "; known are " + names);
  }
  return Fields(value);
}

Result<Located> Fields::required(std::string_view key) const {
  if (!has(key)) return wrong(value_, "the key \"" + std::string(key) + "\" is missing");
  return value_.member(key);
}

Result<int64_t> Fields::integer(std::string_view key) const {
  TESSERA_TRY(const Located member, required(key));
  return to_integer(member);
}

Result<std::vector<int64_t>> Fields::integers(std::string_view key) const {
  TESSERA_TRY(const Located member, required(key));
  return to_integers(member);
}

Result<int64_t> Fields::integer_or(std::string_view key, int64_t otherwise) const {
  if (!has(key)) return otherwise;
  return to_integer(value_.member(key));
}

}  // namespace tessera::object
