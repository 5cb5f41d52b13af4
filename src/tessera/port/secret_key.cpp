#include "tessera/port/secret_key.hpp"

#include <sodium.h>

#include <initializer_list>

#include "tessera/base/assert.hpp"

namespace tessera::port {

namespace {

constexpr size_t kHexDigits = 2 * SecretKey::kBytes;

// Chooses the quickest code for this processor, once.
void make_ready() {
  static const bool ready = ::sodium_init() >= 0;
  TESSERA_ASSERT(ready);
}

const unsigned char* raw(base::ByteView bytes) {
  return reinterpret_cast<const unsigned char*>(bytes.data());
}

void hash(std::span<std::byte> out, base::ByteView key, std::initializer_list<base::ByteView> in) {
  make_ready();
  crypto_generichash_state state;
  auto* const target = reinterpret_cast<unsigned char*>(out.data());
  bool hashed = ::crypto_generichash_init(&state, raw(key), key.size(), out.size()) == 0;
  for (const base::ByteView piece : in) {
    hashed = hashed && ::crypto_generichash_update(&state, raw(piece), piece.size()) == 0;
  }
  hashed = hashed && ::crypto_generichash_final(&state, target, out.size()) == 0;
  ::sodium_memzero(&state, sizeof(state));
  TESSERA_ASSERT(hashed);
}

bool equal_in_constant_time(base::ByteView ours, base::ByteView theirs) {
  return ours.size() == theirs.size() &&
         ::sodium_memcmp(ours.data(), theirs.data(), ours.size()) == 0;
}

void hash_purpose(std::span<std::byte> out, base::ByteView key, std::string_view purpose,
                  base::ByteView context) {
  TESSERA_ASSERT(purpose.find('\0') == purpose.npos);
  const std::byte end{0};
  hash(out, key, {base::bytes_of(purpose), {&end, 1}, context});
}

}  // namespace

void wipe(std::span<std::byte> memory) { ::sodium_memzero(memory.data(), memory.size()); }

SecretKey SecretKey::draw(Random& random) {
  SecretKey key;
  random.fill(key.bytes_);
  return key;
}

base::Result<SecretKey> SecretKey::parse(std::string_view text) {
  SecretKey key;
  size_t filled = 0;
  const char* stop = nullptr;
  auto* const target = reinterpret_cast<unsigned char*>(key.bytes_.data());
  const bool read =
      text.size() == kHexDigits &&
      ::sodium_hex2bin(target, kBytes, text.data(), text.size(), nullptr, &filled, &stop) == 0;
  if (!read || filled != kBytes) {
    return base::fail(base::Code::kInvalid,
                      "a key is " + std::to_string(kHexDigits) + " hexadecimal digits");
  }
  return key;
}

SecretKey::~SecretKey() { wipe(bytes_); }

void SecretKey::reveal(const std::function<void(std::string_view text)>& use) const {
  std::array<char, kHexDigits + 1> text;
  ::sodium_bin2hex(text.data(), text.size(), raw(bytes_), bytes_.size());
  use({text.data(), kHexDigits});
  wipe(std::as_writable_bytes(std::span(text)));
}

SecretKey::Proof SecretKey::prove(std::string_view purpose, base::ByteView context) const {
  Proof proof;
  hash_purpose(proof, bytes_, purpose, context);
  return proof;
}

bool SecretKey::proves(std::string_view purpose, base::ByteView context,
                       base::ByteView proof) const {
  return equal_in_constant_time(prove(purpose, context), proof);
}

SecretKey SecretKey::derive(std::string_view purpose, base::ByteView context) const {
  SecretKey key;
  hash_purpose(key.bytes_, bytes_, purpose, context);
  return key;
}

SecretKey::Tag SecretKey::tag(uint64_t number, base::ByteView content) const {
  std::array<std::byte, sizeof(number)> counted;
  base::store_le<uint64_t>(counted, number);
  Tag made;
  hash(made, bytes_, {counted, content});
  return made;
}

bool SecretKey::is_tag(uint64_t number, base::ByteView content, base::ByteView tag) const {
  return equal_in_constant_time(this->tag(number, content), tag);
}

}  // namespace tessera::port
