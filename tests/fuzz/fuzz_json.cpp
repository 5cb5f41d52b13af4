// Fuzzes the JSON reader: no text may crash it or exceed its limits, and whatever it accepts must
// survive being written and read again, in both styles.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "tessera/base/assert.hpp"
#include "tessera/base/json.hpp"
#include "tessera/base/json_writer.hpp"

namespace {

using tessera::base::Json;
using tessera::base::JsonWriter;

std::string written(const Json& json, JsonWriter::Style style) {
  JsonWriter writer(style);
  writer.value(json);
  return writer.finish();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size_bytes) {
  const std::string_view text(reinterpret_cast<const char*>(data), size_bytes);
  const auto json = Json::parse(text);
  if (!json) {
    TESSERA_ASSERT(json.error().message().find('\n') == std::string::npos);
    return 0;
  }
  const std::string compact = written(*json, JsonWriter::Style::kCompact);
  for (const auto style : {JsonWriter::Style::kCompact, JsonWriter::Style::kPretty}) {
    const auto again = Json::parse(written(*json, style));
    TESSERA_ASSERT(again && written(*again, JsonWriter::Style::kCompact) == compact);
  }
  return 0;
}
