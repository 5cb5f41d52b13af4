// Any bytes as frames to a lock server that has other clients. Frames are cut out by a byte for
// their length; the checksum is made right, so that what lies behind it is reached. The server must
// keep its invariants, and the other client its locks, also the one that it may be asked to give
// back.
#include <cstddef>
#include <cstdint>
#include <span>

#include "tessera/base/assert.hpp"
#include "tessera/base/crc32c.hpp"
#include "tessera/lock/lock_server.hpp"
#include "tessera/pattern/encode.hpp"
#include "tessera/port/seeded_random.hpp"

namespace {

using namespace tessera::lock;
using tessera::base::Bytes;
using tessera::base::ByteView;

constexpr LockServer::Peer kNeighbour = 1;
constexpr LockServer::Peer kStranger = 2;

class Scene {
 public:
  Scene() : server_({.sessions_max = 16, .requests_max = 256}, random_, nullptr, send()) {
    server_.start(0);
    say(kNeighbour, Hello{.client = "neighbour"});
    Acquire asked = {.sequence = 1, .file = "f"};
    asked.bytes = tessera::pattern::encode(tessera::pattern::Pattern::run({{0}}, 100).value());
    say(kNeighbour, asked);
    asked.sequence = 2;
    asked.recallable = true;
    asked.bytes = tessera::pattern::encode(tessera::pattern::Pattern::run({{100}}, 100).value());
    say(kNeighbour, asked);
    say(kStranger, Hello{.client = "stranger"});
  }

  // Whoever is cut off comes back.
  void take(ByteView content) {
    Bytes frame(content.begin(), content.end());
    tessera::base::ByteWriter(frame).u32(tessera::base::crc32c(frame));
    if (server_.receive(kStranger, frame, ++now_ns_)) return;
    server_.disconnect(kStranger);
    say(kStranger, Hello{.client = "stranger"});
  }

  void check() {
    server_.check_invariants();
    int held = 0;
    server_.for_each(now_ns_, [&](const LockServer::View& view) {
      if (view.client == "neighbour" && view.state == LockState::kHeld) ++held;
    });
    TESSERA_ASSERT(held == 2);
  }

 private:
  static LockServer::Send send() {
    return [](LockServer::Peer, const Bytes& frame) { TESSERA_ASSERT(decode(frame)); };
  }
  void say(LockServer::Peer peer, const Message& message) {
    static_cast<void>(server_.receive(peer, encode(message), ++now_ns_));
  }

  tessera::port::SeededRandom random_{1};
  LockServer server_;
  int64_t now_ns_ = 0;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  ByteView input = std::as_bytes(std::span(data, size));
  Scene scene;
  while (!input.empty()) {
    const size_t length = std::min(std::to_integer<size_t>(input.front()), input.size() - 1);
    scene.take(input.subspan(1, length));
    input = input.subspan(1 + length);
  }
  scene.check();
  return 0;
}
