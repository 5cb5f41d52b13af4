#include "tessera/base/bytes.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

namespace tessera::base {

namespace {

Failure truncated(size_t position, uint64_t wanted, size_t remaining) {
  return fail(Code::kIntegrity, "truncated at byte " + std::to_string(position) + ": " +
                                    std::to_string(wanted) + " bytes are needed, " +
                                    std::to_string(remaining) + " are left");
}

}  // namespace

ByteView bytes_of(std::string_view text) {
  return std::as_bytes(std::span<const char>(text.data(), text.size()));
}

std::string_view text_of(ByteView bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

Bytes copy_of(ByteView bytes) { return {bytes.begin(), bytes.end()}; }

// The library's own comparison goes byte by byte where the iterators are those of spans.
bool equal(ByteView a, ByteView b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size()) == 0);
}

template <Word T>
Result<T> ByteReader::word() {
  TESSERA_TRY(const ByteView encoded, bytes(sizeof(T)));
  return load_le<T>(encoded);
}

Result<uint8_t> ByteReader::u8() {
  TESSERA_TRY(const ByteView encoded, bytes(1));
  return std::to_integer<uint8_t>(encoded[0]);
}

Result<uint16_t> ByteReader::u16() { return word<uint16_t>(); }
Result<uint32_t> ByteReader::u32() { return word<uint32_t>(); }
Result<uint64_t> ByteReader::u64() { return word<uint64_t>(); }

Result<ByteView> ByteReader::bytes(uint64_t count) {
  if (count > remaining()) return truncated(position_, count, remaining());
  const ByteView view = source_.subspan(position_, static_cast<size_t>(count));
  position_ += view.size();
  return view;
}

Result<uint64_t> ByteReader::varint() {
  uint64_t value = 0;
  for (size_t i = 0; i < std::min(remaining(), kVarintBytesMax); ++i) {
    const auto byte = std::to_integer<uint64_t>(source_[position_ + i]);
    const bool last_possible = i + 1 == kVarintBytesMax;
    if (last_possible && byte > 1) break;
    value |= (byte & 0x7f) << (7 * i);
    if ((byte & 0x80) != 0) continue;
    if (byte == 0 && i > 0) {
      return fail(Code::kIntegrity, "over-long number at byte " + std::to_string(position_));
    }
    position_ += i + 1;
    return value;
  }
  if (remaining() < kVarintBytesMax) return truncated(position_, remaining() + 1, remaining());
  return fail(Code::kIntegrity, "number of more than 64 bits at byte " + std::to_string(position_));
}

Result<int64_t> ByteReader::signed_varint() {
  TESSERA_TRY(const uint64_t value, varint());
  return unzigzag(value);
}

Result<ByteView> ByteReader::sized_bytes() {
  const size_t start = position_;
  TESSERA_TRY(const uint64_t count, varint());
  auto content = bytes(count);
  if (!content) position_ = start;
  return content;
}

Result<void> ByteReader::expect_end() const {
  if (at_end()) return {};
  return fail(Code::kIntegrity, std::to_string(remaining()) + " unexpected bytes after byte " +
                                    std::to_string(position_));
}

template <Word T>
void ByteWriter::word(T value) {
  std::array<std::byte, sizeof(T)> encoded;
  store_le<T>(encoded, value);
  bytes(encoded);
}

void ByteWriter::u8(uint8_t value) { target_.push_back(static_cast<std::byte>(value)); }
void ByteWriter::u16(uint16_t value) { word(value); }
void ByteWriter::u32(uint32_t value) { word(value); }
void ByteWriter::u64(uint64_t value) { word(value); }

void ByteWriter::bytes(ByteView value) {
  target_.insert(target_.end(), value.begin(), value.end());
}

void ByteWriter::varint(uint64_t value) {
  for (; value > 0x7f; value >>= 7) u8(static_cast<uint8_t>((value & 0x7f) | 0x80));
  u8(static_cast<uint8_t>(value));
}

void ByteWriter::signed_varint(int64_t value) { varint(zigzag(value)); }

void ByteWriter::sized_bytes(ByteView value) {
  varint(value.size());
  bytes(value);
}

void ByteWriter::patch_u32(size_t position, uint32_t value) {
  TESSERA_ASSERT(position <= target_.size() && target_.size() - position >= sizeof(value));
  store_le<uint32_t>(std::span(target_).subspan(position), value);
}

}  // namespace tessera::base
