// Handshake: how the two sides of a connection prove to each other that they know one key, and the
// sealed frames that they exchange from then on.
//
//   server, which accepts                      client, which connects
//   Challenge{its random number}           ->
//                                          <-  Answer{its random number, its proof}
//   Confirmation{its proof}                ->
//   or Refusal{why}                        ->
//
// Proofs and the keys of both directions are made of the common key and both random numbers.
//   (H1) A side is open only when its peer has proven, over a random number that this side drew for
//        this connection, that it knows the key: what was recorded elsewhere proves nothing.
//   (H2) The two roles prove different things and seal with different keys: what a side said itself
//        proves nothing to it.
//   (H3) A frame opens only as what its sender sealed, at the same place in its stream: altered,
//        repeated, left out, exchanged or invented ones do not.
// Contents are not hidden, and the end of a stream is not sealed: it may be cut off anywhere.
// docs/formats/authentication.md describes the bytes.
// Thread safety: none; one thread for each.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "tessera/base/bytes.hpp"
#include "tessera/base/result.hpp"
#include "tessera/port/random.hpp"
#include "tessera/port/secret_key.hpp"

namespace tessera::port {

// No message of a handshake is longer.
inline constexpr size_t kHandshakeBytesMax = 128;
// What sealing adds to a frame.
inline constexpr size_t kSealBytes = SecretKey::kTagBytes;

// One side of an open connection: (H3).
class SealedStream {
 public:
  SealedStream(const SecretKey& sending, const SecretKey& receiving)
      : sending_(sending), receiving_(receiving) {}

  // The next frame to send. To be followed by sent() if it was taken for sending.
  [[nodiscard]] base::Bytes seal(base::ByteView frame) const;
  void sent() { ++sent_; }

  // Takes the seal off the next frame received. Fails with kIntegrity; the stream is useless then.
  [[nodiscard]] base::Result<void> open(base::Bytes& frame);

 private:
  SecretKey sending_;
  SecretKey receiving_;
  uint64_t sent_ = 0;
  uint64_t received_ = 0;
};

class Handshake {
 public:
  enum class Role { kServer, kClient };

  // The random numbers must be unpredictable, but for tests.
  Handshake(Role role, const SecretKey& key, Random& random);

  // What is to be sent first; nothing for a client.
  [[nodiscard]] base::Bytes begin() const;

  struct Step {
    base::Bytes reply = {};  // empty: nothing
    bool open = false;
  };
  // Requires that it is neither open nor has failed. Fails with kDenied and a sentence about the
  // peer, of which the peer's name is the missing subject; refusal() is what to tell it then.
  [[nodiscard]] base::Result<Step> receive(base::ByteView frame);
  // Empty where the peer is told nothing.
  [[nodiscard]] const base::Bytes& refusal() const { return refusal_; }

  // Requires that it is open.
  [[nodiscard]] SealedStream stream() const;

 private:
  using Challenge = std::array<std::byte, 32>;

  base::Result<Step> receive_answer(base::ByteReader& reader);
  base::Result<Step> receive_challenge(base::ByteReader& reader);
  base::Result<Step> receive_confirmation(base::ByteReader& reader);
  base::Failure refuse(uint8_t why);
  [[nodiscard]] base::Bytes challenges() const;

  const Role role_;
  const SecretKey key_;
  Challenge own_;
  std::optional<Challenge> peers_;
  bool open_ = false;
  bool failed_ = false;
  base::Bytes refusal_;
};

}  // namespace tessera::port
