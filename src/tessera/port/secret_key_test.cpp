#include "tessera/port/secret_key.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <new>
#include <set>
#include <string>

#include "tessera/port/seeded_random.hpp"

namespace tessera::port {
namespace {

using base::bytes_of;

const std::string kText = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";

std::string hex(base::ByteView bytes) {
  std::string text;
  for (const std::byte byte : bytes) {
    constexpr const char* kDigits = "0123456789abcdef";
    text += kDigits[std::to_integer<int>(byte) >> 4];
    text += kDigits[std::to_integer<int>(byte) & 15];
  }
  return text;
}

TEST(SecretKey, TextsParseAndReturn) {
  const SecretKey key = SecretKey::parse(kText).value();
  key.reveal([](std::string_view text) { EXPECT_EQ(text, kText); });
  for (const std::string& text : {std::string(), kText + "00", kText.substr(2),
                                  kText.substr(1) + "g", " " + kText.substr(1)}) {
    const auto parsed = SecretKey::parse(text);
    ASSERT_FALSE(parsed);
    EXPECT_EQ(parsed.error().code, base::Code::kInvalid);
    EXPECT_EQ(parsed.error().message().find("0102"), std::string::npos);
  }
}

// As any other BLAKE2b computes them: blake2b(b"purpose\0context", key=key, digest_size=32), and
// blake2b(bytes(7 and seven zeros) + b"content", key=key, digest_size=16).
TEST(SecretKey, ProofsAndTagsAreThoseOfTheFormat) {
  const SecretKey key = SecretKey::parse(kText).value();
  EXPECT_EQ(hex(key.prove("purpose", bytes_of("context"))),
            "7439d4a1f93307dc452808a2b71beca26a2a61707d17f77ec80dc7ae96c7c7f5");
  EXPECT_EQ(hex(key.tag(7, bytes_of("content"))), "dabfeb4c6f48da3305185b9a8c8e7aff");
}

TEST(SecretKey, S3EveryPartOfAProofCounts) {
  SeededRandom random(1);
  const SecretKey key = SecretKey::draw(random);
  const SecretKey other = SecretKey::draw(random);
  const std::set<SecretKey::Proof> proofs = {
      key.prove("a", bytes_of("b")), key.prove("ab", {}), key.prove("a", bytes_of("bc")),
      other.prove("a", bytes_of("b")), key.derive("a", bytes_of("b")).prove("a", bytes_of("b"))};
  EXPECT_EQ(proofs.size(), 5U);
  const std::set<SecretKey::Tag> tags = {key.tag(0, bytes_of("x")), key.tag(1, bytes_of("x")),
                                         key.tag(0, bytes_of("y")), other.tag(0, bytes_of("x"))};
  EXPECT_EQ(tags.size(), 4U);
}

TEST(SecretKey, S2OnlyTheWholeProofProves) {
  SeededRandom random(1);
  const SecretKey key = SecretKey::draw(random);
  auto proof = key.prove("a", bytes_of("b"));
  EXPECT_TRUE(key.proves("a", bytes_of("b"), proof));
  EXPECT_FALSE(key.proves("a", bytes_of("b"), base::ByteView(proof).first(31)));
  EXPECT_FALSE(key.proves("a", bytes_of("b"), {}));
  for (std::byte& byte : proof) {
    byte ^= std::byte{0x10};
    EXPECT_FALSE(key.proves("a", bytes_of("b"), proof));
    byte ^= std::byte{0x10};
  }
  EXPECT_TRUE(key.proves("a", bytes_of("b"), proof));
}

TEST(SecretKey, S1TheMemoryOfAKeyIsWiped) {
  alignas(SecretKey) std::array<std::byte, sizeof(SecretKey)> memory{};
  auto* const key = new (memory.data()) SecretKey(SecretKey::parse(kText).value());
  const auto zero = [](std::byte byte) { return byte == std::byte{0}; };
  EXPECT_LE(std::count_if(memory.begin(), memory.end(), zero), 1);
  key->~SecretKey();
  // Through a volatile pointer: what a compiler knows of objects that are gone does not count.
  const volatile std::byte* const left = memory.data();
  for (size_t i = 0; i < memory.size(); ++i) EXPECT_TRUE(zero(left[i]));
}

}  // namespace
}  // namespace tessera::port
