#include "tessera/move/profile.hpp"

#include <cerrno>
#include <utility>

#include "tessera/base/json.hpp"
#include "tessera/base/json_writer.hpp"
#include "tessera/port/file_system.hpp"

namespace tessera::move {

namespace {

using base::Code;
using base::Json;
using base::Result;

constexpr std::string_view kFormat = "tessera-profile";
constexpr int64_t kVersion = 1;
constexpr base::JsonLimits kLimits = {.size_bytes = 1 << 16, .values = 1 << 10, .depth = 8};
constexpr size_t kTextMax = 4096;

// More than a quarter of an hour a request, or a second a byte, is no measurement.
constexpr double kRequestMost = 1e12;
constexpr double kByteLeast = 1e-6;
constexpr double kByteMost = 1e9;

constexpr CostField kFields[] = {
    {"request_ns", &Costs::request_ns, 0, kRequestMost, "a small transfer by itself"},
    {"listed_ns", &Costs::listed_ns, 1e-3, kRequestMost, "a small read in a list"},
    {"listed_write_ns", &Costs::listed_write_ns, 1e-3, kRequestMost, "a small write in a list"},
    {"read_byte_ns", &Costs::read_byte_ns, kByteLeast, kByteMost, "a byte of a large read"},
    {"write_byte_ns", &Costs::write_byte_ns, kByteLeast, kByteMost, "a byte of a large write"},
    {"copy_byte_ns", &Costs::copy_byte_ns, kByteLeast, kByteMost, "a byte copied in memory"},
    {"lock_ns", &Costs::lock_ns, 0, kRequestMost, "a range lock and its release"},
    {"new_run_ns", &Costs::new_run_ns, 0, kRequestMost, "a listed write behind the end, besides"},
    {"new_page_ns", &Costs::new_page_ns, 0, kRequestMost, "a page behind the end"},
    {"message_ns", &Costs::message_ns, 0, kRequestMost, "a message between nodes"},
    {"network_byte_ns", &Costs::network_byte_ns, 0, kByteMost, "a byte between nodes"},
    {"nodes_served", &Costs::nodes_served, 1, 1e6, "nodes that the file system serves at once"},
};

base::Failure wrong(const Json& value, const std::string& what) {
  return base::fail(Code::kInvalid, to_string(value.place()) + ": " + what);
}

Result<std::string> text_member(const Json& object, const char* key) {
  const Json* member = object.find(key);
  if (member == nullptr) return std::string();
  const std::string* text = member->string();
  if (text == nullptr || text->size() > kTextMax) {
    return wrong(*member, std::string("\"") + key + "\" is " + member->kind_name() +
                              " where a short text is expected");
  }
  return *text;
}

Result<void> require_header(const Json& json) {
  if (json.object() == nullptr) {
    return wrong(json, std::string("expected an object, found ") + json.kind_name());
  }
  TESSERA_TRY(const std::string format, text_member(json, "format"));
  if (format != kFormat)
    return wrong(json, "this is no profile: \"format\" is not \"tessera-profile\"");
  const Json* version = json.find("version");
  const int64_t* number = version != nullptr ? version->integer() : nullptr;
  if (number == nullptr) return wrong(json, "the profile has no \"version\"");
  if (*number != kVersion) {
    return wrong(*version, "a profile of version " + std::to_string(*number) +
                               "; this program reads version " + std::to_string(kVersion));
  }
  return {};
}

Result<void> read_cost(const Json& costs, const CostField& field, std::vector<MeasuredCost>& into) {
  const Json* member = costs.find(field.name);
  if (member == nullptr) return {};
  const int64_t* integer = member->integer();
  const double* real = member->real();
  const std::string name = std::string("\"") + field.name + "\"";
  if (integer == nullptr && real == nullptr) {
    return wrong(*member, name + " is " + member->kind_name() + " where a number is expected");
  }
  const double value = integer != nullptr ? static_cast<double>(*integer) : *real;
  if (!(value >= field.least && value <= field.most)) {
    return wrong(*member, name + " is out of bounds");
  }
  into.push_back({&field, value});
  return {};
}

std::string value_of(const base::GetEnvironment& environment, const char* name) {
  const char* text = environment ? environment(name) : nullptr;
  return text != nullptr ? text : "";
}

// All of a small file.
Result<std::string> read_text(const std::string& path) {
  TESSERA_TRY(const auto file, port::PlainFile::open(path, {}));
  std::string text(static_cast<size_t>(kLimits.size_bytes) + 1, '\0');
  const auto got = file->read_at(0, std::as_writable_bytes(std::span(text)));
  TESSERA_TRY_VOID(got.status);
  if (got.bytes > kLimits.size_bytes) return base::fail(Code::kInvalid, "the file is too long");
  text.resize(static_cast<size_t>(got.bytes));
  return text;
}

Result<Profile> read_profile(const std::string& path) {
  TESSERA_TRY(const std::string text, read_text(path));
  auto profile = parse_profile(text);
  if (profile) return profile;
  return base::fail(profile.error().code, path + ": " + profile.error().message());
}

}  // namespace

std::span<const CostField> profile_fields() { return kFields; }

Costs Profile::costs() const {
  Costs all;
  for (const MeasuredCost& cost : measured) all.*cost.field->value = cost.value;
  return all;
}

Result<Profile> parse_profile(std::string_view text) {
  TESSERA_TRY(const Json json, Json::parse(text, kLimits));
  TESSERA_TRY_VOID(require_header(json));
  Profile profile;
  TESSERA_TRY(profile.date, text_member(json, "date"));
  if (const Json* system = json.find("file_system")) {
    TESSERA_TRY(profile.file_system, text_member(*system, "id"));
    TESSERA_TRY(profile.mount_type, text_member(*system, "type"));
    TESSERA_TRY(profile.mount_source, text_member(*system, "source"));
  }
  const Json* costs = json.find("costs");
  if (costs == nullptr || costs->object() == nullptr) {
    return wrong(costs != nullptr ? *costs : json, "the profile has no object \"costs\"");
  }
  for (const CostField& field : kFields) {
    TESSERA_TRY_VOID(read_cost(*costs, field, profile.measured));
  }
  return profile;
}

std::string profile_text(const Profile& profile) {
  base::JsonWriter writer;
  writer.begin_object().member("format", kFormat).member("version", kVersion);
  writer.member("date", profile.date).key("file_system").begin_object();
  writer.member("id", profile.file_system).member("type", profile.mount_type);
  writer.member("source", profile.mount_source).end_object().key("costs").begin_object();
  for (const MeasuredCost& cost : profile.measured) writer.member(cost.field->name, cost.value);
  writer.end_object().end_object();
  return writer.finish();
}

Result<std::string> profile_id(const port::PlainFile& file) {
  TESSERA_TRY(const port::EmulatedStore store, port::EmulatedStore::from_environment());
  TESSERA_TRY(std::string id, port::file_system_id(file.descriptor()));
  return store.on() ? id + "-emulated-" + std::to_string(store.service_ns()) : id;
}

std::optional<std::string> profile_path(const base::GetEnvironment& environment,
                                        const std::string& id) {
  const std::string named = value_of(environment, "TESSERA_PROFILE");
  if (named == "none") return std::nullopt;
  if (!named.empty()) return named;
  std::string folder = value_of(environment, "XDG_CONFIG_HOME");
  const std::string home = value_of(environment, "HOME");
  // The specification of these folders asks for whole paths.
  if (folder.empty() || folder.front() != '/') folder = home.empty() ? "" : home + "/.config";
  if (folder.empty()) return std::nullopt;
  return folder + "/tessera/profiles/" + id + ".json";
}

Result<KnownCosts> Profiles::load(const std::string& id) const {
  const auto path = profile_path(environment_, id);
  if (!path) return KnownCosts{};
  const bool named = !value_of(environment_, "TESSERA_PROFILE").empty();
  const auto profile = read_profile(*path);
  if (profile)
    return KnownCosts{profile->costs(), "profile of " + profile->date + " (" + *path + ")"};
  if (named) {
    return base::fail(Code::kInvalid,
                      "environment variable TESSERA_PROFILE: " + profile.error().message());
  }
  if (profile.error().errno_value == ENOENT) return KnownCosts{};
  return KnownCosts{{}, "defaults; profile ignored: " + profile.error().message()};
}

Result<KnownCosts> Profiles::costs_for(const port::PlainFile& file) {
  // Where no identity is to be had, no profile is; a named one needs none.
  const auto identity = profile_id(file);
  const bool named = !value_of(environment_, "TESSERA_PROFILE").empty();
  if (!identity && !named) return KnownCosts{};
  const std::string id = named ? "" : *identity;
  return known_.with([&](Known& known) -> Result<KnownCosts> {
    const auto place = known.find(id);
    if (place != known.end()) return place->second;
    return known.emplace(id, load(id)).first->second;
  });
}

}  // namespace tessera::move
