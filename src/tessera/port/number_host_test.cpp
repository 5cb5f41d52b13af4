#include "tessera/port/number_host.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>
#include <vector>

namespace tessera::port {
namespace {

constexpr const char* kHere = "127.0.0.1";

std::shared_ptr<NumberHost> start() {
  auto made = NumberHost::start(kHere);
  EXPECT_TRUE(made) << made.error().message();
  return made ? *made : nullptr;
}

TEST(NumberHost, EveryChangeIsMadeOnceAndAnswersTheValueBefore) {
  constexpr int kThreads = 4;
  constexpr int kTimes = 300;
  const auto host = start();
  const NumberPlace place = host->add();
  std::vector<std::vector<int64_t>> seen(kThreads);
  std::vector<std::thread> threads;
  for (auto& mine : seen) {
    threads.emplace_back([&mine, place] {
      RemoteNumber number(place);
      for (int i = 0; i < kTimes; ++i) mine.push_back(number.fetch_add(3).value());
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::vector<int64_t> all;
  for (const auto& mine : seen) {
    EXPECT_TRUE(std::is_sorted(mine.begin(), mine.end()));
    all.insert(all.end(), mine.begin(), mine.end());
  }
  std::sort(all.begin(), all.end());
  for (size_t i = 0; i < all.size(); ++i) ASSERT_EQ(all[i], static_cast<int64_t>(3 * i));
}

TEST(NumberHost, NumbersAreApart) {
  const auto host = start();
  RemoteNumber first(host->add());
  RemoteNumber second(host->add());
  EXPECT_TRUE(first.store(-5));
  EXPECT_EQ(second.load().value(), 0);
  EXPECT_EQ(first.fetch_add(2).value(), -5);
  EXPECT_EQ(first.load().value(), -3);
}

TEST(NumberHost, WhoeverComesTooLateIsTold) {
  auto host = start();
  RemoteNumber used(host->add());
  RemoteNumber unused(host->add());
  EXPECT_TRUE(used.load());
  host.reset();
  for (RemoteNumber* number : {&used, &unused}) {
    const auto answer = number->load();
    ASSERT_FALSE(answer);
    EXPECT_NE(answer.error().message().find("127.0.0.1"), std::string::npos);
  }
}

TEST(NumberHost, ANumberThatWasRemovedIsGone) {
  const auto host = start();
  const NumberPlace place = host->add();
  RemoteNumber number(place);
  RemoteNumber other(host->add());
  EXPECT_TRUE(number.load());
  host->remove(place);
  EXPECT_FALSE(number.load());
  EXPECT_TRUE(other.load());
}

TEST(NumberHost, StrangersAreNotServed) {
  const auto host = start();
  NumberPlace place = host->add();
  place.key = std::string(64, '7');
  RemoteNumber number(place);
  const auto answer = number.load();
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, base::Code::kDenied);
}

TEST(NumberHost, AnUnknownMachineIsAnError) { EXPECT_FALSE(NumberHost::start("no such machine")); }

TEST(NumberHost, PlacesTravel) {
  base::Bytes bytes;
  base::ByteWriter writer(bytes);
  write_place(writer, {"tcp:127.0.0.1:7", "key", 9});
  base::ByteReader reader(bytes);
  const auto read = read_place(reader);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->address, "tcp:127.0.0.1:7");
  EXPECT_EQ(read->key, "key");
  EXPECT_EQ(read->id, 9U);
  base::ByteReader half(base::ByteView(bytes).first(bytes.size() / 2));
  EXPECT_FALSE(read_place(half));
}

}  // namespace
}  // namespace tessera::port
