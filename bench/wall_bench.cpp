#include "bench/wall_bench.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "bench/expanded.hpp"
#include "tessera/object/object_set.hpp"
#include "tessera/object/tile_wall.hpp"
#include "tessera/pattern/encode.hpp"

namespace tessera::bench {

namespace {

constexpr int64_t kMiddleReader = 44;
constexpr double kEncodedBytesMax = 128;
constexpr double kBuildMsMax = 20;
constexpr double kFamilyBytesMax = 1 << 20;

base::Result<Case> make_encoded_size() {
  const auto tile = object::reader_view(object::kPaperWall, kMiddleReader).ascending();
  const base::Bytes encoded = pattern::encode(tile);
  TESSERA_TRY(const auto decoded, pattern::decode<1>(encoded));
  if (decoded.at() != tile.at() || !pattern::same_shape(decoded.shape(), tile.shape())) {
    return base::fail(base::Code::kIntegrity, "the encoded tile decodes to something else");
  }
  const RunVector list = expanded(tile);
  Case measured;
  measured.unit = "B";
  measured.kind = Kind::kSize;
  measured.ours = sized("encoded view", static_cast<double>(encoded.size()));
  measured.peers = {sized("list of runs", static_cast<double>(list.size() * sizeof list[0]))};
  measured.bars = {{Bar::Kind::kAtMost, kEncodedBytesMax}};
  measured.note = fmt::format("{} runs, {} bytes of pixels", list.size(), tile.size());
  return measured;
}

struct Readers {
  pattern::Interval range;
  std::vector<pattern::ByteSet> views;
  std::vector<RunVector> lists;
};

base::Result<std::shared_ptr<Readers>> make_readers(int64_t side) {
  object::Wall wall = object::kPaperWall;
  wall.columns = wall.rows = side;
  auto readers = std::make_shared<Readers>();
  readers->range = {0, wall.file_bytes()};
  readers->views = object::reader_views(wall);
  for (const auto& view : readers->views) readers->lists.push_back(expanded(view.ascending()));
  return readers;
}

base::Result<object::ObjectSet> build(const Readers& readers) {
  return object::ObjectSet::of(readers.range, readers.views);
}

base::Result<void> check_objects(const object::ObjectSet& set, const ListedObjects& listed) {
  const auto objects = set.meeting(set.range());
  bool same = objects.size() == listed.objects.size();
  for (size_t i = 0; same && i < objects.size(); ++i) {
    const ListedObject& theirs = listed.objects[i];
    const auto sharers = set.sharers(objects[i].sharers);
    const auto& their_sharers = listed.sharers[static_cast<size_t>(theirs.sharers)];
    same = objects[i].bytes == pattern::Interval{theirs.begin, theirs.end} &&
           std::equal(sharers.begin(), sharers.end(), their_sharers.begin(), their_sharers.end());
  }
  if (same) return {};
  return base::fail(base::Code::kIntegrity, "the object set differs from the sweep's");
}

base::Result<Case> make_build(int64_t side) {
  TESSERA_TRY(const auto readers, make_readers(side));
  TESSERA_TRY(const auto set, build(*readers));
  TESSERA_TRY_VOID(check_objects(set, sweep_objects(readers->lists)));
  Case measured;
  measured.unit = "ms";
  measured.unit_ns = 1e6;
  measured.x = static_cast<double>(side * side);
  measured.x_label = "readers";
  measured.ours = timed_cpu("families", [readers] {
    const auto built = build(*readers);
    TESSERA_ASSERT(built.has_value());
    keep(built->range());
  });
  measured.peers = {timed_cpu("sweep over expanded lists",
                              [readers] { keep(sweep_objects(readers->lists).objects.size()); })};
  if (side == 10) measured.bars = {{Bar::Kind::kAtMost, kBuildMsMax}};
  measured.note =
      fmt::format("{} objects in {} families", set.object_count(), set.families().size());
  return measured;
}

base::Result<Case> make_memory() {
  TESSERA_TRY(const auto readers, make_readers(10));
  TESSERA_TRY(const auto set, build(*readers));
  const ListedObjects listed = sweep_objects(readers->lists);
  Case measured;
  measured.unit = "B";
  measured.kind = Kind::kSize;
  measured.ours = sized("families", static_cast<double>(set.memory_bytes()));
  measured.peers = {sized("list of objects", static_cast<double>(listed.memory_bytes()))};
  measured.bars = {{Bar::Kind::kAtMost, kFamilyBytesMax}};
  measured.note = fmt::format("{} objects", set.object_count());
  return measured;
}

}  // namespace

std::vector<CaseMaker> wall_cases() {
  std::vector<CaseMaker> cases;
  cases.push_back({"encoded view of one tile, 10x10 wall", "Encoding: the view of one tile",
                   make_encoded_size});
  for (const int64_t side : {2, 4, 6, 8, 10}) {
    cases.push_back({fmt::format("object set of {} tile readers", side * side),
                     "Object set of all tile readers, time to build",
                     [side] { return make_build(side); }});
  }
  cases.push_back({"object set of 100 tile readers, memory",
                   "Object set of 100 tile readers, memory", make_memory});
  return cases;
}

}  // namespace tessera::bench
