#include "tessera/mpiio/objects.hpp"

#include <unistd.h>

#include <filesystem>
#include <string>

#include "tessera/cache/linear_file.hpp"
#include "tessera/container/reader_lock.hpp"
#include "tessera/container/writer_claim.hpp"
#include "tessera/mpiio/fault.hpp"
#include "tessera/mpiio/overlapping_view.hpp"
#include "tessera/port/posix_disk.hpp"
#include "tessera/port/system_random.hpp"
#include "tessera/remap/plan.hpp"
#include "tessera/remap/request.hpp"

namespace tessera::mpiio {

namespace {

using base::Result;

// kUnknown: the first rank could not tell, and says why.
enum class Kind : uint64_t { kPlain = 0, kObject = 1, kNewObject = 2, kUnknown = 3 };

// What the first rank makes of the file.
Result<Kind> kind_of(const ObjectOpening& opening) {
  if (!opening.named && !opening.hints.object_layout) return Kind::kPlain;
  TESSERA_TRY(const int64_t size, opening.file.size());
  if (opening.created || (size == 0 && opening.write)) return Kind::kNewObject;
  if (opening.named) return Kind::kObject;
  return container::Container::open(opening.file) ? Kind::kObject : Kind::kPlain;
}

Result<void> claim_for_writing(port::PlainFile& file) {
  auto claimed = container::claim_for_writing(file);
  if (claimed || claimed.error().code != base::Code::kRetry) return claimed;
  return fault(MPI_ERR_FILE_IN_USE, claimed.error().message());
}

Result<void> prepare_first(const ObjectOpening& opening, Kind kind) {
  if (kind == Kind::kPlain || !opening.write) return {};
  TESSERA_TRY_VOID(claim_for_writing(opening.file));
  if (kind != Kind::kNewObject) return {};
  return port::PosixDisk().sync_directory(port::directory_of(opening.file.path()));
}

// The kind, which the first rank tells the others.
Result<Kind> agree_on_kind(const ObjectOpening& opening) {
  port::Exchange& exchange = opening.group.exchange();
  Result<void> mine;
  Kind kind = Kind::kPlain;
  if (exchange.rank() == 0) {
    const auto found = kind_of(opening);
    if (found) kind = *found;
    mine = found ? prepare_first(opening, kind) : Result<void>(base::failure_of(found));
    if (!mine) kind = Kind::kUnknown;
  }
  TESSERA_TRY(const uint64_t told, exchange.all_max(static_cast<uint64_t>(kind)));
  if (static_cast<Kind>(told) == Kind::kUnknown) TESSERA_TRY_VOID(exchange.agree(mine));
  return static_cast<Kind>(told);
}

cache::Ranks ranks_of(Group& group) {
  return {group.exchange(), group.team(), group.space_taken(), group.leads_node()};
}

// The text of the file that holds the views of readers to come, read by the first rank.
Result<std::string> share_views(const ObjectOpening& opening) {
  port::Exchange& exchange = opening.group.exchange();
  Result<std::string> text = std::string();
  port::PosixDisk disk;
  if (exchange.rank() == 0) text = remap::read_views_text(disk, opening.hints.consumer_views);
  TESSERA_TRY_VOID(exchange.agree(text ? Result<void>() : Result<void>(base::failure_of(text))));
  TESSERA_TRY(const base::Bytes told, exchange.broadcast(0, base::copy_of(base::bytes_of(*text))));
  return std::string(base::text_of(told));
}

struct Layout {
  std::vector<cache::Shelf> shelves;
  map::FileMap map;
};

Result<Layout> layout_of(const std::string& views, bool replicate) {
  TESSERA_TRY(const object::ViewsFile file, object::parse_views(views));
  TESSERA_TRY(const auto consumers, remap::consumers_of(file));
  remap::PlanOptions options;
  options.sharing = replicate ? remap::Sharing::kReplicated : remap::Sharing::kOnce;
  options.keep_rest = false;
  TESSERA_TRY(const remap::Plan plan, remap::make_plan(file.range.end, consumers, options));
  Layout layout;
  TESSERA_TRY(layout.map, remap::map_of(plan, 0, 0));
  for (const remap::Shelf& shelf : plan.shelves) {
    layout.shelves.push_back({shelf.manager, shelf.bytes});
  }
  return layout;
}

// Gives the bytes of a new file the places that suit its readers. Collective.
Result<void> lay_out(cache::ObjectFile& objects, const ObjectOpening& opening) {
  TESSERA_TRY(const std::string views, share_views(opening));
  auto layout = layout_of(views, opening.hints.replicate);
  if (!layout) {
    return fault(MPI_ERR_INFO_VALUE, "tessera_consumer_views=" + opening.hints.consumer_views +
                                         ": " + layout.error().message());
  }
  return objects.lay_out(std::move(layout->shelves), std::move(layout->map));
}

// A name for the store of a cache: where all ranks reach it.
std::string store_name(const ObjectOpening& opening) {
  port::SystemRandom random;
  const std::string folder = opening.group.team() != nullptr
                                 ? std::filesystem::temp_directory_path().string()
                                 : port::directory_of(opening.file.path());
  return folder + "/.tessera-cache-" + std::to_string(random.next());
}

Result<std::unique_ptr<port::PlainFile>> open_store(const std::string& name, bool create) {
  port::OpenMode mode;
  mode.write = true;
  mode.create = mode.exclusive = create;
  mode.permissions = 0600;
  return port::PlainFile::open(name, mode);
}

// A file that all ranks have open and that has no name any more.
Result<std::unique_ptr<port::PlainFile>> make_store(const ObjectOpening& opening) {
  port::Exchange& exchange = opening.group.exchange();
  const bool first = exchange.rank() == 0;
  std::string name = first ? store_name(opening) : std::string();
  Result<std::unique_ptr<port::PlainFile>> store = std::unique_ptr<port::PlainFile>();
  if (first) store = open_store(name, true);
  TESSERA_TRY(const base::Bytes told, exchange.broadcast(0, base::copy_of(base::bytes_of(name))));
  name = base::text_of(told);
  TESSERA_TRY_VOID(exchange.agree(store ? Result<void>() : Result<void>(base::failure_of(store))));
  if (!first) store = open_store(name, false);
  const Result<void> reached =
      exchange.agree(store ? Result<void>() : Result<void>(base::failure_of(store)));
  if (first) ::unlink(name.c_str());
  if (!reached) return base::failure_of(reached);
  return store;
}

}  // namespace

FileName parse_file_name(const std::string& given) {
  const std::string path = remap::path_of(given);
  return {path, path != given};
}

Result<std::unique_ptr<cache::ObjectFile>> open_objects(const ObjectOpening& opening) {
  if (!opening.named && !opening.hints.object_layout) return std::unique_ptr<cache::ObjectFile>();
  if (!opening.write) container::hold_for_reading(opening.file);
  // A name that says so is an object file's, unless it may have to be made.
  const bool known = opening.named && !opening.write;
  TESSERA_TRY(const Kind kind, known ? Kind::kObject : agree_on_kind(opening));
  if (kind == Kind::kPlain) return std::unique_ptr<cache::ObjectFile>();
  cache::ObjectFileOptions options;
  options.write = opening.write;
  options.create = kind == Kind::kNewObject;
  options.verify = opening.hints.verify;
  options.shared_writes = opening.hints.shared_writes;
  port::SystemRandom random;
  cache::Ranks ranks = ranks_of(opening.group);
  ranks.has_readers = [&file = opening.file] { return container::has_readers(file); };
  TESSERA_TRY(auto objects, cache::ObjectFile::open(opening.file, ranks, random, options));
  const bool lays_out = options.create && !opening.hints.consumer_views.empty();
  if (lays_out) TESSERA_TRY_VOID(lay_out(*objects, opening));
  return objects;
}

Result<CachedFile> open_cache(const ObjectOpening& opening) {
  CachedFile cached;
  TESSERA_TRY(cached.store, make_store(opening));
  cache::ObjectFileOptions options;
  options.write = true;
  options.create = true;
  options.below = &opening.file;
  port::SystemRandom random;
  TESSERA_TRY(cached.objects,
              cache::ObjectFile::open(*cached.store, ranks_of(opening.group), random, options));
  return cached;
}

container::WriterView writer_view(const pattern::View& view, int rank) {
  return {rank, view.displacement(), view.etype_size(), view.extent(), view.tile()};
}

port::Transfer execute_on_objects(cache::ObjectFile& objects, const move::Move& moved,
                                  const cache::ObjectFile::Placed* placed) {
  if (moved.direction == move::Direction::kWrite) {
    return placed != nullptr ? objects.write(moved, *placed) : objects.write(moved);
  }
  if (moved.file.ascending()) return objects.read(moved);
  cache::LinearFile linear(objects);
  return read_overlapping(moved, linear);
}

}  // namespace tessera::mpiio
