// Bytes: numbers in and out of byte sequences, the ground of every format and message.
//
// All formats are little-endian on every machine. Whatever comes from a file or a socket is read
// through ByteReader, which never looks past its end and answers truncation with a Result; what is
// written goes through ByteWriter. Small numbers travel as LEB128 varints in their one canonical
// (shortest) form, so that equal values have equal encodings and can be compared and hashed as
// bytes. Thread safety: as for any value type.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "tessera/base/result.hpp"

namespace tessera::base {

using Bytes = std::vector<std::byte>;
using ByteView = std::span<const std::byte>;

// Views of the same memory; nothing is copied.
[[nodiscard]] ByteView bytes_of(std::string_view text);
[[nodiscard]] std::string_view text_of(ByteView bytes);
[[nodiscard]] Bytes copy_of(ByteView bytes);
// Whether the two views have equal contents. Not constant time: never for secrets.
[[nodiscard]] bool equal(ByteView a, ByteView b);

template <typename T>
concept Word = std::same_as<T, uint16_t> || std::same_as<T, uint32_t> || std::same_as<T, uint64_t>;

// Requires from.size() >= sizeof(T). No alignment is needed.
template <Word T>
[[nodiscard]] T load_le(ByteView from) {
  TESSERA_ASSERT(from.size() >= sizeof(T));
  uint64_t value = 0;
  for (size_t i = sizeof(T); i-- > 0;) value = value << 8 | std::to_integer<uint64_t>(from[i]);
  return static_cast<T>(value);
}

// Requires to.size() >= sizeof(T). No alignment is needed.
template <Word T>
void store_le(std::span<std::byte> to, T value) {
  TESSERA_ASSERT(to.size() >= sizeof(T));
  for (size_t i = 0; i < sizeof(T); ++i) {
    to[i] = static_cast<std::byte>(static_cast<uint64_t>(value) >> (8 * i) & 0xff);
  }
}

// Maps small magnitudes of either sign to small unsigned numbers: 0, -1, 1, -2 become 0, 1, 2, 3.
[[nodiscard]] constexpr uint64_t zigzag(int64_t value) {
  return static_cast<uint64_t>(value) << 1 ^ static_cast<uint64_t>(value >> 63);
}
[[nodiscard]] constexpr int64_t unzigzag(uint64_t value) {
  return static_cast<int64_t>(value >> 1 ^ (~(value & 1) + 1));
}

inline constexpr size_t kVarintBytesMax = 10;

// Reads from a view that must outlive it. A failed read leaves the position where it was.
class ByteReader {
 public:
  explicit ByteReader(ByteView source) : source_(source) {}

  [[nodiscard]] size_t position() const { return position_; }
  [[nodiscard]] size_t remaining() const { return source_.size() - position_; }
  [[nodiscard]] bool at_end() const { return remaining() == 0; }

  // All of these fail with kIntegrity when fewer bytes are left than they need.
  [[nodiscard]] Result<uint8_t> u8();
  [[nodiscard]] Result<uint16_t> u16();
  [[nodiscard]] Result<uint32_t> u32();
  [[nodiscard]] Result<uint64_t> u64();
  // A view into the source, nothing is copied; so an untrusted count allocates nothing.
  [[nodiscard]] Result<ByteView> bytes(uint64_t count);
  // Also fail with kIntegrity on an encoding that is over-long or exceeds 64 bits.
  [[nodiscard]] Result<uint64_t> varint();
  [[nodiscard]] Result<int64_t> signed_varint();
  // A varint length and that many bytes.
  [[nodiscard]] Result<ByteView> sized_bytes();

  // Fails with kIntegrity when bytes are left over.
  [[nodiscard]] Result<void> expect_end() const;

 private:
  template <Word T>
  Result<T> word();

  ByteView source_;
  size_t position_ = 0;
};

// Appends to a vector that must outlive it.
class ByteWriter {
 public:
  explicit ByteWriter(Bytes& target) : target_(target) {}

  void u8(uint8_t value);
  void u16(uint16_t value);
  void u32(uint32_t value);
  void u64(uint64_t value);
  void bytes(ByteView value);
  void varint(uint64_t value);
  void signed_varint(int64_t value);
  void sized_bytes(ByteView value);

  // The target's size, as a position for patch_u32.
  [[nodiscard]] size_t position() const { return target_.size(); }
  // Overwrites four bytes written before, for lengths and checksums known only at the end.
  // Requires that they exist.
  void patch_u32(size_t position, uint32_t value);

 private:
  template <Word T>
  void word(T value);

  Bytes& target_;
};

}  // namespace tessera::base
