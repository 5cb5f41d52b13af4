#include "bench/object_replicas.hpp"

#include <gtest/gtest.h>

#include "bench/scratch_folder.hpp"
#include "tessera/cache/linear_file.hpp"
#include "tessera/container/checker.hpp"
#include "tessera/object/tile_wall.hpp"
#include "tessera/port/plain_file.hpp"
#include "tessera/port/seeded_random.hpp"
#include "tessera/port/self_team.hpp"

namespace tessera::bench {
namespace {

// An object file as one process has it.
struct Opened {
  std::unique_ptr<port::PlainFile> file;
  port::SelfTeam team;
  port::OwnNumber space;
  std::unique_ptr<cache::ObjectFile> objects;
};

base::Result<std::unique_ptr<Opened>> open_objects(const std::string& path, bool create) {
  auto opened = std::make_unique<Opened>();
  port::OpenMode mode;
  mode.write = mode.create = create;
  TESSERA_TRY(opened->file, port::PlainFile::open(path, mode));
  port::SeededRandom random(1);
  cache::ObjectFileOptions options;
  options.write = options.create = create;
  TESSERA_TRY(opened->objects,
              cache::ObjectFile::open(*opened->file, {opened->team, &opened->team, opened->space},
                                      random, options));
  return opened;
}

base::Bytes image(const object::Wall& wall) {
  base::Bytes bytes(static_cast<size_t>(wall.file_bytes()));
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i * 7 + i / 256);
  return bytes;
}

base::Result<void> write_tiles(const std::string& path, const object::Wall& wall,
                               base::Bytes bytes) {
  TESSERA_TRY(const auto opened, open_objects(path, true));
  for (const pattern::ByteSet& view : object::reader_views(wall)) {
    move::Move move;
    move.direction = move::Direction::kWrite;
    move.file = move.memory = view.ascending();
    move.base = bytes.data();
    TESSERA_TRY_VOID(opened->objects->write(move).status);
  }
  return opened->objects->commit();
}

TEST(ObjectReplicas, EveryViewIsWholeAndNoByteChanges) {
  const auto folder = ScratchFolder::make();
  ASSERT_TRUE(folder);
  const std::string path = folder->path() + "/objects";
  object::Wall wall = object::kPaperExample;
  wall.pixel_bytes = 1000;
  const base::Bytes expected = image(wall);
  const auto written = write_tiles(path, wall, expected);
  ASSERT_TRUE(written) << written.error().message();
  const auto added = add_replicas(path, object::reader_views(wall));
  ASSERT_TRUE(added) << added.error().message();

  const auto opened = open_objects(path, false);
  ASSERT_TRUE(opened) << opened.error().message();
  const auto report = container::check(*(*opened)->file);
  ASSERT_TRUE(report && report->sound());
  auto container = container::Container::open(*(*opened)->file);
  ASSERT_TRUE(container);
  const auto contents = container->read_contents();
  ASSERT_TRUE(contents);
  for (const pattern::ByteSet& view : object::reader_views(wall)) {
    EXPECT_TRUE(contents->map.find_whole(view, 0));
  }
  base::Bytes found(expected.size());
  cache::LinearFile linear(*(*opened)->objects);
  ASSERT_TRUE(linear.read_at(0, found));
  EXPECT_EQ(found, expected);
}

}  // namespace
}  // namespace tessera::bench
