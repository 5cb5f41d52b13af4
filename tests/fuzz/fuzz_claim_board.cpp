// Any bytes as claims on a board: clients look past them, and the server takes over what it can.
// They come as records: desk, slot, word, session, sequence, begin, end, length (1 byte each), and
// so many bytes for a pattern.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>

#include "tessera/base/assert.hpp"
#include "tessera/lock/lock_server.hpp"
#include "tessera/pattern/encode.hpp"
#include "tessera/port/seeded_random.hpp"

namespace {

using namespace tessera::lock;
using tessera::base::Bytes;
using tessera::base::ByteView;

constexpr size_t kHeadBytes = 8;
constexpr size_t kGarbageDesks = 4;

class Scene {
 public:
  Scene() : server_({}, random_, nullptr, [](LockServer::Peer, const Bytes&) {}) {
    server_.use_board(keeper_, {.file = "f"});
    server_.start(0);
    for (LockServer::Peer peer = 1; peer <= 2; ++peer) say(peer, Hello{.client = "client"});
    server_.open_board(0);
    TESSERA_ASSERT(server_.board_is_open());
    say(1, acquire(100, 0));
  }

  void put(std::span<const uint8_t> head, std::span<const uint8_t> pattern) {
    const size_t desk = head[0] % kGarbageDesks;
    BoardBody& body = memory_->bodies[head[1] % kDeskSlots][desk];
    body.session = head[3];
    body.sequence = head[4];
    body.begin = head[5];
    body.end = head[6];
    body.size = pattern.size() + (head[2] >= 128 ? 1000 : 0);
    for (size_t at = 0; at < std::min(pattern.size(), kBoardPatternBytesMax); at += 8) {
      uint64_t word = 0;
      std::memcpy(&word, pattern.data() + at, std::min<size_t>(8, pattern.size() - at));
      body.pattern[at / 8] = word;
    }
    const SlotWord word = {memory_->open - (head[2] >> 3 & 1), 1, (head[2] & 4) != 0,
                           static_cast<SlotWord::State>(head[2] & 3)};
    memory_->desks[desk].words[head[1] % kDeskSlots] = word.packed();
    memory_->client_desks = uint64_t{head[0]} << (head[2] >> 4 & 7) * 8;
  }

  void use() {
    BoardSeat seat(*memory_, kGarbageDesks, nullptr);
    const Claim claim = {tessera::pattern::ByteSet::of({0, 50}).value()};
    const Bytes encoded = tessera::pattern::encode(claim.bytes.ascending());
    if (const auto place = seat.claim({2, 1000, claim.mode, encoded}, claim)) seat.release(*place);
    say(2, acquire(101, 10));
    server_.close_board(1);
    server_.check_invariants();
    server_.open_board(int64_t{1} << 40);
    server_.check_invariants();
  }

 private:
  static Acquire acquire(Sequence sequence, int64_t begin) {
    Acquire asked = {.sequence = sequence, .file = "f"};
    asked.bytes = tessera::pattern::encode(tessera::pattern::Pattern::run({{begin}}, 100).value());
    return asked;
  }
  void say(LockServer::Peer peer, const Message& message) {
    TESSERA_ASSERT(server_.receive(peer, encode(message), 1));
  }

  const std::unique_ptr<BoardMemory> memory_ = std::make_unique<BoardMemory>();
  BoardKeeper keeper_{*memory_, 1};
  tessera::port::SeededRandom random_{1};
  LockServer server_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::span<const uint8_t> rest(data, size);
  Scene scene;
  while (rest.size() >= kHeadBytes) {
    const auto head = rest.first(kHeadBytes);
    rest = rest.subspan(kHeadBytes);
    const size_t length = std::min<size_t>(head[7], rest.size());
    scene.put(head, rest.first(length));
    rest = rest.subspan(length);
  }
  scene.use();
  return 0;
}
