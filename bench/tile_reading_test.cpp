#include "bench/tile_reading.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "bench/mpiio_stock.hpp"
#include "bench/other_build.hpp"
#include "tessera/container/container.hpp"
#include "tessera/port/plain_file.hpp"

namespace tessera::bench {
namespace {

constexpr int kSide = 2;

// Readers whose tile is in one place of the file of a job.
int64_t tiles_in_one_place(MpiPool& pool, const JobKind& kind, bool twin) {
  const auto job = pool.job(kind, twin);
  if (!job) return -1;
  const auto file = port::PlainFile::open((*job)->folder() + "/replicated", {.read = true});
  if (!file) return -1;
  auto container = container::Container::open(**file);
  if (!container) return -1;
  const auto contents = container->read_contents();
  if (!contents) return -1;
  int64_t found = 0;
  const object::Wall wall = paper_wall(kSide);
  for (int64_t reader = 0; reader < wall.readers(); ++reader) {
    found += contents->map.find_whole(object::reader_view(wall, reader), 0) ? 1 : 0;
  }
  return found;
}

class TileReading : public testing::Test {
 protected:
  void TearDown() override { EXPECT_TRUE(set_other_build("")); }

  MpiPool pool_;
  const JobKind ours_ = tessera_at(kSide * kSide);
};

// This build in the place of the other one.
TEST_F(TileReading, AllContestantsReadOneLayout) {
  const auto started = pool_.job(ours_, false);
  if (!started && started.error().code == base::Code::kNotFound) {
    GTEST_SKIP() << started.error().message();
  }
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  ASSERT_TRUE(set_other_build(self.parent_path().parent_path().string()));
  Operation objects = tile_read(Access::kIndependent, Timed::kTransfer);
  objects.file = FileKind::kReplicated;
  ASSERT_TRUE(put_tiles_in_one_place(pool_, kSide, objects));
  Case measured;
  const auto pool = std::shared_ptr<MpiPool>(std::shared_ptr<void>(), &pool_);
  set_ours(pool, "ours", ours_, objects, measured);
  ASSERT_TRUE(measured.comparison) << measured.not_compared;
  EXPECT_EQ(tiles_in_one_place(pool_, before_of(ours_), false), 1) << "as its ranks wrote it";
  const auto put = put_compared_tiles_in_one_place(pool_, kSide, objects, measured);
  ASSERT_TRUE(put) << put.error().message();
  ASSERT_TRUE(measured.comparison) << measured.not_compared;
  EXPECT_EQ(tiles_in_one_place(pool_, ours_, false), kSide * kSide);
  EXPECT_EQ(tiles_in_one_place(pool_, ours_, true), kSide * kSide);
  EXPECT_EQ(tiles_in_one_place(pool_, before_of(ours_), false), kSide * kSide);
}

}  // namespace
}  // namespace tessera::bench
