// Amounts in words, for the reasons of choices: "4.0 MiB", "3.1 ms".
//
// Thread safety: pure functions.
#pragma once

#include <string>

namespace tessera::move {

[[nodiscard]] std::string bytes_text(double bytes);
[[nodiscard]] std::string time_text(double ns);
[[nodiscard]] std::string percent_text(double share);  // of 1

}  // namespace tessera::move
