#include "tessera/mpiio/access.hpp"

#include <cstring>
#include <utility>

#include "tessera/base/checked.hpp"
#include "tessera/base/hot.hpp"
#include "tessera/lock/no_locks.hpp"
#include "tessera/move/collective.hpp"
#include "tessera/move/independent.hpp"
#include "tessera/move/phase_timer.hpp"
#include "tessera/mpiio/commitment.hpp"
#include "tessera/mpiio/external32.hpp"
#include "tessera/mpiio/fault.hpp"
#include "tessera/mpiio/journal.hpp"
#include "tessera/mpiio/plain_access.hpp"
#include "tessera/mpiio/stopwatch.hpp"

namespace tessera::mpiio {

namespace {

using move::Direction;
using move::Move;
using move::Transfer;

// An access whose size is known and whose place in the file is not.
struct Sized {
  std::shared_ptr<const Type> type;
  int64_t file_bytes = 0;
  int64_t etypes = 0;
};

base::Result<int64_t> file_bytes_of(const OpenFile& file, const Buffer& buffer, const Type& type) {
  if (file.view.representation == Representation::kExternal32) {
    return external32_size(buffer.count, buffer.type);
  }
  const auto bytes = base::checked_mul(buffer.count, type.layout.size());
  if (!bytes) return fault(MPI_ERR_COUNT, "the access is larger than any file");
  return *bytes;
}

base::Result<Sized> measure(const OpenFile& file, const Access& access, const Buffer& buffer) {
  TESSERA_TRY_VOID(file.check_access(access.direction, is_shared(access.pointer)));
  if (buffer.count < 0) return fault(MPI_ERR_COUNT, "the count is negative");
  if (buffer.type == MPI_DATATYPE_NULL) return fault(MPI_ERR_TYPE, "the datatype is null");
  if (!is_committed(buffer.type)) return fault(MPI_ERR_TYPE, "the datatype is not committed");
  if (access.pointer == Pointer::kExplicit && access.offset < 0) {
    return fault(MPI_ERR_ARG, "the offset in a view is negative");
  }
  Sized sized;
  auto type = convert(buffer.type);
  if (!type) return fault(MPI_ERR_TYPE, type.error().message());
  sized.type = *std::move(type);
  TESSERA_TRY(sized.file_bytes, file_bytes_of(file, buffer, *sized.type));
  if (sized.file_bytes % file.view.etype_size != 0) {
    return fault(MPI_ERR_IO,
                 "the access is not a whole number of etypes: " + std::to_string(sized.file_bytes) +
                     " bytes in etypes of " + std::to_string(file.view.etype_size));
  }
  sized.etypes = sized.file_bytes / file.view.etype_size;
  if (file.view.empty && sized.file_bytes > 0) {
    return fault(MPI_ERR_ARG, "the filetype of the view has no bytes");
  }
  return sized;
}

base::Result<pattern::Pattern> file_pattern(const OpenFile& file, const Sized& sized,
                                            int64_t first_etype) {
  if (sized.file_bytes == 0) return pattern::Pattern();
  const auto begin = base::checked_mul(first_etype, file.view.etype_size);
  const auto end = begin ? base::checked_add(*begin, sized.file_bytes) : std::nullopt;
  if (!end) return fault(MPI_ERR_ARG, "the access ends behind the largest offset of a file");
  if (file.view.limit && *end > *file.view.limit) {
    return fault(MPI_ERR_UNSUPPORTED_OPERATION,
                 "the access needs more than one copy of a filetype whose copies interleave");
  }
  return file.view.bytes({*begin, *end});
}

base::Result<void> place_memory(const OpenFile& file, const Access& access, const Buffer& buffer,
                                const Sized& sized, Prepared& prepared) {
  prepared.move.direction = access.direction;
  if (file.view.representation != Representation::kExternal32) {
    prepared.move.base = static_cast<std::byte*>(buffer.address);
    TESSERA_TRY(prepared.move.memory, memory_pattern(*sized.type, buffer.count));
    return {};
  }
  if (access.direction == Direction::kWrite) {
    TESSERA_TRY(prepared.staging, to_external32(buffer.address, buffer.count, buffer.type));
  } else {
    prepared.staging.resize(base::exact_cast<size_t>(sized.file_bytes));
  }
  prepared.move.base = prepared.staging.data();
  TESSERA_TRY(prepared.move.memory, pattern::Pattern::run({0}, sized.file_bytes));
  return {};
}

base::Result<std::unique_ptr<Prepared>> place(const OpenFile& file, const Access& access,
                                              const Buffer& buffer, const Sized& sized,
                                              int64_t first_etype) {
  auto prepared = std::make_unique<Prepared>();
  prepared->etypes = sized.etypes;
  TESSERA_TRY(prepared->move.file, file_pattern(file, sized, first_etype));
  if (file.record) file.record->note_access(prepared->move.file.span());
  TESSERA_TRY_VOID(place_memory(file, access, buffer, sized, *prepared));
  return prepared;
}

// Where an access of one rank begins, in etypes; a shared pointer moves on.
base::Result<int64_t> first_etype(OpenFile& file, const Access& access, int64_t etypes) {
  switch (access.pointer) {
    case Pointer::kExplicit:
      return int64_t{access.offset};
    case Pointer::kIndividual:
      return file.position;
    default:
      file.pointer_moved = true;
      return file.group->shared_pointer().fetch_add(etypes);
  }
}

// Where an ordered access of this rank begins: behind those of all lower ranks. Collective. The
// first rank moves the pointer, which the others see after the access, itself collective.
base::Result<int64_t> ordered_etype(OpenFile& file, int64_t etypes) {
  struct Share {
    int64_t etypes;
    int64_t pointer;
  };
  port::Exchange& exchange = file.group->exchange();
  file.pointer_moved = true;
  Share mine = {etypes, 0};
  base::Result<void> loaded;
  if (exchange.rank() == 0) {
    const auto pointer = file.group->shared_pointer().load();
    if (pointer) mine.pointer = *pointer;
    if (!pointer) loaded = base::failure_of(pointer);
  }
  base::Bytes told(sizeof(mine));
  std::memcpy(told.data(), &mine, sizeof(mine));
  TESSERA_TRY(const auto all, exchange.all_gather(std::move(told)));
  int64_t first = 0;
  int64_t total = 0;
  for (size_t rank = 0; rank < all.size(); ++rank) {
    Share share = {};
    std::memcpy(&share, all[rank].data(), sizeof(share));
    if (rank == 0) total = share.pointer;
    if (rank == static_cast<size_t>(exchange.rank())) first = total;
    total += share.etypes;
  }
  if (!loaded) return base::failure_of(loaded);
  if (exchange.rank() == 0) TESSERA_TRY_VOID(file.group->shared_pointer().store(total));
  return first;
}

void note(const Means& means, const Move& moved, const Transfer& transfer,
          const move::Context& context, const Stopwatch& watch) {
  Operation operation;
  operation.direction = moved.direction;
  operation.collective = means.collective;
  operation.file = &moved.file;
  operation.bytes = transfer.bytes;
  operation.ns = watch.ns();
  operation.choice = context.choice;
  operation.phases = context.phases;
  Journal::get().note_operation(means.path, means.rank, operation);
}

Transfer execute_unlocked(const Move& moved, const Means& means,
                          const cache::ObjectFile::WriteTerms& terms, move::Context& context) {
  if (means.objects != nullptr) {
    const move::PhaseTimer timer(context.phases, &move::Phases::io_ns);
    context.choice = {move::Engine::kObject, moved.direction == Direction::kWrite
                                                 ? "packed into space of its own"
                                                 : "as the map says"};
    return execute_on_objects(*means.objects, moved, terms);
  }
  return moved.file.ascending() ? move::execute_independent(moved, context)
                                : read_overlapping(moved, *means.file);
}

// Where a write to an object file of ranks on several nodes goes. Space is taken before the lock:
// another rank may have to help with the one while it waits for the other.
base::Result<std::optional<cache::ObjectFile::Placed>> place_before_lock(const Move& moved,
                                                                         const Means& means) {
  const bool writes = moved.direction == Direction::kWrite && means.objects != nullptr;
  if (!writes || means.placed != nullptr || !means.objects->places_before()) {
    return std::optional<cache::ObjectFile::Placed>();
  }
  TESSERA_TRY(auto placed, means.objects->place(moved));
  return std::optional(std::move(placed));
}

Transfer execute_atomically(const Move& moved, const Means& means, move::Context& context) {
  const auto placed = place_before_lock(moved, means);
  if (!placed) return {0, base::failure_of(placed)};
  auto held = [&] {
    const move::PhaseTimer timer(context.phases, &move::Phases::lock_ns);
    return means.locks->lock_access(moved.file, moved.direction);
  }();
  cache::ObjectFile::WriteTerms terms = {*placed ? &**placed : means.placed};
  if (!held) {
    if (terms.placed != nullptr) means.objects->give_back(*terms.placed);
    return {0, base::failure_of(held)};
  }
  if (held->can_be_lost()) terms.confirm = [&held] { return held->confirm(); };
  Transfer done = execute_unlocked(moved, means, terms, context);
  if (auto still = held->confirm(); !still && done) done.status = std::move(still);
  return done;
}

Transfer execute_together(OpenFile& file, const Move& moved, const base::Result<void>& before);

// A read that no engine can execute: alone, after which the rank takes part with nothing.
Transfer execute_overlapping(OpenFile& file, const Move& moved, const base::Result<void>& before) {
  Transfer mine = before ? execute_alone(moved, means_of(file)) : Transfer{0, before};
  Move nothing;
  nothing.direction = moved.direction;
  mine.status = execute_together(file, nothing, mine.status).status;
  return mine;
}

// What a collective move works with that is not atomic.
move::Context context_of(OpenFile& file) {
  return {*file.file,
          *file.locks,
          *file.hints,
          file.costs,
          {},
          {},
          {},
          file.group->node_size(),
          file.group->node_rank(),
          file.experience.get(),
          file.gapless_hints.get()};
}

// Executes the move together with all ranks; `before` is what went wrong on this one already.
Transfer execute_together(OpenFile& file, const Move& moved, const base::Result<void>& before) {
  Means means = means_of(file);
  means.collective = true;
  if (file.objects) {
    // Every rank has a place of its own; all they need of each other is what each one wrote.
    Transfer mine = before ? execute_alone(moved, means) : Transfer{0, before};
    mine.status = file.objects->meet(mine.status);
    return mine;
  }
  if (!moved.file.ascending()) return execute_overlapping(file, moved, before);
  if (file.atomic) {
    // One lock for each rank's own bytes, so that no two accesses interleave.
    Transfer mine = before ? execute_alone(moved, means) : Transfer{0, before};
    mine.status = file.group->exchange().agree(mine.status);
    return mine;
  }
  const bool noted = Journal::get().on();
  const Stopwatch watch(noted);
  move::Context context = context_of(file);
  context.phases.measured = noted;
  context.before = before;
  port::Team* team = file.group->team();
  Transfer done =
      team != nullptr
          ? move::execute_in_team(moved, context, *team)
          : move::execute_across_nodes(moved, context, file.group->exchange(), file.group->nodes());
  if (noted) note(means, moved, done, context, watch);
  return done;
}

TESSERA_HOT Done access_plainly(OpenFile& file, const Access& access, const PlainRun& plain) {
  const pattern::Interval bytes{plain.offset, plain.offset + std::ssize(plain.memory)};
  if (file.record) file.record->note_access(bytes);
  lock::Held held;
  if (file.atomic && !plain.memory.empty()) {
    auto locked = file.locks->lock_run(bytes, plain.direction);
    if (!locked) return {0, base::failure_of(locked)};
    held = *std::move(locked);
  }
  const bool reads = plain.direction == Direction::kRead;
  Transfer moved = reads ? file.file->read_at(plain.offset, plain.memory)
                         : file.file->write_at(plain.offset, plain.memory);
  if (auto still = held.confirm(); !still && moved.status) moved.status = std::move(still);
  if (access.pointer == Pointer::kIndividual) file.position += moved.bytes / file.view.etype_size;
  return {moved.bytes, std::move(moved.status), bytes};
}

TESSERA_HOT Done access_alone(OpenFile& file, const Access& access, const Buffer& buffer) {
  if (const auto plain = as_plain(file, access, buffer)) {
    return access_plainly(file, access, *plain);
  }
  if (access.direction == Direction::kWrite) file.forget_size_limit();
  auto sized = measure(file, access, buffer);
  if (!sized) return {0, base::failure_of(sized)};
  auto first = first_etype(file, access, sized->etypes);
  if (!first) return {0, base::failure_of(first)};
  auto prepared = place(file, access, buffer, *sized, *first);
  if (!prepared) return {0, base::failure_of(prepared)};
  const Transfer moved = execute_alone((*prepared)->move, means_of(file));
  if (access.pointer == Pointer::kIndividual) file.position += moved.bytes / file.view.etype_size;
  return finish(**prepared, moved, buffer);
}

// Whether ranks hold equal copies of what they write, of which one is enough.
TESSERA_HOT bool is_replicated(const OpenFile& file, Direction direction) {
  return direction == Direction::kWrite && file.hints->replicated;
}

// Whether one run may be moved before the ranks meet: they are on one node, and no hint asks for
// buffers of aggregators.
TESSERA_HOT bool goes_ahead(const OpenFile& file, const Access& access) {
  return file.group->team() != nullptr && !is_replicated(file, access.direction) &&
         move::may_go_ahead(access.direction, *file.hints);
}

// A write of replicated bytes: each rank makes its share, and all bytes of each are written.
Transfer execute_grouped(OpenFile& file, const Move& moved, const base::Result<void>& before) {
  Transfer done =
      file.grouped.execute(moved, before, file.hints->replicated_policy, file.group->exchange(),
                           [&file](const Move& share, const base::Result<void>& failed) {
                             return execute_together(file, share, failed);
                           });
  if (done && Journal::get().explains() && file.group->exchange().rank() == 0) {
    Journal::get().note_grouping(file.path, moved.size(), file.grouped.share_bytes());
  }
  return done;
}

// A rank that moves one run does so before it meets the others (C2 of move/collective.hpp).
TESSERA_HOT Done access_plainly_together(OpenFile& file, const Access& access,
                                         const PlainRun& plain) {
  Done mine = access_plainly(file, access, plain);
  if (mine.status && !file.atomic) {
    mine.status = move::finish_in_team(access.direction, *file.group->team(),
                                       [&file] { return context_of(file); });
    return mine;
  }
  Move nothing;
  nothing.direction = access.direction;
  mine.status = execute_together(file, nothing, mine.status).status;
  return mine;
}

// A rank whose arguments are wrong takes part with an empty move, so that the others return (A1).
TESSERA_HOT Done access_together(OpenFile& file, const Access& access, const Buffer& buffer) {
  if (const auto plain = as_plain(file, access, buffer); plain && goes_ahead(file, access)) {
    return access_plainly_together(file, access, *plain);
  }
  if (access.direction == Direction::kWrite) file.forget_size_limit();
  // The others are waiting, also if there is no memory for what this rank has to do.
  auto sized = contain([&] { return measure(file, access, buffer); });
  base::Result<void> before = sized ? base::Result<void>() : base::failure_of(sized);
  const int64_t etypes = sized ? sized->etypes : 0;
  const auto first = access.pointer == Pointer::kOrdered ? ordered_etype(file, etypes)
                                                         : first_etype(file, access, etypes);
  if (before && !first) before = base::failure_of(first);
  auto prepared = std::make_unique<Prepared>();
  prepared->move.direction = access.direction;
  if (before) {
    auto placed = contain([&] { return place(file, access, buffer, *sized, *first); });
    if (!placed) {
      before = base::failure_of(placed);
    } else {
      prepared = *std::move(placed);
    }
  }
  const Transfer moved = is_replicated(file, access.direction)
                             ? execute_grouped(file, prepared->move, before)
                             : execute_together(file, prepared->move, before);
  if (access.pointer == Pointer::kIndividual) file.position += moved.bytes / file.view.etype_size;
  return finish(*prepared, moved, buffer);
}

// What the work did; nothing, if an exception ended it.
template <typename Work>
Done contain_access(const Work& work) {
  auto done = contain([&]() -> base::Result<Done> { return work(); });
  return done ? *std::move(done) : Done{0, base::failure_of(done)};
}

}  // namespace

base::Result<std::unique_ptr<Prepared>> prepare(OpenFile& file, const Access& access,
                                                const Buffer& buffer) {
  if (access.direction == Direction::kWrite) file.forget_size_limit();
  TESSERA_TRY(const Sized sized, measure(file, access, buffer));
  TESSERA_TRY(const int64_t first, first_etype(file, access, sized.etypes));
  TESSERA_TRY(auto prepared, place(file, access, buffer, sized, first));
  if (access.pointer == Pointer::kIndividual) file.position += sized.etypes;
  if (file.objects && access.direction == Direction::kWrite && file.objects->places_before()) {
    TESSERA_TRY(prepared->placed, file.objects->place(prepared->move));
  }
  return prepared;
}

Means means_of(OpenFile& file) {
  Means means;
  means.file = file.file.get();
  means.objects = file.objects.get();
  means.locks = file.locks.get();
  means.hints = file.atomic ? file.gapless_hints : file.hints;
  means.costs = file.costs;
  means.experience = file.experience;
  means.rank = file.group->rank();
  means.companions = file.group->node_size();
  means.place = file.group->node_rank();
  means.atomic = file.atomic;
  if (Journal::get().on()) means.path = file.path;
  return means;
}

Transfer execute_alone(const Move& moved, const Means& means) {
  const bool plain = means.objects == nullptr;
  if (plain && !moved.file.ascending() && !means.atomic) {
    return read_overlapping(moved, *means.file);
  }
  const bool noted = Journal::get().on();
  const Stopwatch watch(noted);
  lock::NoLocks none;
  lock::Locks& locks = means.atomic ? static_cast<lock::Locks&>(none) : *means.locks;
  move::Context context{*means.file, locks, *means.hints,     means.costs, {noted},
                        {},          {},    means.companions, means.place, means.experience.get()};
  Transfer done = means.atomic ? execute_atomically(moved, means, context)
                               : execute_unlocked(moved, means, {means.placed}, context);
  if (noted) note(means, moved, done, context, watch);
  return done;
}

Done finish(const Prepared& prepared, const Transfer& moved, const Buffer& buffer) {
  Done done = {moved.bytes, moved.status, prepared.move.file.span()};
  const bool converts = !prepared.staging.empty() && prepared.move.direction == Direction::kRead;
  if (!converts || !done.status) return done;
  const base::ByteView read(prepared.staging.data(), base::exact_cast<size_t>(moved.bytes));
  const auto converted = from_external32(read, buffer.address, buffer.count, buffer.type);
  if (!converted) return {0, base::failure_of(converted)};
  done.bytes = *converted;
  return done;
}

TESSERA_HOT int access(OpenFile& file, const Access& asked, const Buffer& buffer,
                       MPI_Status* status) {
  if (asked.collective && file.split) {
    return raise(
        file, fault(MPI_ERR_IO, "a split collective access of " + file.path + " has not ended yet")
                  .error);
  }
  const Done done = contain_access([&] {
    return asked.collective ? access_together(file, asked, buffer)
                            : access_alone(file, asked, buffer);
  });
  set_status(status, done.bytes);
  return done.status ? MPI_SUCCESS : raise(file, done.status.error());
}

int begin_access(OpenFile& file, const Access& asked, const Buffer& buffer, int kind) {
  if (file.split) {
    return raise(
        file, fault(MPI_ERR_IO, "a split collective access of " + file.path + " has not ended yet")
                  .error);
  }
  const Done done = contain_access([&] { return access_together(file, asked, buffer); });
  file.split = SplitAccess{kind, done.bytes, MPI_SUCCESS};
  if (!done.status) file.split->code = code_of(done.status.error());
  return MPI_SUCCESS;
}

int end_access(OpenFile& file, const void* /*buffer*/, int kind, MPI_Status* status) {
  if (!file.split || file.split->kind != kind) {
    return raise(
        file,
        fault(MPI_ERR_IO, "no such split collective access of " + file.path + " was begun").error);
  }
  const SplitAccess ended = *std::exchange(file.split, std::nullopt);
  set_status(status, ended.bytes);
  return ended.code == MPI_SUCCESS ? MPI_SUCCESS : file.handler.call(file.handle(), ended.code);
}

TESSERA_HOT void set_status(MPI_Status* status, int64_t bytes) {
  if (status == MPI_STATUS_IGNORE) return;
  PMPI_Status_set_elements_x(status, MPI_BYTE, bytes);
  PMPI_Status_set_cancelled(status, 0);
}

int raise(OpenFile& file, const base::Error& error) {
  return file.handler.call(file.handle(), code_of(error));
}

int raise_without_file(const base::Error& error) {
  return default_error_handler().call(MPI_FILE_NULL, code_of(error));
}

}  // namespace tessera::mpiio
