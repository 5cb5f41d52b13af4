// UTF-8: how long the well-formed character at the start of some bytes is.
//
// Text from files and names from the operating system are bytes until this has looked at them.
// Thread safety: pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tessera::base {

// Bytes of the character that starts `text`: 1 to 4, or 0 if it is empty, cut short, overlong, a
// surrogate or past U+10FFFF.
[[nodiscard]] size_t utf8_length(std::string_view text);

// Appends one character. Requires a code point up to U+10FFFF that is no surrogate.
void append_utf8(std::string& text, uint32_t code_point);

}  // namespace tessera::base
