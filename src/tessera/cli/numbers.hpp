// Numbers as people read them.
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <string>

#include "tessera/pattern/point.hpp"

namespace tessera::cli {

// 1010808000 is "1,010,808,000".
[[nodiscard]] std::string with_commas(int64_t number);
// Three digits and a binary unit: "964 MiB"; below 10,000 the exact number: "180 B".
[[nodiscard]] std::string size_text(int64_t size_bytes);
// Three digits: "4.21 ms".
[[nodiscard]] std::string duration_text(double ns);
// "1 object", "9 objects".
[[nodiscard]] std::string counted(int64_t number, const std::string& noun);
// part / whole as "12.3%"; "0%" of nothing.
[[nodiscard]] std::string percent(int64_t part, int64_t whole);
// "[0, 15)"
[[nodiscard]] std::string interval_text(pattern::Interval interval);

}  // namespace tessera::cli
