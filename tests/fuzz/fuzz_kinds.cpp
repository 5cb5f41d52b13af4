// Any text as rules of file kinds: it is read, or refused in one line that names a rule, and what
// was read answers for any name.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "tessera/base/assert.hpp"
#include "tessera/container/file_kind.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tessera::container;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto rules = KindRules::parse(text);
  if (!rules) {
    TESSERA_ASSERT(rules.error().context.find("the rule \"") == 0);
    TESSERA_ASSERT(rules.error().context.find('\n') == std::string::npos);
    return 0;
  }
  // Short ones: a glob of many stars takes long to match a long name.
  constexpr size_t kNameBytes = 12;
  const std::string name(text.substr(0, kNameBytes));
  static_cast<void>(rules->kind_of(name));
  static_cast<void>(rules->kind_of("folder/data.nc"));
  const FileName taken = parse_file_name(std::string(text));
  TESSERA_ASSERT(!taken.object || "obj:" + taken.path == text);
  TESSERA_ASSERT(taken.object || taken.path == text);
  return 0;
}
