#include "tessera/base/utf8.hpp"

#include "tessera/base/assert.hpp"

namespace tessera::base {

namespace {

constexpr uint32_t kLastCodePoint = 0x10FFFF;

bool is_surrogate(uint32_t code_point) { return code_point >= 0xD800 && code_point <= 0xDFFF; }

size_t length_by_lead(unsigned char lead) {
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead <= 0xDF) return 2;
  if (lead >= 0xE0 && lead <= 0xEF) return 3;
  if (lead >= 0xF0 && lead <= 0xF4) return 4;
  return 0;
}

}  // namespace

size_t utf8_length(std::string_view text) {
  if (text.empty()) return 0;
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const size_t length = length_by_lead(byte(0));
  if (length <= 1) return length;
  if (text.size() < length) return 0;
  uint32_t code_point = byte(0) & (0xFFU >> (length + 1));
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0U) != 0x80) return 0;
    code_point = (code_point << 6U) | (byte(i) & 0x3FU);
  }
  constexpr uint32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool shortest = code_point >= kSmallest[length];
  return shortest && code_point <= kLastCodePoint && !is_surrogate(code_point) ? length : 0;
}

void append_utf8(std::string& text, uint32_t code_point) {
  TESSERA_ASSERT(code_point <= kLastCodePoint && !is_surrogate(code_point));
  const auto tail = [&](uint32_t shift) {
    text += static_cast<char>(0x80U | ((code_point >> shift) & 0x3FU));
  };
  if (code_point < 0x80) {
    text += static_cast<char>(code_point);
  } else if (code_point < 0x800) {
    text += static_cast<char>(0xC0U | (code_point >> 6U));
    tail(0);
  } else if (code_point < 0x10000) {
    text += static_cast<char>(0xE0U | (code_point >> 12U));
    tail(6);
    tail(0);
  } else {
    text += static_cast<char>(0xF0U | (code_point >> 18U));
    tail(12);
    tail(6);
    tail(0);
  }
}

}  // namespace tessera::base
