// Any bytes as what a peer without the key says: to a server and to a client that wait for a
// handshake, and as sealed frames to a stream that is open. Frames are cut out by a byte for their
// length. Nobody may open, and no frame may be believed.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "tessera/base/assert.hpp"
#include "tessera/port/handshake.hpp"
#include "tessera/port/seeded_random.hpp"

namespace {

using namespace tessera::port;
using tessera::base::Bytes;
using tessera::base::ByteView;

// One who waits for a handshake; whoever fails comes back.
class Waiting {
 public:
  Waiting(Handshake::Role role, const SecretKey& key, Random& random)
      : role_(role), key_(key), random_(random) {
    handshake_.emplace(role_, key_, random_);
  }

  void take(ByteView frame) {
    const auto step = handshake_->receive(frame);
    if (step) {
      TESSERA_ASSERT(!step->open);
      TESSERA_ASSERT(step->reply.size() <= kHandshakeBytesMax);
      return;
    }
    TESSERA_ASSERT(step.error().code == tessera::base::Code::kDenied);
    TESSERA_ASSERT(handshake_->refusal().size() <= kHandshakeBytesMax);
    handshake_.emplace(role_, key_, random_);
  }

 private:
  const Handshake::Role role_;
  const SecretKey& key_;
  Random& random_;
  std::optional<Handshake> handshake_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  ByteView input = std::as_bytes(std::span(data, size));
  SeededRandom random(1);
  const SecretKey key = SecretKey::draw(random);
  Waiting server(Handshake::Role::kServer, key, random);
  Waiting client(Handshake::Role::kClient, key, random);
  SealedStream stream(key, key);
  while (!input.empty()) {
    const size_t length = std::min(std::to_integer<size_t>(input.front()), input.size() - 1);
    const ByteView frame = input.subspan(1, length);
    server.take(frame);
    client.take(frame);
    Bytes sealed(frame.begin(), frame.end());
    TESSERA_ASSERT(!stream.open(sealed));
    input = input.subspan(1 + length);
  }
  return 0;
}
