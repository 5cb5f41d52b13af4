#include "bench/pack_peer.hpp"

#include <gtest/gtest.h>

namespace tessera::bench {
namespace {

// Runs where the peer was built, that is where the MPI's compiler is installed.
class PackPeerTest : public testing::TestWithParam<const char*> {};

TEST_P(PackPeerTest, PreparesAndMeasures) {
  auto started = PackPeer::start(GetParam());
  if (!started && started.error().code == base::Code::kNotFound) GTEST_SKIP();
  ASSERT_TRUE(started) << started.error().message();
  PackPeer& peer = **started;
  EXPECT_NE(peer.version().find(GetParam() == std::string("mpich") ? "MPICH" : "Open MPI"),
            std::string::npos);
  EXPECT_FALSE(peer.pack(1)) << "nothing is prepared yet";
  for (const StridedLayout& layout : {StridedLayout{8, 16, 1000}, {12, 25, 333}, {1, 1, 1}}) {
    const auto forms = peer.prepare(layout);
    ASSERT_TRUE(forms) << forms.error().message();
    EXPECT_NE(forms->find(' '), std::string::npos);
    EXPECT_TRUE(peer.prepare_as(layout, *forms));
    const auto packed = peer.pack(10);
    const auto unpacked = peer.unpack(10);
    ASSERT_TRUE(packed && unpacked);
    EXPECT_GT(*packed, 0);
    EXPECT_GT(*unpacked, 0);
  }
  EXPECT_FALSE(peer.prepare({16, 8, 1})) << "runs overlap";
  EXPECT_FALSE(peer.prepare_as({8, 16, 1}, "byte-vector nosuch"));
  EXPECT_TRUE(peer.prepare({16, 32, 4})) << "and goes on after it";
}

INSTANTIATE_TEST_SUITE_P(Mpis, PackPeerTest, testing::Values("openmpi", "mpich"));

TEST(PackPeer, UnknownMpiIsNotFound) {
  const auto peer = PackPeer::start("nosuch");
  ASSERT_FALSE(peer);
  EXPECT_EQ(peer.error().code, base::Code::kNotFound);
}

}  // namespace
}  // namespace tessera::bench
