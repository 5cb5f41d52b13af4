// The conformance suite: what transport.hpp promises, on every transport without faults.
#include "tessera/port/transport.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <deque>
#include <map>
#include <memory>
#include <vector>

#include "tessera/port/authenticated_transport.hpp"
#include "tessera/port/posix_clock.hpp"
#include "tessera/port/posix_transport.hpp"
#include "tessera/port/seeded_random.hpp"
#include "tessera/port/sim_network.hpp"
#include "tessera/port/test_seed.hpp"

namespace tessera::port {
namespace {

using base::Bytes;
using base::bytes_of;
using base::text_of;

enum class Kind { kUnix, kTcp, kSim };

struct Tested {
  Kind kind = Kind::kSim;
  bool authenticated = false;
};

constexpr TransportLimits kLimits = {
    .frame_bytes_max = 300'000, .unsent_bytes_max = 8'000'000, .connections_max = 4};

class TransportConformance : public ::testing::TestWithParam<Tested> {
 protected:
  void SetUp() override {
    const TransportLimits limits =
        GetParam().authenticated ? AuthenticatedTransport::limits_below(kLimits) : kLimits;
    if (GetParam().kind == Kind::kSim) {
      network_ = std::make_unique<SimNetwork>(clock_, 1, limits);
      server_ = finished(network_->endpoint("server"));
      client_ = finished(network_->endpoint("client"));
    } else {
      server_ = finished(PosixTransport::create(limits).value());
      client_ = finished(PosixTransport::create(limits).value());
    }
    address_ = server_->listen(free_address()).value();
  }

  std::unique_ptr<Transport> finished(std::unique_ptr<Transport> inner) {
    if (!GetParam().authenticated) return inner;
    const Clock& clock =
        GetParam().kind == Kind::kSim ? static_cast<const Clock&>(clock_) : posix_clock_;
    return std::make_unique<AuthenticatedTransport>(std::move(inner), key_,
                                                    AuthenticatedTransport::World{clock, random_},
                                                    AuthenticationSettings{.limits = kLimits});
  }

  std::string free_address() const {
    switch (GetParam().kind) {
      case Kind::kUnix:
        return "unix:" + ::testing::TempDir() + "tessera_" + std::to_string(::getpid()) + ".sock";
      case Kind::kTcp:
        return "tcp:127.0.0.1:0";
      case Kind::kSim:
        return "service";
    }
    return {};
  }

  // Waits at one side while the other goes on sending; ten seconds mean that nothing will come.
  std::optional<Event> await(Transport& waiting, Transport& other) {
    for (int i = 0; i < 10'000 && kept_[&waiting].empty(); ++i) {
      if (auto event = waiting.next_event(1'000'000)) return event;
      if (auto early = other.next_event(0)) kept_[&other].push_back(std::move(*early));
    }
    if (kept_[&waiting].empty()) return std::nullopt;
    Event event = std::move(kept_[&waiting].front());
    kept_[&waiting].pop_front();
    return event;
  }
  Event at_server() { return await(*server_, *client_).value(); }
  Event at_client() { return await(*client_, *server_).value(); }

  struct Pair {
    ConnectionId client;
    ConnectionId server;
  };

  Pair connected() {
    const ConnectionId client = client_->connect(address_).value();
    const Event at_its_server = at_server();
    EXPECT_EQ(at_its_server.kind, Event::Kind::kConnected);
    EXPECT_TRUE(at_its_server.incoming);
    const Event at_its_client = at_client();
    EXPECT_EQ(at_its_client.kind, Event::Kind::kConnected);
    EXPECT_FALSE(at_its_client.incoming);
    EXPECT_EQ(at_its_client.connection, client);
    return {client, at_its_server.connection};
  }

  // Whether nothing more arrives on either side for a while.
  bool quiet() {
    for (int i = 0; i < 20; ++i) {
      if (client_->next_event(1'000'000) || server_->next_event(1'000'000)) return false;
    }
    return kept_[client_.get()].empty() && kept_[server_.get()].empty();
  }

  SimClock clock_;
  const PosixClock posix_clock_{};
  SeededRandom random_{1};
  const SecretKey key_ = SecretKey::draw(random_);
  std::unique_ptr<SimNetwork> network_;
  std::unique_ptr<Transport> server_;
  std::unique_ptr<Transport> client_;
  std::string address_;
  std::map<Transport*, std::deque<Event>> kept_;
};

TEST_P(TransportConformance, T1ConnectionsOpenCarryFramesAndClose) {
  const Pair pair = connected();
  ASSERT_TRUE(client_->send(pair.client, bytes_of("question")));
  const Event question = at_server();
  ASSERT_EQ(question.kind, Event::Kind::kFrame);
  EXPECT_EQ(question.connection, pair.server);
  EXPECT_EQ(text_of(question.frame), "question");
  ASSERT_TRUE(server_->send(pair.server, bytes_of("answer")));
  EXPECT_EQ(text_of(at_client().frame), "answer");

  client_->close(pair.client);
  const Event closed = at_server();
  EXPECT_EQ(closed.kind, Event::Kind::kClosed);
  EXPECT_EQ(closed.connection, pair.server);
  EXPECT_EQ(closed.reason.errno_value, 0);
  EXPECT_EQ(closed.reason.context, "closed by the peer");
  EXPECT_TRUE(quiet());
}

TEST_P(TransportConformance, T1FramesSentBeforeACloseArriveBeforeIt) {
  const Pair pair = connected();
  ASSERT_TRUE(client_->send(pair.client, bytes_of("1")));
  ASSERT_TRUE(client_->send(pair.client, bytes_of("2")));
  client_->close(pair.client);
  EXPECT_EQ(text_of(at_server().frame), "1");
  EXPECT_EQ(text_of(at_server().frame), "2");
  EXPECT_EQ(at_server().kind, Event::Kind::kClosed);
  EXPECT_TRUE(quiet());
}

TEST_P(TransportConformance, T1AfterCloseThereAreNoEvents) {
  const Pair pair = connected();
  ASSERT_TRUE(server_->send(pair.server, bytes_of("late")));
  ASSERT_FALSE(server_->next_event(0));
  client_->close(pair.client);
  client_->close(pair.client);
  EXPECT_EQ(client_->send(pair.client, bytes_of("x")).error().code, base::Code::kNotFound);
  EXPECT_EQ(at_server().kind, Event::Kind::kClosed);
  EXPECT_TRUE(quiet());
}

TEST_P(TransportConformance, T1ARefusedConnectionIsClosedWithoutHavingBeenOpen) {
  server_.reset();
  const ConnectionId id = client_->connect(address_).value();
  const auto event = client_->next_event(10'000'000'000);
  ASSERT_TRUE(event);
  EXPECT_EQ(event->kind, Event::Kind::kClosed);
  EXPECT_EQ(event->connection, id);
  EXPECT_TRUE(event->reason.errno_value == ECONNREFUSED || event->reason.errno_value == ENOENT);
  EXPECT_FALSE(client_->send(id, bytes_of("x")));
}

TEST_P(TransportConformance, FramesMayBeSentWhileConnecting) {
  const ConnectionId id = client_->connect(address_).value();
  ASSERT_TRUE(client_->send(id, bytes_of("early")));
  ASSERT_TRUE(client_->send(id, bytes_of("later")));
  EXPECT_EQ(at_server().kind, Event::Kind::kConnected);
  EXPECT_EQ(text_of(at_server().frame), "early");
  EXPECT_EQ(text_of(at_server().frame), "later");
}

TEST_P(TransportConformance, T3FramesUpToTheLimitAndNoLonger) {
  const Pair pair = connected();
  const Bytes largest(kLimits.frame_bytes_max, std::byte{7});
  ASSERT_TRUE(client_->send(pair.client, largest));
  ASSERT_TRUE(client_->send(pair.client, {}));
  EXPECT_EQ(at_server().frame, largest);
  const Event empty = at_server();
  EXPECT_EQ(empty.kind, Event::Kind::kFrame);
  EXPECT_TRUE(empty.frame.empty());
  const Bytes over(kLimits.frame_bytes_max + 1);
  EXPECT_EQ(client_->send(pair.client, over).error().code, base::Code::kInvalid);
  EXPECT_TRUE(quiet());
}

TEST_P(TransportConformance, T3AConnectionMayHaveALowerLimit) {
  const Pair pair = connected();
  server_->limit_frames(pair.server, 200);
  ASSERT_TRUE(client_->send(pair.client, Bytes(200)));
  EXPECT_EQ(at_server().frame.size(), 200U);
  ASSERT_TRUE(client_->send(pair.client, Bytes(201)));
  const Event closed = at_server();
  ASSERT_EQ(closed.kind, Event::Kind::kClosed);
  EXPECT_EQ(closed.reason.code, base::Code::kIntegrity);
  EXPECT_EQ(at_client().kind, Event::Kind::kClosed);
}

TEST_P(TransportConformance, AnIncomingConnectionNamesItsListenerAndItsPeer) {
  static_cast<void>(client_->connect(address_).value());
  const Event connected = at_server();
  EXPECT_EQ(connected.listener, address_);
  EXPECT_FALSE(connected.peer.empty());
}

TEST_P(TransportConformance, T2ManyFramesArriveWholeInOrderAndOnce) {
  SeededRandom random(test_seed());
  const Pair pair = connected();
  std::vector<Bytes> sent(200);
  for (Bytes& frame : sent) {
    frame.resize(random.uniform(random.chance(1, 4) ? 100'000 : 50));
    random.fill(frame);
    ASSERT_TRUE(client_->send(pair.client, frame));
  }
  for (size_t i = 0; i < sent.size(); ++i) {
    const Event event = at_server();
    ASSERT_EQ(event.kind, Event::Kind::kFrame) << i;
    ASSERT_EQ(event.frame, sent[i]) << i;
  }
  EXPECT_TRUE(quiet());
}

TEST_P(TransportConformance, ConnectionsAreCountedAndSeparate) {
  std::vector<Pair> pairs;
  for (size_t i = 0; i < kLimits.connections_max; ++i) pairs.push_back(connected());
  const auto refused = client_->connect(address_);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, base::Code::kRetry);
  for (size_t i = 0; i < pairs.size(); ++i) {
    ASSERT_TRUE(client_->send(pairs[i].client, bytes_of(std::to_string(i))));
    const Event event = at_server();
    EXPECT_EQ(event.connection, pairs[i].server);
    EXPECT_EQ(text_of(event.frame), std::to_string(i));
  }
  client_->close(pairs[0].client);
  EXPECT_EQ(at_server().kind, Event::Kind::kClosed);
  connected();
}

TEST_P(TransportConformance, AnAddressIsTakenOnce) {
  EXPECT_EQ(client_->listen(address_).error().errno_value, EADDRINUSE);
  EXPECT_EQ(client_->listen("").error().code, base::Code::kInvalid);
  EXPECT_EQ(client_->connect("").error().code, base::Code::kInvalid);
}

std::string name_of(const ::testing::TestParamInfo<Tested>& tested) {
  constexpr const char* kNames[] = {"Unix", "Tcp", "Sim"};
  return std::string(tested.param.authenticated ? "Authenticated" : "") +
         kNames[static_cast<int>(tested.param.kind)];
}

INSTANTIATE_TEST_SUITE_P(Transports, TransportConformance,
                         ::testing::Values(Tested{Kind::kUnix}, Tested{Kind::kTcp},
                                           Tested{Kind::kSim}, Tested{Kind::kUnix, true},
                                           Tested{Kind::kTcp, true}, Tested{Kind::kSim, true}),
                         name_of);

}  // namespace
}  // namespace tessera::port
