// Who gets in and who does not, with a man in the middle who may do everything that one without the
// key can do. Each attack has its control: the same scene with nothing changed, or without the one
// thing that stops the attack, lets the frames through. (T1) to (T4) are tested in
// transport_test.cpp.
#include "tessera/port/authenticated_transport.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "tessera/port/seeded_random.hpp"
#include "tessera/port/sim_network.hpp"
#include "tessera/port/test_seed.hpp"

namespace tessera::port {
namespace {

using base::Bytes;
using base::bytes_of;
using base::text_of;
using Frames = std::vector<Bytes>;
using Kind = Event::Kind;

constexpr int64_t kMs = 1'000'000;
constexpr const char* kService = "service";
constexpr const char* kMiddle = "middle";

// Draws the same numbers for every connection.
class ConstantRandom final : public Random {
 public:
  uint64_t next() override { return 42; }
};

// Between clients that connect to it and the service: passes on what a test makes of each frame.
class Middle {
 public:
  // The frames of a direction are numbered: to the server 0 is the answer and sealed frames follow;
  // to the client 0 is the challenge, 1 the confirmation.
  struct Passing {
    bool to_server = false;
    size_t number = 0;
    Bytes frame = {};
  };
  using Tamper = std::function<Frames(const Passing&)>;

  explicit Middle(SimNetwork& network) : endpoint_(network.endpoint("middle")) {
    EXPECT_TRUE(endpoint_->listen(kMiddle));
    endpoint_->on_event([this](const Event& event) { take(event); });
  }
  void tamper(Tamper tamper) { tamper_ = std::move(tamper); }
  [[nodiscard]] const Frames& to_server() const { return to_server_; }
  [[nodiscard]] const Frames& to_client() const { return to_client_; }
  void send_to_client(const Bytes& frame) { EXPECT_TRUE(endpoint_->send(client_, frame)); }

 private:
  void take(const Event& event) {
    if (event.kind == Kind::kConnected && event.incoming) {
      client_ = event.connection;
      server_ = endpoint_->connect(kService).value();
    } else if (event.kind == Kind::kFrame) {
      const bool to_server = event.connection == client_;
      auto& passed = to_server ? to_server_ : to_client_;
      passed.push_back(event.frame);
      for (const Bytes& frame : tamper_({to_server, passed.size() - 1, event.frame})) {
        static_cast<void>(endpoint_->send(to_server ? server_ : client_, frame));
      }
    } else if (event.kind == Kind::kClosed) {
      endpoint_->close(event.connection == client_ ? server_ : client_);
    }
  }

  std::unique_ptr<SimEndpoint> endpoint_;
  ConnectionId client_{};
  ConnectionId server_{};
  Frames to_server_;
  Frames to_client_;
  Tamper tamper_ = [](const Passing& passing) { return Frames{passing.frame}; };
};

struct Seen {
  std::vector<Event> events = {};

  [[nodiscard]] size_t count(Kind kind) const {
    return static_cast<size_t>(std::count_if(
        events.begin(), events.end(), [&](const Event& event) { return event.kind == kind; }));
  }
  [[nodiscard]] std::vector<std::string> frames() const {
    std::vector<std::string> texts;
    for (const Event& event : events) {
      if (event.kind == Kind::kFrame) texts.emplace_back(text_of(event.frame));
    }
    return texts;
  }
  // Of the first end.
  [[nodiscard]] base::Error reason() const {
    for (const Event& event : events) {
      if (event.kind == Kind::kClosed) return event.reason;
    }
    return {};
  }
  // Never connected, but cut off, in these words.
  void expect_denied(const std::string& words) const {
    EXPECT_EQ(count(Kind::kConnected), 0U);
    EXPECT_EQ(count(Kind::kClosed), 1U);
    EXPECT_EQ(reason().code, base::Code::kDenied);
    EXPECT_NE(reason().context.find(words), std::string::npos) << reason().context;
  }
};

// A network with a server that listens, a client, and perhaps others.
class Scene {
  SimClock clock_;
  SeededRandom random_{7};
  const SecretKey key_ = SecretKey::draw(random_);
  SimNetwork network_;

 public:
  explicit Scene(uint64_t seed = 1, Random* servers_random = nullptr)
      : network_(clock_, seed, AuthenticatedTransport::limits_below({})) {
    Random& drawn = servers_random != nullptr ? *servers_random : random_;
    server = side("server", key_, {.half_open_max = 8}, drawn);
    client = side("client", key_);
    EXPECT_TRUE(server->listen(kService));
  }

  std::unique_ptr<AuthenticatedTransport> side(const std::string& node,
                                               std::optional<SecretKey> key) {
    return side(node, std::move(key), {}, random_);
  }
  std::unique_ptr<SimEndpoint> stranger() { return network_.endpoint("stranger"); }
  SecretKey other_key() { return SecretKey::draw(random_); }
  SimClock& clock() { return clock_; }
  [[nodiscard]] const SecretKey& key() const { return key_; }
  SimNetwork& network() { return network_; }

  // Lets everybody act for this long.
  void run(int64_t for_ns = 20 * kMs) {
    for (const int64_t end_ns = clock_.now_ns() + for_ns; clock_.now_ns() < end_ns;) {
      while (auto event = server->next_event(0)) at_server.events.push_back(std::move(*event));
      while (auto event = client->next_event(0)) at_client.events.push_back(std::move(*event));
      clock_.advance_by(kMs / 10);
    }
  }
  // The client connects to the address and says the texts; whoever is connected to the server is
  // answered with each.
  void talk(const std::string& address, const std::vector<std::string>& texts) {
    const ConnectionId id = client->connect(address).value();
    run();
    for (const std::string& text : texts) static_cast<void>(client->send(id, bytes_of(text)));
    run();
    for (const std::string& text : at_server.frames()) {
      static_cast<void>(server->send(at_server.events[0].connection, bytes_of(text)));
    }
    run();
  }

  std::unique_ptr<AuthenticatedTransport> server;
  std::unique_ptr<AuthenticatedTransport> client;
  Seen at_server;
  Seen at_client;

 private:
  std::unique_ptr<AuthenticatedTransport> side(const std::string& node,
                                               std::optional<SecretKey> key,
                                               const AuthenticationSettings& settings,
                                               Random& random) {
    return std::make_unique<AuthenticatedTransport>(network_.endpoint(node), std::move(key),
                                                    AuthenticatedTransport::World{clock_, random},
                                                    settings);
  }
};

const std::vector<std::string> kTexts = {"one", "", "three", "four"};

TEST(AuthenticatedTransport, A1WhoKnowsTheKeyGetsIn) {
  Scene scene;
  scene.talk(kService, kTexts);
  EXPECT_EQ(scene.at_server.count(Kind::kConnected), 1U);
  EXPECT_EQ(scene.at_client.count(Kind::kConnected), 1U);
  EXPECT_EQ(scene.at_server.frames(), kTexts);
  EXPECT_EQ(scene.at_client.frames(), kTexts);
  EXPECT_EQ(scene.at_server.count(Kind::kClosed), 0U);
}

TEST(AuthenticatedTransport, A2AnotherKeyIsToldOnBothSides) {
  Scene scene;
  scene.client = scene.side("client", scene.other_key());
  scene.talk(kService, kTexts);
  scene.at_server.expect_denied("client does not know the key");
  scene.at_client.expect_denied("service refused us: it has another key");
}

TEST(AuthenticatedTransport, A2WhoSaysSomethingElseIsCutOff) {
  for (const size_t size :
       {size_t{0}, size_t{3}, size_t{5}, size_t{127}, size_t{129}, size_t{100'000}}) {
    Scene scene;
    const auto plain = scene.stranger();
    const ConnectionId id = plain->connect(kService).value();
    ASSERT_TRUE(plain->send(id, Bytes(size, std::byte{1})));
    scene.run();
    scene.at_server.expect_denied(size <= kHandshakeBytesMax ? "something else than a handshake"
                                                             : "128 are allowed");
    scene.talk(kService, kTexts);
    EXPECT_EQ(scene.at_client.count(Kind::kConnected), 1U);
  }
}

TEST(AuthenticatedTransport, A2AServerThatAsksForNoProofIsLeft) {
  Scene scene;
  const auto plain = scene.stranger();
  ASSERT_TRUE(plain->listen("plain"));
  static_cast<void>(scene.client->connect("plain"));
  scene.run(4900 * kMs);
  EXPECT_TRUE(scene.at_client.events.empty());
  scene.run(200 * kMs);
  scene.at_client.expect_denied("plain did not prove within 5000 ms");
}

TEST(AuthenticatedTransport, WithoutAKeyThereAreOnlyLocalConnections) {
  Scene scene;
  const auto keyless = scene.side("node", std::nullopt);
  EXPECT_EQ(keyless->listen("tcp:127.0.0.1:0").error().code, base::Code::kDenied);
  EXPECT_EQ(keyless->connect(kService).error().code, base::Code::kDenied);
  ASSERT_TRUE(keyless->listen("unix:here"));
  const auto plain = scene.stranger();
  const ConnectionId id = plain->connect("unix:here").value();
  ASSERT_TRUE(plain->send(id, bytes_of("as it is")));
  EXPECT_EQ(keyless->next_event(kMs)->kind, Kind::kConnected);
  EXPECT_EQ(text_of(keyless->next_event(kMs)->frame), "as it is");
}

TEST(AuthenticatedTransport, OneTransportServesBothKindsOfAddresses) {
  Scene scene;
  ASSERT_TRUE(scene.server->listen("unix:here"));
  const auto plain = scene.stranger();
  const ConnectionId id = plain->connect("unix:here").value();
  ASSERT_TRUE(plain->send(id, bytes_of("local")));
  scene.run();
  scene.at_server = {};
  scene.talk(kService, kTexts);
  EXPECT_EQ(scene.at_client.frames(), kTexts);
}

// Whoever changes anything of what passes, in either direction.
struct Attack {
  const char* name = "";
  Middle::Tamper tamper = {};
  size_t frames_before = 0;  // that arrive unharmed before it is noticed
};

// Applies to the sealed frame of that number, counted from 0, on its way to one side.
Middle::Tamper at(bool to_server, size_t number,
                  const std::function<Frames(const Bytes&)>& change) {
  return [=](const Middle::Passing& passing) {
    const size_t first = to_server ? 1 : 2;
    const bool meant = passing.to_server == to_server && passing.number == first + number;
    return meant ? change(passing.frame) : Frames{passing.frame};
  };
}

std::vector<Attack> attacks(bool to_server) {
  auto kept = std::make_shared<Bytes>();
  return {
      {"left out", at(to_server, 0, [](const Bytes&) { return Frames{}; }), 0},
      {"repeated",
       at(to_server, 0,
          [](const Bytes& frame) {
            return Frames{frame, frame};
          }),
       1},
      {"invented",
       at(to_server, 1,
          [](const Bytes& frame) {
            return Frames{Bytes(40, std::byte{7}), frame};
          }),
       1},
      {"without its seal",
       at(to_server, 2,
          [](const Bytes& frame) {
            return Frames{Bytes(frame.begin(), frame.end() - kSealBytes)};
          }),
       2},
      {"shorter by a byte",
       at(to_server, 2,
          [](const Bytes& frame) { return Frames{Bytes(frame.begin() + 1, frame.end())}; }),
       2},
      {"longer by a byte",
       at(to_server, 0,
          [](Bytes frame) {
            frame.push_back(std::byte{0});
            return Frames{frame};
          }),
       0},
      {"empty", at(to_server, 3, [](const Bytes&) { return Frames{Bytes{}}; }), 3},
      {"exchanged with the next",
       [=](const Middle::Passing& passing) -> Frames {
         const size_t first = to_server ? 1 : 2;
         if (passing.to_server != to_server || passing.number < first) return {passing.frame};
         if (passing.number == first) {
           *kept = passing.frame;
           return {};
         }
         return passing.number == first + 1 ? Frames{passing.frame, *kept} : Frames{passing.frame};
       },
       0},
  };
}

TEST(AuthenticatedTransport, A1ControlAnUnchangedConnectionThroughTheMiddleIsOpen) {
  Scene scene;
  Middle middle(scene.network());
  scene.talk(kMiddle, kTexts);
  EXPECT_EQ(scene.at_server.frames(), kTexts);
  EXPECT_EQ(scene.at_client.frames(), kTexts);
  EXPECT_EQ(middle.to_server().size(), 1 + kTexts.size());
  EXPECT_EQ(middle.to_client().size(), 2 + kTexts.size());
}

TEST(AuthenticatedTransport, A1ChangedStreamsEndWhereTheyWereChanged) {
  for (const bool to_server : {true, false}) {
    for (const Attack& attack : attacks(to_server)) {
      Scene scene;
      Middle middle(scene.network());
      middle.tamper(attack.tamper);
      scene.talk(kMiddle, kTexts);
      const Seen& harmed = to_server ? scene.at_server : scene.at_client;
      const auto whole = static_cast<ptrdiff_t>(attack.frames_before);
      EXPECT_EQ(harmed.frames(), std::vector(kTexts.begin(), kTexts.begin() + whole))
          << attack.name;
      EXPECT_EQ(harmed.reason().code, base::Code::kIntegrity) << attack.name;
    }
  }
}

TEST(AuthenticatedTransport, A1EveryBitOfAFrameCounts) {
  const size_t bits = 8 * (kTexts[2].size() + kSealBytes);
  for (size_t bit = 0; bit < bits; ++bit) {
    Scene scene;
    Middle middle(scene.network());
    middle.tamper(at(true, 2, [&](Bytes frame) {
      frame[bit / 8] ^= std::byte{1} << (bit % 8);
      return Frames{frame};
    }));
    scene.talk(kMiddle, kTexts);
    EXPECT_EQ(scene.at_server.frames(), std::vector(kTexts.begin(), kTexts.begin() + 2)) << bit;
    EXPECT_EQ(scene.at_server.reason().code, base::Code::kIntegrity);
  }
}

// Whichever byte of whichever message is changed, the client does not take the server for one that
// knows the key, and tells nobody anything.
TEST(AuthenticatedTransport, A1EveryByteOfAHandshakeCounts) {
  constexpr size_t kSizes[] = {38, 70, 38};  // challenge, answer, confirmation
  for (size_t message = 0; message < 3; ++message) {
    for (size_t byte = 0; byte < kSizes[message]; ++byte) {
      Scene scene;
      Middle middle(scene.network());
      middle.tamper([&](const Middle::Passing& passing) {
        Bytes frame = passing.frame;
        const bool meant = passing.to_server == (message == 1) && passing.number == message / 2;
        if (meant) {
          EXPECT_EQ(frame.size(), kSizes[message]);
          frame[byte] ^= std::byte{0x20};
        }
        return Frames{frame};
      });
      scene.talk(kMiddle, kTexts);
      EXPECT_EQ(scene.at_client.count(Kind::kConnected), 0U) << message << " " << byte;
      EXPECT_EQ(scene.at_client.count(Kind::kClosed), 1U) << message << " " << byte;
      EXPECT_TRUE(scene.at_server.frames().empty());
    }
  }
}

// Says again to the server what a client once said to it; answers how many frames were believed.
size_t replay(Random& servers_random) {
  Scene scene(1, &servers_random);
  Middle middle(scene.network());
  scene.talk(kMiddle, kTexts);
  EXPECT_EQ(scene.at_server.frames(), kTexts);
  scene.at_server = {};
  const auto stranger = scene.stranger();
  const ConnectionId id = stranger->connect(kService).value();
  for (const Bytes& frame : middle.to_server()) EXPECT_TRUE(stranger->send(id, frame));
  scene.run();
  if (scene.at_server.frames().empty()) scene.at_server.expect_denied("does not know the key");
  return scene.at_server.frames().size();
}

TEST(AuthenticatedTransport, A1ARecordedConnectionProvesNothing) {
  SeededRandom random(1);
  EXPECT_EQ(replay(random), 0U);
}

// The control: a server that draws no fresh number believes all of it.
TEST(AuthenticatedTransport, A1ControlWithoutFreshNumbersItDoes) {
  ConstantRandom random;
  EXPECT_EQ(replay(random), kTexts.size());
}

TEST(AuthenticatedTransport, A1WhatASideSaidItselfProvesNothingToIt) {
  // Its own proof as the server's; the first six bytes are those of a confirmation.
  Scene scene;
  Middle middle(scene.network());
  middle.tamper([&](const Middle::Passing& passing) -> Frames {
    if (passing.to_server || passing.number != 1) return {passing.frame};
    Bytes reflected(passing.frame.begin(), passing.frame.begin() + 6);
    const Bytes& answer = middle.to_server().at(0);
    reflected.insert(reflected.end(), answer.end() - 32, answer.end());
    EXPECT_EQ(reflected.size(), passing.frame.size());
    return {reflected};
  });
  scene.talk(kMiddle, kTexts);
  scene.at_client.expect_denied("does not know the key");
}

TEST(AuthenticatedTransport, A1ASidesOwnFramesAreNotItsPeers) {
  Scene scene;
  Middle middle(scene.network());
  const ConnectionId id = scene.client->connect(kMiddle).value();
  ASSERT_TRUE(scene.client->send(id, bytes_of("mine")));
  scene.run();
  ASSERT_EQ(scene.at_server.frames(), std::vector<std::string>{"mine"});
  middle.send_to_client(middle.to_server().back());
  scene.run();
  EXPECT_TRUE(scene.at_client.frames().empty());
  EXPECT_EQ(scene.at_client.reason().code, base::Code::kIntegrity);
}

TEST(AuthenticatedTransport, A3ASilentPeerIsCutOffInTime) {
  Scene scene;
  const auto silent = scene.stranger();
  static_cast<void>(silent->connect(kService).value());
  scene.run(4900 * kMs);
  EXPECT_TRUE(scene.at_server.events.empty());
  scene.run(200 * kMs);
  scene.at_server.expect_denied("stranger did not prove within 5000 ms");
  // The control: one that has proven it may be silent.
  scene.at_server = {};
  static_cast<void>(scene.client->connect(kService).value());
  scene.run(20'000 * kMs);
  EXPECT_EQ(scene.at_server.count(Kind::kConnected), 1U);
  EXPECT_EQ(scene.at_server.count(Kind::kClosed), 0U);
}

TEST(AuthenticatedTransport, A3AWaitEndsWhenAPeerIsDue) {
  Scene scene;
  const auto silent = scene.stranger();
  static_cast<void>(silent->connect(kService).value());
  const auto event = scene.server->next_event(60'000 * kMs);
  ASSERT_TRUE(event);
  EXPECT_EQ(event->reason.code, base::Code::kDenied);
  EXPECT_LT(scene.clock().now_ns(), 5010 * kMs);
}

TEST(AuthenticatedTransport, A3ManyHalfOpenConnectionsKeepNobodyOut) {
  Scene scene;
  const auto stranger = scene.stranger();
  for (int i = 0; i < 100; ++i) static_cast<void>(stranger->connect(kService).value());
  scene.run();
  EXPECT_EQ(scene.at_server.count(Kind::kClosed), 92U);
  EXPECT_EQ(scene.at_server.reason().code, base::Code::kDenied);
  scene.at_server = {};
  static_cast<void>(scene.client->connect(kService).value());
  scene.run();
  EXPECT_EQ(scene.at_client.count(Kind::kConnected), 1U);
  EXPECT_EQ(scene.at_server.count(Kind::kConnected), 1U);
}

TEST(AuthenticatedTransport, A3WhatWaitsForAHandshakeIsBounded) {
  Scene scene;
  const auto plain = scene.stranger();
  ASSERT_TRUE(plain->listen("plain"));
  const ConnectionId id = scene.client->connect("plain").value();
  base::Result<void> sent;
  int frames = 0;
  for (; sent && frames < 1000; ++frames) sent = scene.client->send(id, Bytes(1 << 20));
  EXPECT_EQ(sent.error().code, base::Code::kRetry);
  EXPECT_EQ(frames, 64);
}

TEST(AuthenticatedTransport, A4NothingThatPassesHoldsTheKey) {
  Scene scene;
  Middle middle(scene.network());
  scene.talk(kMiddle, kTexts);
  Bytes all;
  for (const auto* passed : {&middle.to_server(), &middle.to_client()}) {
    for (const Bytes& frame : *passed) all.insert(all.end(), frame.begin(), frame.end());
  }
  scene.key().reveal([&](std::string_view text) {
    Bytes key(SecretKey::kBytes);
    for (size_t i = 0; i < key.size(); ++i) {
      key[i] = static_cast<std::byte>(std::stoi(std::string(text.substr(2 * i, 2)), nullptr, 16));
    }
    EXPECT_EQ(std::search(all.begin(), all.end(), key.begin(), key.begin() + 8), all.end());
  });
}

// On a network that loses, doubles and reorders, what arrives on a connection is the beginning of
// what was sent on it.
TEST(AuthenticatedTransport, A1WhatArrivesOnABadNetworkIsTheBeginningOfWhatWasSent) {
  const uint64_t seed = test_seed();
  size_t opened = 0;
  size_t cut = 0;
  for (uint64_t world = 0; world < 300; ++world) {
    Scene scene(seed + world);
    scene.network().set_faults({.drop_per_million = 30'000,
                                .duplicate_per_million = 30'000,
                                .reorder_per_million = 30'000});
    const ConnectionId id = scene.client->connect(kService).value();
    std::vector<std::string> sent;
    for (int i = 0; i < 20; ++i) {
      sent.push_back(std::to_string(i));
      static_cast<void>(scene.client->send(id, bytes_of(sent.back())));
    }
    scene.run(6000 * kMs);
    const auto arrived = scene.at_server.frames();
    ASSERT_LE(arrived.size(), sent.size());
    EXPECT_TRUE(std::equal(arrived.begin(), arrived.end(), sent.begin()));
    opened += arrived.size() == sent.size() ? 1 : 0;
    cut += scene.at_server.count(Kind::kClosed);
  }
  EXPECT_GT(opened, 0U);
  EXPECT_GT(cut, 0U);
}

}  // namespace
}  // namespace tessera::port
