// Who shares which bytes: four processes read overlapping tiles of a small image, and every family
// of objects is printed with the processes that share it.
#include <array>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "tessera/base/result.hpp"
#include "tessera/object/object_set.hpp"
#include "tessera/pattern/byte_set.hpp"
#include "tessera/pattern/datatype.hpp"
#include "tessera/pattern/view.hpp"

namespace {

using tessera::base::Result;
namespace object = tessera::object;
namespace pattern = tessera::pattern;

// An image of 3 rows of 60 bytes, seen in tiles of 2 rows of 40 bytes.
constexpr pattern::Interval kImage{0, 180};

Result<pattern::ByteSet> tile_at(int64_t row, int64_t column) {
  TESSERA_TRY(const auto pixel, pattern::basic(1));
  const std::array<pattern::Slice, 2> slices{{{3, 2, row}, {60, 40, column}}};
  TESSERA_TRY(const auto tile, pattern::subarray(slices, pattern::Order::kC, pixel));
  TESSERA_TRY(const auto view, pattern::View::make(0, tile, 1));
  return view.within(kImage);
}

Result<object::ObjectSet> objects_of_tiles() {
  std::vector<pattern::ByteSet> views;
  for (const int64_t row : {0, 1}) {
    for (const int64_t column : {0, 20}) {
      TESSERA_TRY(auto view, tile_at(row, column));
      views.push_back(std::move(view));
    }
  }
  return object::ObjectSet::of(kImage, views);
}

void print(const object::ObjectSet& objects) {
  for (const auto& family : objects.families()) {
    std::printf("%3lld bytes in %lld objects from byte %3lld, processes",
                static_cast<long long>(family.bytes.size()),
                static_cast<long long>(family.object_count()),
                static_cast<long long>(family.bytes.span().begin));
    for (const auto process : objects.sharers(family.sharers)) {
      std::printf(" %lld", static_cast<long long>(process));
    }
    std::printf("\n");
  }
}

}  // namespace

int main() {
  const auto objects = objects_of_tiles();
  if (!objects) {
    std::fprintf(stderr, "%s\n", objects.error().message().c_str());
    return 1;
  }
  print(*objects);
}
