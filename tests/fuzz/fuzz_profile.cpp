// Fuzzes profiles of file systems: whatever the text says, reading it ends within bounded time and
// memory, in costs within their bounds or in a one-line message; what was read is written so that
// it reads back the same.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "tessera/base/assert.hpp"
#include "tessera/move/profile.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size_bytes) {
  using namespace tessera::move;
  const std::string_view text(reinterpret_cast<const char*>(data), size_bytes);
  const auto profile = parse_profile(text);
  if (!profile) {
    TESSERA_ASSERT(!profile.error().message().empty());
    TESSERA_ASSERT(profile.error().message().find('\n') == std::string::npos);
    return 0;
  }
  const Costs costs = profile->costs();
  for (const CostField& field : profile_fields()) {
    TESSERA_ASSERT(costs.*field.value >= field.least && costs.*field.value <= field.most);
  }
  const auto again = parse_profile(profile_text(*profile));
  TESSERA_ASSERT(again.has_value());
  TESSERA_ASSERT(profile_text(*again) == profile_text(*profile));
  return 0;
}
