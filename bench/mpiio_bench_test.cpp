#include "bench/mpiio_bench.hpp"

#include <gtest/gtest.h>

namespace tessera::bench {
namespace {

double to_best_collective(const char* mpi, int ranks, int64_t record_bytes) {
  for (const Bar& bar : column_bars(mpi, ranks, record_bytes)) {
    if (bar.kind == Bar::Kind::kRatioToBestOf && bar.peer == "collective") return bar.value;
  }
  return 0;
}

TEST(ColumnBars, AreFortyfoldFromFourRanksOnInBothMpis) {
  for (const char* mpi : {"openmpi", "mpich"}) {
    for (const int ranks : {4, 9, 16}) EXPECT_EQ(to_best_collective(mpi, ranks, 8), 40) << mpi;
  }
  EXPECT_EQ(to_best_collective("openmpi", 4, 256), 5);
  EXPECT_EQ(to_best_collective("openmpi", 2, 8), 0);
  EXPECT_EQ(to_best_collective("mpich", 2, 8), 20);
  EXPECT_TRUE(column_bars("mpich", 4, 256).empty());
}

}  // namespace
}  // namespace tessera::bench
