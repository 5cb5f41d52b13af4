// The exchange on a communicator, also with messages in many pieces. For any number of ranks.
#include "tessera/mpiio/mpi_exchange.hpp"

#include <gtest/gtest.h>

#include "tessera/port/seeded_random.hpp"

namespace tessera::mpiio {
namespace {

using base::Bytes;
using port::SeededRandom;

// What a rank sends in a round, known to all.
Bytes message(int round, int from, int to) {
  constexpr uint64_t kSizes[] = {0, 1, 3, 50, 3000, 100000};
  SeededRandom random(static_cast<uint64_t>((round * 64 + from) * 64 + to));
  Bytes bytes(kSizes[random.uniform(6)]);
  random.fill(bytes);
  return bytes;
}

std::vector<Bytes> from_all(int round, int size, int to) {
  std::vector<Bytes> messages;
  for (int from = 0; from < size; ++from) messages.push_back(message(round, from, to));
  return messages;
}

// The parameter is the size of the pieces.
class ExchangeOnRanks : public ::testing::TestWithParam<int64_t> {
 protected:
  void SetUp() override {
    MPI_Comm_dup(MPI_COMM_WORLD, &communicator_);
    MPI_Comm_set_errhandler(communicator_, MPI_ERRORS_RETURN);
  }
  void TearDown() override { MPI_Comm_free(&communicator_); }

  MPI_Comm communicator_ = MPI_COMM_NULL;
};

TEST_P(ExchangeOnRanks, AllToAllTransposes) {
  MpiExchange exchange(communicator_, GetParam());
  for (int round = 0; round < 10; ++round) {
    std::vector<Bytes> outgoing;
    for (int to = 0; to < exchange.size(); ++to) {
      outgoing.push_back(message(round, exchange.rank(), to));
    }
    EXPECT_EQ(exchange.all_to_all(std::move(outgoing)).value(),
              from_all(round, exchange.size(), exchange.rank()));
  }
  EXPECT_EQ(exchange.all_to_all(std::vector<Bytes>(static_cast<size_t>(exchange.size()))).value(),
            std::vector<Bytes>(static_cast<size_t>(exchange.size())));
}

TEST_P(ExchangeOnRanks, GathersComeByRank) {
  MpiExchange exchange(communicator_, GetParam());
  for (int round = 0; round < 10; ++round) {
    const Bytes mine = message(round, exchange.rank(), 0);
    const auto all = from_all(round, exchange.size(), 0);
    EXPECT_EQ(exchange.all_gather(mine).value(), all);
    const int root = round % exchange.size();
    EXPECT_EQ(exchange.gather(root, mine).value(),
              exchange.rank() == root ? all : std::vector<Bytes>());
  }
  EXPECT_EQ(exchange.all_gather({}).value(),
            std::vector<Bytes>(static_cast<size_t>(exchange.size())));
}

TEST_P(ExchangeOnRanks, BroadcastMaximumAndVerdict) {
  MpiExchange exchange(communicator_, GetParam());
  for (int round = 0; round < 10; ++round) {
    const int root = round % exchange.size();
    EXPECT_EQ(exchange.broadcast(root, message(round, exchange.rank(), 0)).value(),
              message(round, root, 0));
    const uint64_t top = ~uint64_t{0} - static_cast<uint64_t>(exchange.size());
    EXPECT_EQ(exchange.all_max(top + static_cast<uint64_t>(exchange.rank())).value(),
              top + static_cast<uint64_t>(exchange.size()) - 1);
    const uint64_t large = exchange.rank() == root ? uint64_t{1} << 63 : 1;
    EXPECT_EQ(exchange.all_max(large).value(), uint64_t{1} << 63);
    ASSERT_TRUE(exchange.barrier());
  }
  const base::Result<void> failed = base::fail(base::Code::kDenied, "not here");
  const bool guilty = exchange.rank() == exchange.size() - 1;
  EXPECT_FALSE(exchange.agree(guilty ? failed : base::Result<void>()));
  EXPECT_TRUE(exchange.agree({}));
}

INSTANTIATE_TEST_SUITE_P(Pieces, ExchangeOnRanks,
                         ::testing::Values(int64_t{9000}, MpiExchange::kPieceBytes));

}  // namespace
}  // namespace tessera::mpiio
