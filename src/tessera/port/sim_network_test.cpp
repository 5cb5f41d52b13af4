#include "tessera/port/sim_network.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <set>

#include "tessera/port/test_seed.hpp"

namespace tessera::port {
namespace {

using base::bytes_of;
using base::text_of;

constexpr int64_t kSecondNs = 1'000'000'000;

class SimNetworkTest : public ::testing::Test {
 protected:
  SimNetworkTest() : network_(clock_, test_seed()) {
    server_ = network_.endpoint("server");
    client_ = network_.endpoint("client");
    EXPECT_TRUE(server_->listen("service"));
    at_client_ = client_->connect("service").value();
    at_server_ = server_->next_event(kSecondNs).value().connection;
    EXPECT_EQ(client_->next_event(kSecondNs).value().kind, Event::Kind::kConnected);
  }

  // Sends the numbers [0, count) and answers them as they arrive.
  std::vector<int> send_numbers(int count) {
    for (int i = 0; i < count; ++i) {
      EXPECT_TRUE(client_->send(at_client_, bytes_of(std::to_string(i))));
    }
    std::vector<int> received;
    while (const auto event = server_->next_event(kSecondNs)) {
      received.push_back(std::stoi(std::string(text_of(event->frame))));
    }
    return received;
  }

  SimClock clock_;
  SimNetwork network_;
  std::unique_ptr<SimEndpoint> server_;
  std::unique_ptr<SimEndpoint> client_;
  ConnectionId at_client_{};
  ConnectionId at_server_{};
};

TEST_F(SimNetworkTest, DelaysStayInTheirBounds) {
  network_.set_faults({.delay_ns_min = 1000, .delay_ns_max = 2000});
  for (int i = 0; i < 100; ++i) {
    const int64_t start = clock_.now_ns();
    ASSERT_TRUE(client_->send(at_client_, bytes_of("x")));
    ASSERT_TRUE(server_->next_event(kSecondNs));
    EXPECT_GE(clock_.now_ns(), start + 1000);
    EXPECT_LE(clock_.now_ns(), start + 2000);
  }
}

TEST_F(SimNetworkTest, DropLosesAboutItsShare) {
  network_.set_faults({.drop_per_million = 250'000});
  const std::vector<int> received = send_numbers(1000);
  // Ten standard deviations (13.7) about 750.
  EXPECT_NEAR(static_cast<double>(received.size()), 750, 137);
  EXPECT_TRUE(std::is_sorted(received.begin(), received.end()));
}

TEST_F(SimNetworkTest, DuplicateRepeatsAboutItsShare) {
  network_.set_faults({.duplicate_per_million = 250'000});
  const std::vector<int> received = send_numbers(1000);
  EXPECT_NEAR(static_cast<double>(received.size()), 1250, 137);
  EXPECT_EQ(std::set<int>(received.begin(), received.end()).size(), 1000U);
}

TEST_F(SimNetworkTest, ReorderChangesTheOrderAndLosesNothing) {
  network_.set_faults({.reorder_per_million = 250'000});
  std::vector<int> received = send_numbers(1000);
  EXPECT_FALSE(std::is_sorted(received.begin(), received.end()));
  std::sort(received.begin(), received.end());
  ASSERT_EQ(received.size(), 1000U);
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(received[static_cast<size_t>(i)], i);
}

TEST_F(SimNetworkTest, N2NothingCrossesAPartitionUntilItHeals) {
  network_.partition({"server"});
  EXPECT_TRUE(send_numbers(5).empty());
  ASSERT_TRUE(server_->send(at_server_, bytes_of("x")));
  EXPECT_FALSE(client_->next_event(kSecondNs));
  network_.heal();
  EXPECT_EQ(send_numbers(2), (std::vector<int>{0, 1}));
}

TEST_F(SimNetworkTest, N2APartitionHidesEndsAndConnectionsTimeOut) {
  network_.partition({"client"});
  server_->close(at_server_);
  EXPECT_FALSE(client_->next_event(kSecondNs));
  const ConnectionId id = client_->connect("service").value();
  const auto closed = client_->next_event(2 * kSecondNs);
  ASSERT_TRUE(closed);
  EXPECT_EQ(closed->kind, Event::Kind::kClosed);
  EXPECT_EQ(closed->connection, id);
  EXPECT_EQ(closed->reason.errno_value, ETIMEDOUT);
}

TEST_F(SimNetworkTest, N3AFrameToAForgottenConnectionEndsIt) {
  network_.partition({"client"});
  server_->close(at_server_);
  clock_.advance_by(kSecondNs);
  network_.heal();
  ASSERT_TRUE(client_->send(at_client_, bytes_of("still there?")));
  const auto closed = client_->next_event(kSecondNs);
  ASSERT_TRUE(closed);
  EXPECT_EQ(closed->kind, Event::Kind::kClosed);
  EXPECT_EQ(closed->connection, at_client_);
}

TEST_F(SimNetworkTest, AnEndpointThatGoesClosesItsConnectionsAndItsAddress) {
  server_.reset();
  EXPECT_EQ(client_->next_event(kSecondNs)->kind, Event::Kind::kClosed);
  ASSERT_TRUE(client_->connect("service"));
  EXPECT_EQ(client_->next_event(kSecondNs)->reason.errno_value, ECONNREFUSED);
}

TEST_F(SimNetworkTest, AServerMayAnswerWhileAClientWaits) {
  server_->on_event([&](const Event& event) {
    if (event.kind == Event::Kind::kFrame) {
      EXPECT_TRUE(server_->send(event.connection, event.frame));
    }
  });
  ASSERT_TRUE(client_->send(at_client_, bytes_of("echo")));
  EXPECT_EQ(text_of(client_->next_event(kSecondNs)->frame), "echo");
}

// Nodes that pass a frame on to a random one of them, under all faults at once.
struct World {
  uint64_t digest;
  std::vector<std::string> lines;
};

World run_world(uint64_t seed) {
  SimClock clock;
  World run{};
  {
    SimNetwork network(clock, seed);
    network.on_trace([&](const std::string& line) { run.lines.push_back(line); });
    network.set_faults({.drop_per_million = 20'000,
                        .duplicate_per_million = 50'000,
                        .reorder_per_million = 100'000});
    SeededRandom random(seed);
    std::vector<std::unique_ptr<SimEndpoint>> nodes;
    std::vector<std::vector<ConnectionId>> open(4);
    for (size_t i = 0; i < open.size(); ++i) {
      nodes.push_back(network.endpoint("node" + std::to_string(i)));
      EXPECT_TRUE(nodes[i]->listen(std::to_string(i)));
      nodes[i]->on_event([&, i](const Event& event) {
        if (event.kind == Event::Kind::kConnected) open[i].push_back(event.connection);
        if (event.kind == Event::Kind::kClosed) std::erase(open[i], event.connection);
        if (open[i].empty()) return;
        const ConnectionId next = open[i][random.uniform(open[i].size())];
        EXPECT_TRUE(nodes[i]->send(next, bytes_of(std::to_string(random.uniform(1000)))));
      });
    }
    for (size_t i = 0; i < open.size(); ++i) {
      EXPECT_TRUE(nodes[i]->connect(std::to_string((i + 1) % open.size())));
    }
    for (int step = 0; step < 20; ++step) {
      clock.advance_by(1'000'000);
      if (random.chance(1, 4)) network.partition({"node" + std::to_string(random.uniform(4))});
      if (random.chance(1, 2)) network.heal();
    }
    run.digest = network.trace_digest();
  }
  return run;
}

TEST(SimNetwork, TheSameSeedGivesTheSameTrace) {
  const uint64_t seed = test_seed();
  const World first = run_world(seed);
  const World second = run_world(seed);
  EXPECT_EQ(first.lines, second.lines);
  EXPECT_EQ(first.digest, second.digest);
  EXPECT_GT(first.lines.size(), 20U);
  EXPECT_NE(run_world(seed + 1).digest, first.digest);
}

TEST(SimNetwork, TimersThatOutliveTheNetworkDoNothing) {
  SimClock clock;
  {
    SimNetwork network(clock, 1);
    const auto endpoint = network.endpoint("a");
    ASSERT_TRUE(endpoint->listen("a"));
    ASSERT_TRUE(endpoint->connect("a"));
  }
  EXPECT_GT(clock.timer_count(), 0U);
  clock.advance_by(kSecondNs);
}

}  // namespace
}  // namespace tessera::port
