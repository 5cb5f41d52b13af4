#include "tessera/mpiio/external32_codec.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>

#include "tessera/base/assert.hpp"

namespace tessera::mpiio {

using base::ByteView;
using base::Code;
using base::Result;

namespace {

constexpr bool kLittle = std::endian::native == std::endian::little;

uint16_t swapped(uint16_t value) { return __builtin_bswap16(value); }
uint32_t swapped(uint32_t value) { return __builtin_bswap32(value); }
uint64_t swapped(uint64_t value) { return __builtin_bswap64(value); }

template <typename Word>
void reverse_words(const std::byte* in, std::byte* out, int64_t numbers) {
  for (int64_t i = 0; i < numbers; ++i) {
    Word word;
    std::memcpy(&word, in + i * int64_t{sizeof(Word)}, sizeof(Word));
    word = swapped(word);
    std::memcpy(out + i * int64_t{sizeof(Word)}, &word, sizeof(Word));
  }
}

// Between the machine's order of bytes and the big-endian one. `in` may be `out`.
void reverse(const std::byte* in, std::byte* out, int64_t bytes, int64_t numbers) {
  if (!kLittle || bytes == 1) {
    if (in != out) std::memcpy(out, in, static_cast<size_t>(bytes * numbers));
    return;
  }
  if (bytes == 2) return reverse_words<uint16_t>(in, out, numbers);
  if (bytes == 4) return reverse_words<uint32_t>(in, out, numbers);
  if (bytes == 8) return reverse_words<uint64_t>(in, out, numbers);
  for (int64_t i = 0; i < numbers; ++i) {
    if (in != out) std::memcpy(out + i * bytes, in + i * bytes, static_cast<size_t>(bytes));
    std::reverse(out + i * bytes, out + (i + 1) * bytes);
  }
}

// --- integers of fewer bytes in the file

uint64_t load_big_endian(const std::byte* from, int64_t bytes) {
  uint64_t value = 0;
  for (int64_t i = 0; i < bytes; ++i) value = value << 8 | std::to_integer<uint64_t>(from[i]);
  return value;
}

void store_big_endian(std::byte* to, int64_t bytes, uint64_t value) {
  for (int64_t i = bytes; i-- > 0; value >>= 8) to[i] = static_cast<std::byte>(value & 0xff);
}

// The number that the lowest `bytes` of a word stand for.
uint64_t extended(uint64_t value, int64_t bytes, Coding coding) {
  const auto unused = static_cast<unsigned>(64 - 8 * bytes);
  if (coding == Coding::kUnsigned) return value << unused >> unused;
  return static_cast<uint64_t>(static_cast<int64_t>(value << unused) >> unused);
}

Result<void> narrow(const Basic& basic, const std::byte* in, std::byte* out, int64_t numbers) {
  for (int64_t i = 0; i < numbers; ++i) {
    std::byte number[sizeof(uint64_t)] = {};
    reverse(in + i * basic.native_bytes, number, basic.native_bytes, 1);
    const uint64_t value =
        extended(load_big_endian(number, basic.native_bytes), basic.native_bytes, basic.coding);
    if (extended(value, basic.external_bytes, basic.coding) != value) {
      return base::fail(Code::kInvalid, "a number does not fit into the " +
                                            std::to_string(basic.external_bytes) +
                                            " bytes that its type has in external32");
    }
    store_big_endian(out + i * basic.external_bytes, basic.external_bytes, value);
  }
  return {};
}

void widen(const Basic& basic, const std::byte* in, std::byte* out, int64_t numbers) {
  for (int64_t i = 0; i < numbers; ++i) {
    const uint64_t value = load_big_endian(in + i * basic.external_bytes, basic.external_bytes);
    std::byte number[sizeof(uint64_t)];
    store_big_endian(number, basic.native_bytes,
                     extended(value, basic.external_bytes, basic.coding));
    reverse(number, out + i * basic.native_bytes, basic.native_bytes, 1);
  }
}

// --- long doubles

constexpr int64_t kQuadBytes = 16;

#if __LDBL_MANT_DIG__ == 64
using Quad = __float128;
constexpr size_t kLongDoubleUsed = 10;  // the rest of it is padding
#elif __LDBL_MANT_DIG__ == 113
using Quad = long double;
constexpr size_t kLongDoubleUsed = sizeof(long double);
#else
#error "no conversion between this machine's long double and that of external32 is written"
#endif

void encode_long_doubles(const std::byte* in, std::byte* out, int64_t numbers) {
  for (int64_t i = 0; i < numbers; ++i) {
    long double number = 0;
    std::memcpy(&number, in + i * int64_t{sizeof(number)}, kLongDoubleUsed);
    const Quad quad = number;
    std::byte bytes[kQuadBytes];
    std::memcpy(bytes, &quad, sizeof(quad));
    reverse(bytes, out + i * kQuadBytes, kQuadBytes, 1);
  }
}

void decode_long_doubles(const std::byte* in, std::byte* out, int64_t numbers) {
  for (int64_t i = 0; i < numbers; ++i) {
    std::byte bytes[kQuadBytes];
    reverse(in + i * kQuadBytes, bytes, kQuadBytes, 1);
    Quad quad = 0;
    std::memcpy(&quad, bytes, sizeof(quad));
    const auto number = static_cast<long double>(quad);
    std::byte* place = out + i * int64_t{sizeof(number)};
    std::memset(place, 0, sizeof(number));
    std::memcpy(place, &number, kLongDoubleUsed);
  }
}

// --- elements

struct Streams {
  const std::byte* in;
  std::byte* out;
};

Result<void> encode_basic(const Basic& basic, int64_t copies, Streams& streams) {
  if (copies == 0) return {};
  const int64_t numbers = copies * basic.numbers;
  switch (basic.coding) {
    case Coding::kReversed:
      reverse(streams.in, streams.out, basic.native_bytes, numbers);
      break;
    case Coding::kLongDouble:
      encode_long_doubles(streams.in, streams.out, numbers);
      break;
    case Coding::kSigned:
    case Coding::kUnsigned:
      TESSERA_TRY_VOID(narrow(basic, streams.in, streams.out, numbers));
      break;
  }
  streams.in += copies * basic.native_size();
  streams.out += copies * basic.external_size();
  return {};
}

Result<void> encode_all(const Elements& elements, Streams& streams) {
  if (elements.parts.empty()) return encode_basic(elements.basic, elements.copies, streams);
  for (int64_t i = 0; i < elements.copies; ++i) {
    for (const ElementsPtr& part : elements.parts) TESSERA_TRY_VOID(encode_all(*part, streams));
  }
  return {};
}

void decode_basic(const Basic& basic, int64_t copies, Streams& streams) {
  if (copies == 0) return;
  const int64_t numbers = copies * basic.numbers;
  switch (basic.coding) {
    case Coding::kReversed:
      reverse(streams.in, streams.out, basic.external_bytes, numbers);
      break;
    case Coding::kLongDouble:
      decode_long_doubles(streams.in, streams.out, numbers);
      break;
    case Coding::kSigned:
    case Coding::kUnsigned:
      widen(basic, streams.in, streams.out, numbers);
      break;
  }
  streams.in += copies * basic.external_size();
  streams.out += copies * basic.native_size();
}

// Goes on until `end` leaves no room for an element; returns false there.
bool decode_until(const Elements& elements, Streams& streams, const std::byte* end) {
  if (elements.parts.empty()) {
    const int64_t whole = (end - streams.in) / elements.basic.external_size();
    decode_basic(elements.basic, std::min(whole, elements.copies), streams);
    return whole >= elements.copies;
  }
  for (int64_t i = 0; i < elements.copies; ++i) {
    for (const ElementsPtr& part : elements.parts) {
      if (!decode_until(*part, streams, end)) return false;
    }
  }
  return true;
}

}  // namespace

Result<void> encode_external32(const Elements& elements, ByteView native,
                               std::span<std::byte> external) {
  TESSERA_ASSERT(native.size() == static_cast<size_t>(elements.native_size));
  TESSERA_ASSERT(external.size() == static_cast<size_t>(elements.external_size));
  Streams streams{native.data(), external.data()};
  return encode_all(elements, streams);
}

Decoded decode_external32(const Elements& elements, ByteView external,
                          std::span<std::byte> native) {
  TESSERA_ASSERT(native.size() == static_cast<size_t>(elements.native_size));
  Streams streams{external.data(), native.data()};
  decode_until(elements, streams, external.data() + external.size());
  return {streams.in - external.data(), streams.out - native.data()};
}

}  // namespace tessera::mpiio
