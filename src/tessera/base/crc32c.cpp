#include "tessera/base/crc32c.hpp"

#include <array>

namespace tessera::base {

namespace {

constexpr uint32_t kPolynomial = 0x82F63B78;

constexpr std::array<uint32_t, 256> make_table() {
  std::array<uint32_t, 256> table{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t rest = byte;
    for (int bit = 0; bit < 8; ++bit) rest = rest >> 1 ^ ((rest & 1) != 0 ? kPolynomial : 0);
    table[byte] = rest;
  }
  return table;
}

constexpr std::array<uint32_t, 256> kTable = make_table();

}  // namespace

uint32_t crc32c(ByteView bytes) {
  uint32_t rest = ~uint32_t{0};
  for (const std::byte byte : bytes) {
    rest = rest >> 8 ^ kTable[(rest ^ std::to_integer<uint32_t>(byte)) & 0xff];
  }
  return ~rest;
}

}  // namespace tessera::base
