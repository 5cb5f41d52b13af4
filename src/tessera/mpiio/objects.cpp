#include "tessera/mpiio/objects.hpp"

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <system_error>

#include "tessera/cache/linear_file.hpp"
#include "tessera/container/reader_lock.hpp"
#include "tessera/container/writer_claim.hpp"
#include "tessera/move/independent.hpp"
#include "tessera/mpiio/fault.hpp"
#include "tessera/mpiio/overlapping_view.hpp"
#include "tessera/port/file_space.hpp"
#include "tessera/port/fresh_file.hpp"
#include "tessera/port/posix_disk.hpp"
#include "tessera/port/system_random.hpp"
#include "tessera/remap/plan.hpp"
#include "tessera/remap/request.hpp"

namespace tessera::mpiio {

namespace {

using base::Result;

using container::FileKind;

// kUnknown: the first rank could not tell, and says why.
enum class Kind : uint64_t { kPlain = 0, kObject = 1, kNewObject = 2, kUnknown = 3 };

// Whether a file that has the bytes of an object file is one, and one without bytes becomes one.
// What looks at such a file without MPI sees its first bytes, so a program would take the rest for
// them as well, and write over the container.
bool wants_objects(const ObjectOpening& opening) {
  if (opening.named) return true;
  const auto by_rule = opening.hints.kinds.kind_of(opening.file.path());
  if (by_rule) return *by_rule == FileKind::kObject;
  return opening.has_superblock || opening.hints.object_layout;
}

// What the first rank makes of the file. Requires wants_objects().
Result<Kind> kind_of(const ObjectOpening& opening) {
  TESSERA_TRY(const int64_t size, opening.file.size());
  if (opening.created || (size == 0 && opening.write)) return Kind::kNewObject;
  if (opening.named) return Kind::kObject;
  TESSERA_TRY(const FileKind found, container::kind_of(opening.file));
  return found == FileKind::kObject ? Kind::kObject : Kind::kPlain;
}

Result<void> claim_for_writing(port::PlainFile& file) {
  auto claimed = container::claim_for_writing(file);
  if (claimed || claimed.error().code != base::Code::kRetry) return claimed;
  return fault(MPI_ERR_FILE_IN_USE, claimed.error().message());
}

// Makes a name durable: by the folder as it is now, for the program may change its working
// directory, or the folder its name, before the first commit.
using NameSyncer = std::function<Result<void>()>;

NameSyncer name_syncer(const std::string& path) {
  const auto folder = std::make_shared<const Result<port::OpenDirectory>>(
      port::OpenDirectory::open(port::directory_of(path)));
  return [folder] { return *folder ? (*folder)->sync() : base::failure_of(*folder); };
}

Result<void> prepare_first(const ObjectOpening& opening, Kind kind) {
  if (kind == Kind::kPlain || !opening.write) return {};
  // A new file whose name cannot be made durable could be written, and never be synced.
  if (kind == Kind::kNewObject) {
    TESSERA_TRY_VOID(port::OpenDirectory::open(port::directory_of(opening.file.path())));
  }
  return claim_for_writing(opening.file);
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

// Of the file that the ranks keep their bytes in.
cache::Ranks ranks_of(Group& group, const port::PlainFile& file) {
  const cache::Numbers numbers = {group.number(Number::kSpace), group.number(Number::kContents),
                                  group.number(Number::kRoom), group.number(Number::kTurn)};
  cache::Ranks ranks = {group.exchange(), group.team(), numbers, group.leads_node()};
  ranks.free_space = [&file](pattern::Interval space) {
    port::free_range(file, space.begin, space.end);
  };
  return ranks;
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

// Where all ranks reach the store of a cache.
Result<std::string> store_folder(const ObjectOpening& opening) {
  if (opening.group.team() == nullptr) return port::directory_of(opening.file.path());
  std::error_code error;
  const std::string folder = std::filesystem::temp_directory_path(error).string();
  if (error) return base::fail_errno(error.value(), "find a folder for the cache (TMPDIR)");
  return folder;
}

Result<std::unique_ptr<port::PosixFreshFile>> create_store(const ObjectOpening& opening) {
  constexpr mode_t kOwnersOnly = 0600;
  TESSERA_TRY(const std::string folder, store_folder(opening));
  return port::PosixFreshFile::create(folder + "/tessera-cache", kOwnersOnly);
}

// A file that all ranks have open and that has no name, at the latest once they do.
Result<std::unique_ptr<port::PlainFile>> make_store(const ObjectOpening& opening) {
  port::Exchange& exchange = opening.group.exchange();
  std::unique_ptr<port::PosixFreshFile> made;
  const auto create = [&]() -> Result<void> {
    TESSERA_TRY(made, create_store(opening));
    return {};
  };
  TESSERA_TRY_VOID(exchange.agree(exchange.rank() == 0 ? create() : Result<void>()));
  TESSERA_TRY(const std::string reach, port::reach_together(exchange, made.get()));
  const std::string shown = "the cache of " + opening.file.path();
  auto store = port::PlainFile::open_as(shown, reach, {.read = true, .write = true});
  TESSERA_TRY_VOID(exchange.agree(store ? Result<void>() : Result<void>(base::failure_of(store))));
  return store;
}

}  // namespace

Result<std::unique_ptr<cache::ObjectFile>> open_objects(const ObjectOpening& opening) {
  if (!wants_objects(opening)) return std::unique_ptr<cache::ObjectFile>();
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
  cache::Ranks ranks = ranks_of(opening.group, opening.file);
  ranks.has_readers = [&file = opening.file] { return container::has_readers(file); };
  // Not on a file system that counts no names at all.
  if (!opening.deleted_on_close && port::has_name(opening.file)) {
    ranks.has_name = [&file = opening.file] { return port::has_name(file); };
  }
  if (opening.write && opening.group.exchange().rank() == 0) {
    ranks.sync_name = name_syncer(opening.file.path());
  }
  TESSERA_TRY(auto objects, cache::ObjectFile::open(opening.file, ranks, random, options));
  const bool lays_out = options.create && !opening.hints.consumer_views.empty();
  if (lays_out) TESSERA_TRY_VOID(lay_out(*objects, opening));
  return objects;
}

Result<CachedFile> open_cache(const ObjectOpening& opening) {
  CachedFile cached;
  TESSERA_TRY(cached.store, make_store(opening));
  cached.store->want_mapping(move::wants_mapping(opening.hints));
  cache::ObjectFileOptions options;
  options.write = true;
  options.create = true;
  options.below = &opening.file;
  port::SystemRandom random;
  TESSERA_TRY(cached.objects,
              cache::ObjectFile::open(*cached.store, ranks_of(opening.group, *cached.store), random,
                                      options));
  return cached;
}

container::WriterView writer_view(const pattern::View& view, int rank) {
  return {rank, view.displacement(), view.etype_size(), view.extent(), view.tile()};
}

port::Transfer execute_on_objects(cache::ObjectFile& objects, const move::Move& moved,
                                  const cache::ObjectFile::WriteTerms& terms) {
  if (moved.direction == move::Direction::kWrite) return objects.write(moved, terms);
  if (moved.file.ascending()) return objects.read(moved);
  cache::LinearFile linear(objects);
  return read_overlapping(moved, linear);
}

}  // namespace tessera::mpiio
