// SecretKey: 256 bits that a group of processes shares, and what can be proven with them.
//
// Proofs, derived keys and tags are keyed BLAKE2b of libsodium, which is reached only here. There
// is no function that compares or prints a key, so that none reaches a log or an error text.
//   (S1) The memory of a key is wiped when it goes, as is every copy made on the way.
//   (S2) What a peer sends is compared in a time that does not tell where it differs.
//   (S3) Proofs and keys for different purposes have nothing to do with each other.
// docs/formats/authentication.md describes the bytes that are hashed.
// Thread safety: as for any value type.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

#include "tessera/base/bytes.hpp"
#include "tessera/base/result.hpp"
#include "tessera/port/random.hpp"

namespace tessera::port {

// Overwrites memory that held a secret, in a way that no compiler leaves out.
void wipe(std::span<std::byte> memory);

class SecretKey {
 public:
  static constexpr size_t kBytes = 32;
  static constexpr size_t kTagBytes = 16;
  using Proof = std::array<std::byte, kBytes>;
  using Tag = std::array<std::byte, kTagBytes>;

  // A new key. Requires a cryptographic generator, but for tests.
  static SecretKey draw(Random& random);
  // From 64 hexadecimal digits. Fails with kInvalid, in words that do not repeat the text.
  static base::Result<SecretKey> parse(std::string_view text);
  SecretKey(const SecretKey&) = default;
  SecretKey& operator=(const SecretKey&) = default;
  ~SecretKey();

  // Calls with what parse() reads, which is wiped afterwards.
  void reveal(const std::function<void(std::string_view text)>& use) const;

  // Requires a purpose without zero bytes.
  [[nodiscard]] Proof prove(std::string_view purpose, base::ByteView context) const;
  // Whether the bytes are that proof.
  [[nodiscard]] bool proves(std::string_view purpose, base::ByteView context,
                            base::ByteView proof) const;
  // A key of its own, from which this one does not follow.
  [[nodiscard]] SecretKey derive(std::string_view purpose, base::ByteView context) const;

  // What only those who have the key can say of the number and the content together. O(content).
  [[nodiscard]] Tag tag(uint64_t number, base::ByteView content) const;
  [[nodiscard]] bool is_tag(uint64_t number, base::ByteView content, base::ByteView tag) const;

 private:
  SecretKey() = default;

  std::array<std::byte, kBytes> bytes_{};
};

}  // namespace tessera::port
