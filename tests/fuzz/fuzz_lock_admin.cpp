// Any bytes as messages of administrators: what is read is written and read the same way again, and
// what a lock server answers is read. The first byte leaves the checksum as it is, or makes it
// right, so that what lies behind it is reached. One message breaks at most one lock.
#include <cstddef>
#include <cstdint>
#include <span>

#include "tessera/base/assert.hpp"
#include "tessera/daemon/lock_admin.hpp"
#include "tessera/lock/message_codec.hpp"
#include "tessera/pattern/encode.hpp"
#include "tessera/port/seeded_random.hpp"

namespace {

using namespace tessera::lock;
using tessera::base::Bytes;
using tessera::base::ByteView;

constexpr Sequence kLocks = 3;

class Scene {
 public:
  Scene() : server_({}, random_, nullptr, [](LockServer::Peer, const Bytes&) {}) {
    server_.start(0);
    say(Hello{.client = "client"});
    for (Sequence sequence = 1; sequence <= kLocks; ++sequence) {
      Acquire asked = {.sequence = sequence, .file = "f"};
      asked.bytes = tessera::pattern::encode(tessera::pattern::Pattern::run({{0}}, 100).value());
      say(asked);
    }
  }

  void take(ByteView frame) {
    const auto answer = admin_.answer(frame, 1);
    if (answer) TESSERA_ASSERT(decode_admin(*answer));
    server_.check_invariants();
    TESSERA_ASSERT(server_.requests() + 1 >= kLocks);
  }

 private:
  void say(const Message& message) { TESSERA_ASSERT(server_.receive(1, encode(message), 1)); }

  tessera::port::SeededRandom random_{1};
  LockServer server_;
  tessera::daemon::LockAdmin admin_{server_, 0, [](const std::string&) {}};
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const ByteView content = std::as_bytes(std::span(data + 1, size - 1));
  Bytes frame(content.begin(), content.end());
  if (data[0] != 0) codec::seal(frame);
  const auto read = decode_admin(frame);
  if (read) TESSERA_ASSERT(decode_admin(encode(*read)).value() == *read);
  TESSERA_ASSERT(!read || (is_admin_frame(frame) && !decode(frame)));
  Scene().take(frame);
  return 0;
}
