#include "bench/object_replicas.hpp"

#include <utility>

#include "tessera/base/bytes.hpp"
#include "tessera/base/checked.hpp"
#include "tessera/cache/object_file.hpp"
#include "tessera/container/allocation_writer.hpp"
#include "tessera/container/container.hpp"
#include "tessera/port/plain_file.hpp"
#include "tessera/port/self_team.hpp"
#include "tessera/port/system_random.hpp"

namespace tessera::bench {

namespace {

using base::Result;

// The bytes of a view, packed.
Result<base::Bytes> read_view(cache::ObjectFile& objects, const pattern::ByteSet& view) {
  base::Bytes packed(base::exact_cast<size_t>(view.size()));
  move::Move move;
  move.direction = move::Direction::kRead;
  move.file = view.ascending();
  TESSERA_TRY(move.memory, pattern::Pattern::run({{0}}, view.size()));
  move.base = packed.data();
  const port::Transfer read = objects.read(move);
  TESSERA_TRY_VOID(read.status);
  return packed;
}

// Writes them behind everything else; answers where.
Result<container::Allocation> store_packed(port::File& file, int64_t begin,
                                           const base::Bytes& packed, int64_t block_bytes) {
  const auto blocks = base::ceil_div(static_cast<int64_t>(packed.size()), block_bytes);
  container::AllocationWriter writer(file, {begin, begin + blocks * block_bytes}, block_bytes);
  TESSERA_TRY_VOID(writer.append(packed));
  TESSERA_TRY_VOID(writer.flush());
  return writer.allocation();
}

}  // namespace

Result<void> add_replicas(const std::string& path, const std::vector<pattern::ByteSet>& views) {
  port::OpenMode mode;
  mode.write = true;
  TESSERA_TRY(const auto file, port::PlainFile::open(path, mode));
  port::SelfTeam team;
  port::OwnNumber space;
  port::SystemRandom random;
  TESSERA_TRY(const auto objects,
              cache::ObjectFile::open(*file, {team, &team, space, true}, random, {}));
  TESSERA_TRY(auto container, container::Container::open(*file));
  TESSERA_TRY_VOID(container.begin_writing());
  TESSERA_TRY(container::Contents contents, container.read_contents());
  TESSERA_TRY(int64_t end, container.spare_all());
  for (const pattern::ByteSet& view : views) {
    if (contents.map.find_whole(view, 0)) continue;
    TESSERA_TRY(const base::Bytes packed, read_view(*objects, view));
    TESSERA_TRY(container::Allocation allocation,
                store_packed(*file, end, packed, contents.block_bytes));
    allocation.id = contents.next_id();
    end = allocation.place.end;
    TESSERA_TRY_VOID(contents.map.add_replica({view, allocation.id, 0, contents.map.epoch_max()}));
    contents.add(std::move(allocation));
  }
  TESSERA_TRY_VOID(file->sync());
  return container.commit(contents);
}

}  // namespace tessera::bench
