#include "tessera/mpiio/open_file.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <unordered_set>
#include <vector>

#include "tessera/base/checked.hpp"
#include "tessera/base/hot.hpp"
#include "tessera/move/independent.hpp"
#include "tessera/move/profile.hpp"
#include "tessera/mpiio/fault.hpp"
#include "tessera/mpiio/info_values.hpp"
#include "tessera/mpiio/journal.hpp"
#include "tessera/mpiio/requests.hpp"
#include "tessera/mpiio/stopwatch.hpp"
#include "tessera/port/guarded.hpp"

namespace tessera::mpiio {

namespace {

// Every open file, and the Fortran numbers of those that were asked for one.
struct Table {
  std::unordered_set<const void*> open;
  std::vector<OpenFile*> numbered;  // by number; null where the file was closed
};

port::Guarded<Table>& table() {
  static auto& all = *new port::Guarded<Table>;
  return all;
}

// The handle that was looked up last: programs use one file many times in a row.
std::atomic<const void*> g_last = nullptr;

// Far from the numbers that an MPI gives to its own files.
constexpr MPI_Fint kFirstNumber = 0x40000000;

// Beside the bits of an access mode.
constexpr int64_t kRecords = int64_t{1} << 32;

base::Result<void> check_amode(int amode) {
  const int ways = amode & (MPI_MODE_RDONLY | MPI_MODE_RDWR | MPI_MODE_WRONLY);
  if (ways != MPI_MODE_RDONLY && ways != MPI_MODE_RDWR && ways != MPI_MODE_WRONLY) {
    return fault(MPI_ERR_AMODE,
                 "the access mode needs one of MPI_MODE_RDONLY, MPI_MODE_RDWR, MPI_MODE_WRONLY");
  }
  if (ways == MPI_MODE_RDONLY && (amode & (MPI_MODE_CREATE | MPI_MODE_EXCL)) != 0) {
    return fault(MPI_ERR_AMODE, "a file that is opened for reading only cannot be created");
  }
  if (ways == MPI_MODE_RDWR && (amode & MPI_MODE_SEQUENTIAL) != 0) {
    return fault(MPI_ERR_AMODE, "MPI_MODE_SEQUENTIAL excludes MPI_MODE_RDWR");
  }
  return {};
}

// Something that all ranks must give alike.
struct Common {
  int64_t number = 0;
  const char* what = "";
};

// Whether all ranks gave the same number; also carries an error of one of them to all. Answers what
// the first rank said besides.
base::Result<base::Bytes> agree_on(port::Exchange& exchange, const base::Result<void>& mine,
                                   const Common& common, base::ByteView besides = {}) {
  constexpr size_t kHead = sizeof(common.number) + 1;
  base::Bytes told(kHead);
  std::memcpy(told.data(), &common.number, sizeof(common.number));
  told[kHead - 1] = mine ? std::byte{1} : std::byte{0};
  told.insert(told.end(), besides.begin(), besides.end());
  TESSERA_TRY(const auto all, exchange.all_gather(told));
  const auto good = [](const base::Bytes& of) { return of[kHead - 1] == std::byte{1}; };
  if (!std::all_of(all.begin(), all.end(), good)) {
    TESSERA_TRY_VOID(exchange.agree(mine));
  }
  const auto same = [&](const base::Bytes& of) {
    return std::equal(of.begin(), of.begin() + kHead, all.front().begin());
  };
  if (std::all_of(all.begin(), all.end(), same)) {
    return base::copy_of(base::ByteView(all.front()).subspan(kHead));
  }
  return fault(MPI_ERR_NOT_SAME, std::string("the ranks gave different values: ") + common.what);
}

// What the file that ROMIO_HINTS names holds; nothing if there is none.
std::string romio_hints() {
  const char* name = std::getenv("ROMIO_HINTS");
  if (name == nullptr) return {};
  std::ifstream stream(name);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

base::Result<move::Hints> parse_hints(const std::vector<base::KeyValue>& given) {
  move::HintSources sources;
  sources.romio_file_text = romio_hints();
  sources.environment = [](const char* name) { return std::getenv(name); };
  sources.info = given;
  return move::Hints::parse(sources);
}

void explain_ignored(const std::string& path, const move::Hints& hints) {
  if (!Journal::get().explains()) return;
  for (const std::string& what : hints.ignored()) Journal::get().note_ignored_hint(path, what);
}

port::RingUse ring_use(move::Toggle uring) {
  switch (uring) {
    case move::Toggle::kEnable:
      return port::RingUse::kAlways;
    case move::Toggle::kDisable:
      return port::RingUse::kNever;
    default:
      return port::RingUse::kAutomatic;
  }
}

// Whether a file that was just opened has the superblocks of an object file; false where nobody can
// tell, as of files that may not be read, and of pipes.
std::byte sees_superblock(const std::unique_ptr<port::PlainFile>& file) {
  if (!file) return std::byte{0};
  const auto found = container::has_superblock(*file);
  return found && *found ? std::byte{1} : std::byte{0};
}

// What was measured on the file systems of this process's files.
move::Profiles& profiles() {
  static auto& all = *new move::Profiles([](const char* name) { return std::getenv(name); });
  return all;
}

// Adds values to those given before; later ones count.
void merge(std::vector<base::KeyValue>& given, const std::vector<base::KeyValue>& more) {
  given.insert(given.end(), more.begin(), more.end());
}

}  // namespace

// How a rank opens the file.
struct OpenFile::Opening {
  std::string path;
  bool object = false;  // by its name
  port::OpenMode mode;
  bool write_only = false;
  // Nobody has to wait for another rank: the file is there, and nothing is asked of its contents.
  bool alone = false;
  // It has the superblocks of an object file, as the first rank sees it; agreed on by all.
  bool has_superblock = false;

  Opening(const container::FileName& name, int amode) : path(name.path), object(name.object) {
    mode.write = (amode & MPI_MODE_RDONLY) == 0;
    mode.create = (amode & MPI_MODE_CREATE) != 0;
    mode.exclusive = (amode & MPI_MODE_EXCL) != 0;
    write_only = (amode & MPI_MODE_WRONLY) != 0;
    alone = !mode.create && (amode & MPI_MODE_APPEND) == 0;
  }

  // Files for writing are opened for reading too where that is allowed: some ways of writing read
  // first.
  [[nodiscard]] base::Result<std::unique_ptr<port::PlainFile>> attempt(bool create) const {
    port::OpenMode asked = mode;
    asked.create = create;
    asked.exclusive = create;
    auto opened = port::PlainFile::open(path, asked);
    if (opened || !write_only || opened.error().code != base::Code::kDenied) return opened;
    asked.read = false;
    return port::PlainFile::open(path, asked);
  }
};

base::Result<void> OpenFile::open_first(const Opening& opening) {
  const bool must_create = opening.mode.create && opening.mode.exclusive;
  for (int tries = 0;; ++tries) {
    if (!must_create) {
      auto existing = opening.attempt(false);
      const bool missing = !existing && existing.error().errno_value == ENOENT;
      if (!existing && (!missing || !opening.mode.create)) return base::failure_of(existing);
      if (existing) {
        file = *std::move(existing);
        return {};
      }
    }
    auto made = opening.attempt(true);
    created_ = made.has_value();
    if (made) {
      file = *std::move(made);
      return {};
    }
    // Someone else made it in between: then it is there now.
    const bool raced = made.error().errno_value == EEXIST && !must_create && tries < 8;
    if (!raced) return base::failure_of(made);
  }
}

base::Result<void> OpenFile::open_others(const Opening& opening) {
  if (file) return {};
  TESSERA_TRY(file, opening.attempt(false));
  return {};
}

base::Result<void> OpenFile::open_alone(MPI_Comm comm, const Opening& opening) {
  TESSERA_TRY_VOID(open_others(opening));
  return prepare(comm);
}

base::Result<OpenFile*> OpenFile::open(MPI_Comm comm, const std::string& path, int amode,
                                       MPI_Info info) {
  const Stopwatch watch;
  TESSERA_TRY(auto group, take_group(comm));
  struct Destroy {
    void operator()(OpenFile* opened) const { delete opened; }
  };
  std::unique_ptr<OpenFile, Destroy> opened(new OpenFile);
  Opening opening(container::parse_file_name(path), amode);
  opened->path = opening.path;
  opened->amode = amode;
  opened->group = group;
  opened->given_ = info_values(info);
  port::Exchange& exchange = group->exchange();

  auto hints = parse_hints(opened->given_);
  base::Result<void> ready = check_amode(amode);
  if (ready && !hints) ready = fault(MPI_ERR_INFO_VALUE, hints.error().message());
  if (ready && opening.alone) ready = opened->open_alone(comm, opening);
  // What is recorded is gathered from all ranks, so all or none must do it.
  const int64_t agreed = int64_t{amode} | (ViewRecord::wanted() ? kRecords : 0);
  base::Bytes besides = hints ? hints->common() : base::Bytes();
  besides.push_back(exchange.rank() == 0 ? sees_superblock(opened->file) : std::byte{0});
  TESSERA_TRY(base::Bytes common,
              agree_on(exchange, ready,
                       {agreed, "access mode, or whether TESSERA_RECORD_VIEWS is set"}, besides));
  opening.has_superblock = common.back() == std::byte{1};
  common.pop_back();
  TESSERA_TRY_VOID(hints->take_common(common));
  opened->take_hints(*std::move(hints));
  if (ViewRecord::wanted()) opened->record = std::make_unique<ViewRecord>(opening.path);

  if (!opening.alone) {
    const base::Result<void> first =
        exchange.rank() == 0 ? opened->open_first(opening) : base::Result<void>();
    const std::byte seen = sees_superblock(opened->file);
    TESSERA_TRY(const base::Bytes known, agree_on(exchange, first, {}, {&seen, 1}));
    opening.has_superblock = known.front() == std::byte{1};
  }
  const base::Result<void> verdict = opened->start(comm, opening);
  if (!verdict) {
    if (opened->created_) ::unlink(opening.path.c_str());
    return base::failure_of(verdict);
  }
  explain_ignored(opening.path, *opened->hints);
  opened->register_file();
  Journal::get().note_stage(opening.path, Stage::kOpen, watch.ns());
  return opened.release();
}

base::Result<void> OpenFile::start(MPI_Comm comm, const Opening& opening) {
  if (!opening.alone) TESSERA_TRY_VOID(group->exchange().agree(open_others(opening)));
  file->set_ring_use(ring_use(hints->uring));
  file->want_mapping(move::wants_mapping(*hints));
  const bool deleted_on_close = (amode & MPI_MODE_DELETE_ON_CLOSE) != 0;
  const ObjectOpening asked = {.file = *file,
                               .group = *group,
                               .hints = *hints,
                               .named = opening.object,
                               .has_superblock = opening.has_superblock,
                               .write = opening.mode.write,
                               .created = created_,
                               .deleted_on_close = deleted_on_close};
  TESSERA_TRY(objects, open_objects(asked));
  if (!objects && hints->cache && opening.mode.write) {
    TESSERA_TRY(CachedFile cached, open_cache(asked));
    store = std::move(cached.store);
    objects = std::move(cached.objects);
  }
  return opening.alone ? base::Result<void>() : group->exchange().agree(prepare(comm));
}

base::Result<int64_t> OpenFile::size() const { return objects ? objects->size() : file->size(); }

int64_t OpenFile::known_size() const {
  const auto known = size();
  return known ? *known : 0;
}

// Shows the number of aggregators that it comes to: as many as there are ranks, if none was given.
void OpenFile::take_hints(move::Hints given) {
  if (given.cb_nodes == 0) given.show("cb_nodes", std::to_string(group->size()));
  hints = std::make_shared<const move::Hints>(std::move(given));
  gapless_hints = std::make_shared<const move::Hints>(hints->without_gaps());
}

base::Result<void> OpenFile::prepare(MPI_Comm comm) {
  TESSERA_TRY(const move::KnownCosts known, profiles().costs_for(*file));
  costs = known.costs;
  if (group->rank() == 0) Journal::get().note_costs(path, known.origin);
  locks = std::make_unique<FileLocks>(*file);
  handler = default_error_handler();
  TESSERA_TRY(processes, process_group(comm));
  if ((amode & MPI_MODE_APPEND) != 0) {
    TESSERA_TRY(position, size());
    pointer_moved = true;
  }
  if (group->rank() == 0) TESSERA_TRY_VOID(group->shared_pointer().store(position));
  return {};
}

OpenFile::~OpenFile() {
  drop_type(view.etype);
  drop_type(view.filetype);
  if (processes != MPI_GROUP_NULL) PMPI_Group_free(&processes);
}

base::Result<void> OpenFile::close(OpenFile* opened) {
  const Stopwatch watch;
  const std::string path = opened->path;
  wait_for_jobs(*opened);
  opened->forget_size_limit();
  base::Result<void> mine;
  if (opened->record) opened->record->write(opened->group->exchange(), opened->known_size());
  if (opened->objects) mine = opened->objects->close();
  if (mine && opened->hints->durable_close) mine = opened->file->sync();
  opened->objects.reset();
  opened->locks.reset();
  opened->file.reset();
  const std::shared_ptr<Group> group = opened->group;
  const bool remove = (opened->amode & MPI_MODE_DELETE_ON_CLOSE) != 0;
  opened->forget_file();
  delete opened;
  // Also of those who only read: programs count on it that nobody reads any more.
  base::Result<void> verdict = group->exchange().agree(mine);
  if (remove) {
    const bool mine_to_do = group->rank() == 0;
    const auto removed = group->exchange().agree(mine_to_do ? delete_file(path) : mine);
    if (verdict) verdict = removed;
  }
  Journal::get().note_stage(path, Stage::kClose, watch.ns());
  return verdict;
}

TESSERA_HOT OpenFile* OpenFile::from(MPI_File handle) {
  auto* file = reinterpret_cast<OpenFile*>(handle);
  if (file == g_last.load(std::memory_order_acquire)) return file;
  return table().with([&](const Table& all) -> OpenFile* {
    if (!all.open.contains(file)) return nullptr;
    g_last.store(file, std::memory_order_release);
    return file;
  });
}

MPI_Fint OpenFile::number() {
  return table().with([&](Table& all) {
    if (number_ == 0) {
      auto place = std::find(all.numbered.begin(), all.numbered.end(), nullptr);
      if (place == all.numbered.end()) place = all.numbered.insert(place, nullptr);
      *place = this;
      number_ = kFirstNumber + static_cast<MPI_Fint>(place - all.numbered.begin());
    }
    return number_;
  });
}

OpenFile* OpenFile::from_number(MPI_Fint number) {
  return table().with([&](const Table& all) -> OpenFile* {
    const int64_t index = int64_t{number} - kFirstNumber;
    if (index < 0 || index >= base::exact_cast<int64_t>(all.numbered.size())) return nullptr;
    return all.numbered[static_cast<size_t>(index)];
  });
}

void OpenFile::register_file() {
  table().with([&](Table& all) { all.open.insert(this); });
}

void OpenFile::forget_file() {
  table().with([&](Table& all) {
    all.open.erase(this);
    if (g_last == this) g_last = nullptr;
    std::replace(all.numbered.begin(), all.numbered.end(), this, static_cast<OpenFile*>(nullptr));
  });
}

// Whether the file's size may be set to this; the same on all ranks.
base::Result<void> OpenFile::agree_on_size(MPI_Offset size) {
  base::Result<void> mine = check_positioned();
  if (mine && size < 0) mine = fault(MPI_ERR_ARG, "the size of a file is not negative");
  if (mine && only_read()) {
    mine = fault(MPI_ERR_READ_ONLY, path + " is open for reading only");
  }
  TESSERA_TRY_VOID(agree_on(group->exchange(), mine, {size, "size"}));
  return {};
}

void OpenFile::forget_size_limit() const {
  file->forget_limit();
  if (store) store->forget_limit();
  if (objects) objects->forget_limit();
}

base::Result<void> OpenFile::set_size(MPI_Offset size) {
  TESSERA_TRY_VOID(agree_on_size(size));
  if (objects) return objects->set_size(size);
  const bool mine_to_do = group->rank() == 0;
  return group->exchange().agree(mine_to_do ? file->truncate(size) : base::Result<void>());
}

base::Result<void> OpenFile::preallocate(MPI_Offset size) {
  TESSERA_TRY_VOID(agree_on_size(size));
  if (objects) return objects->extend(size);
  const bool mine_to_do = group->rank() == 0;
  return group->exchange().agree(mine_to_do ? file->reserve(size) : base::Result<void>());
}

base::Result<void> OpenFile::sync() {
  const Stopwatch watch;
  experience->mapping.drop_for_reading();
  if (only_read()) return group->exchange().barrier();
  wait_for_jobs(*this);
  forget_size_limit();
  if (objects) {
    base::Result<void> committed = objects->commit();
    Journal::get().note_stage(path, Stage::kSync, watch.ns());
    return committed;
  }
  // After the barrier all writes of the node are in its page cache; one sync makes them durable.
  TESSERA_TRY_VOID(group->exchange().barrier());
  const base::Result<void> synced = group->leads_node() ? file->sync() : base::Result<void>();
  base::Result<void> verdict = group->exchange().agree(synced);
  Journal::get().note_stage(path, Stage::kSync, watch.ns());
  return verdict;
}

base::Result<void> OpenFile::set_atomicity(bool value) {
  TESSERA_TRY_VOID(agree_on(group->exchange(), {}, {value ? 1 : 0, "atomicity"}));
  atomic = value;
  if (objects) TESSERA_TRY_VOID(objects->set_coherent(value));
  return settle_locks();
}

base::Result<void> OpenFile::settle_locks() {
  if (!atomic) {
    locks->drop_cached_lock();
    return {};
  }
  TESSERA_TRY_VOID(locks->settle(*hints, view, only_read(), *group));
  if (group->rank() == 0) Journal::get().note_locks(path, locks->explanation());
  return {};
}

bool OpenFile::tells_more(MPI_Info info) const {
  const auto said = [this](const base::KeyValue& value) {
    const auto last =
        std::find_if(given_.rbegin(), given_.rend(),
                     [&](const base::KeyValue& before) { return before.first == value.first; });
    return last != given_.rend() && last->second == value.second;
  };
  const auto values = info_values(info);
  return !std::all_of(values.begin(), values.end(), said);
}

base::Result<void> OpenFile::set_info(MPI_Info info, base::Result<void> mine) {
  merge(given_, info_values(info));
  auto parsed = parse_hints(given_);
  if (mine && !parsed) mine = fault(MPI_ERR_INFO_VALUE, parsed.error().message());
  TESSERA_TRY(const base::Bytes common,
              agree_on(group->exchange(), mine, {}, parsed ? parsed->common() : base::Bytes()));
  TESSERA_TRY_VOID(parsed->take_common(common));
  take_hints(*std::move(parsed));
  file->set_ring_use(ring_use(hints->uring));
  file->want_mapping(move::wants_mapping(*hints));
  if (store) store->want_mapping(move::wants_mapping(*hints));
  if (objects) objects->set_hints(hints->verify, hints->shared_writes);
  explain_ignored(path, *hints);
  return settle_locks();
}

base::Result<MPI_Info> OpenFile::info() const { return make_info(hints->effective()); }

base::Result<void> OpenFile::check_access(move::Direction direction, bool shared) const {
  if (direction == move::Direction::kRead && (amode & MPI_MODE_WRONLY) != 0) {
    return fault(MPI_ERR_ACCESS, path + " is open for writing only");
  }
  if (direction == move::Direction::kWrite && only_read()) {
    return fault(MPI_ERR_READ_ONLY, path + " is open for reading only");
  }
  if (!shared && sequential()) {
    return fault(MPI_ERR_UNSUPPORTED_OPERATION,
                 path + " is open with MPI_MODE_SEQUENTIAL: only shared pointers may be used");
  }
  return {};
}

base::Result<void> delete_file(const std::string& path) {
  if (::unlink(path.c_str()) != 0) return base::fail_errno(errno, "delete " + path);
  return {};
}

}  // namespace tessera::mpiio
