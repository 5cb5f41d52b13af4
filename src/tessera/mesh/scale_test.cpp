// What a large mesh costs: bounds that hold on a busy machine too, since they count the time of
// this process alone.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <time.h>

#include "tessera/mesh/classify.hpp"
#include "tessera/mesh/grid_mesh.hpp"
#include "tessera/owner/writers.hpp"
#include "tessera/port/test_sanitizers.hpp"

namespace tessera::mesh {
namespace {

double cpu_seconds() {
  timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

int64_t peak_bytes() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss * 1024;
}

TEST(Scale, TenMillionNodesInSecondsAndLittleMemory) {
  if (port::kSanitized) GTEST_SKIP() << "a watched build is slower";
  constexpr double kSeconds = 10;
  constexpr int64_t kBytes = int64_t{3} << 30;
  const GridSize size{.x = 216, .y = 216, .z = 216};
  const double begin = cpu_seconds();
  const Partition partition = grid_blocks(size, {.x = 4, .y = 4, .z = 4});
  Classifier classifier(partition);
  for_each_tetrahedron(size, [&](std::span<const Node> nodes) { classifier.element(nodes); });
  const owner::Sharing sharing = classifier.finish();
  const auto writers = owner::choose_writers(sharing, {.policy = owner::Policy::kOptimal});
  const double seconds = cpu_seconds() - begin;
  ASSERT_TRUE(writers);
  EXPECT_EQ(writers->items(), size.nodes());
  // Of every four blocks along an axis two have one face inside, two have two: 54 nodes a side.
  const int64_t local_along = 2 * 53 + 2 * 52;
  EXPECT_EQ(sharing.shared_items(), size.nodes() - local_along * local_along * local_along);
  RecordProperty("milliseconds", static_cast<int>(seconds * 1000));
  EXPECT_LT(seconds, kSeconds);
  EXPECT_LT(peak_bytes(), kBytes);
}

}  // namespace
}  // namespace tessera::mesh
