#include "bench/remap_views.hpp"

#include <gtest/gtest.h>

#include "tessera/object/views_file.hpp"

namespace tessera::bench {

namespace {

constexpr int64_t kSide = 4096;

struct Totals {
  int64_t views = 0;
  int64_t viewed = 0;  // bytes of all views, shared ones counted for each
  int64_t united = 0;  // bytes of any view
};

Totals totals_of(Shape shape, int64_t processes) {
  const auto file = object::parse_views(views_text(shape, processes, kSide));
  if (!file) {
    ADD_FAILURE() << name_of(shape) << ": " << file.error().message();
    return {};
  }
  EXPECT_EQ(file->disjoint, !overlaps(shape));
  EXPECT_TRUE(object::object_set_of(*file)) << name_of(shape) << " is not disjoint";
  Totals totals;
  pattern::ByteSet all;
  for (const object::NamedView& view : file->views) {
    ++totals.views;
    totals.viewed += view.bytes.size();
    all = pattern::unite(all, view.bytes).value();
  }
  totals.united = all.size();
  return totals;
}

TEST(RemapViews, EveryByteHasOneProcess) {
  for (const Shape shape :
       {Shape::kRows, Shape::kColumns, Shape::kBlocks, Shape::kCyclic, Shape::kIrregular}) {
    for (const int64_t processes : {4, 9}) {
      const Totals totals = totals_of(shape, processes);
      EXPECT_EQ(totals.views, processes);
      EXPECT_EQ(totals.viewed, kSide * kSide) << name_of(shape);
      EXPECT_EQ(totals.united, kSide * kSide) << name_of(shape);
    }
  }
}

TEST(RemapViews, RowsNeedNoSquareNumber) {
  EXPECT_EQ(totals_of(Shape::kRows, 3).united, kSide * kSide);
  EXPECT_EQ(totals_of(Shape::kColumns, 3).united, kSide * kSide);
}

TEST(RemapViews, NeighboursShareBytes) {
  const Totals rows = totals_of(Shape::kOverlappingRows, 4);
  EXPECT_EQ(rows.united, kSide * kSide);
  EXPECT_EQ(rows.viewed, kSide * (kSide + 6 * kSide / 64));  // six edges, 1/16 of a quarter
  const Totals blocks = totals_of(Shape::kOverlappingBlocks, 4);
  EXPECT_EQ(blocks.united, kSide * kSide);
  EXPECT_EQ(blocks.viewed, (kSide + kSide / 16) * (kSide + kSide / 16));
}

TEST(RemapViews, TilesOfAWall) {
  const auto file = object::parse_views(views_text(object::kPaperExample));
  ASSERT_TRUE(file) << file.error().message();
  const auto expected = object::reader_views(object::kPaperExample);
  ASSERT_EQ(file->views.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_TRUE(pattern::equal(file->views[i].bytes, expected[i]).value()) << i;
  }
}

}  // namespace

}  // namespace tessera::bench
