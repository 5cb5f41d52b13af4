// Views and pointers of open files.
#include <algorithm>
#include <cstring>
#include <utility>

#include "tessera/base/checked.hpp"
#include "tessera/mpiio/commitment.hpp"
#include "tessera/mpiio/datareps.hpp"
#include "tessera/mpiio/fault.hpp"
#include "tessera/mpiio/info_values.hpp"
#include "tessera/mpiio/journal.hpp"
#include "tessera/mpiio/open_file.hpp"
#include "tessera/mpiio/stopwatch.hpp"

namespace tessera::mpiio {

namespace {

struct ViewArguments {
  int64_t displacement;
  MPI_Datatype etype;
  MPI_Datatype filetype;
  const char* datarep;
};

base::Result<void> check_arguments(const ViewArguments& given) {
  if (given.displacement < 0) return fault(MPI_ERR_ARG, "the displacement of a view is negative");
  if (given.etype == MPI_DATATYPE_NULL || given.filetype == MPI_DATATYPE_NULL) {
    return fault(MPI_ERR_TYPE, "a view needs an etype and a filetype");
  }
  if (!is_committed(given.etype) || !is_committed(given.filetype)) {
    return fault(MPI_ERR_TYPE, "a datatype of the view is not committed");
  }
  if (given.datarep == nullptr || std::strlen(given.datarep) > MPI_MAX_DATAREP_STRING) {
    return fault(MPI_ERR_ARG, "the name of a data representation is missing or too long");
  }
  return {};
}

// Which bytes the view shows. A file that is only read may show a byte more than once.
base::Result<void> place_bytes(FileView& view, const pattern::Datatype& filetype, bool only_read) {
  pattern::Datatype spread = filetype;
  spread.extent = std::max(filetype.extent, filetype.bytes.span().length());
  auto ascending = pattern::View::make(view.displacement, spread, view.etype_size);
  if (ascending) {
    if (spread.extent > filetype.extent) view.limit = filetype.size();
    view.ascending = *std::move(ascending);
    return {};
  }
  if (!only_read) return fault(MPI_ERR_IO, ascending.error().message());
  auto overlapping = OverlappingView::make(view.displacement, filetype, view.etype_size);
  if (!overlapping) return fault(MPI_ERR_IO, overlapping.error().message());
  view.overlapping = *std::move(overlapping);
  return {};
}

// The view without its handles, which are kept only once all ranks agreed.
base::Result<FileView> make_view(const ViewArguments& given, bool only_read) {
  TESSERA_TRY_VOID(check_arguments(given));
  FileView view;
  view.displacement = given.displacement;
  view.datarep = given.datarep;
  TESSERA_TRY(view.representation, find_datarep(view.datarep));
  TESSERA_TRY(const auto etype, convert(given.etype, view.representation));
  TESSERA_TRY(const auto filetype, convert(given.filetype, view.representation));
  view.etype_size = etype->layout.size();
  if (view.etype_size == 0) return fault(MPI_ERR_ARG, "the etype of a view has no bytes");
  view.empty = filetype->layout.size() == 0;
  view.dense = false;
  if (view.empty) return view;
  TESSERA_TRY_VOID(place_bytes(view, filetype->layout, only_read));
  view.dense = view.representation == Representation::kNative && is_dense(filetype->layout);
  return view;
}

}  // namespace

base::Result<OpenFile::ViewChange> OpenFile::agree_on_view(const base::Result<FileView>& made,
                                                           bool informs) {
  enum : uint64_t { kFine, kPointerMoved, kInforms, kFailed };
  const bool moved = pointer_moved.exchange(false) || sequential();
  const uint64_t fine = informs ? kInforms : moved ? kPointerMoved : kFine;
  TESSERA_TRY(const uint64_t worst, group->exchange().all_max(made ? fine : kFailed));
  if (worst == kFailed) {
    pointer_moved = moved;
    TESSERA_TRY_VOID(group->exchange().agree(made ? base::Result<void>() : base::failure_of(made)));
  }
  return ViewChange{worst != kFine, worst == kInforms};
}

base::Result<void> OpenFile::set_view(MPI_Offset displacement, MPI_Datatype etype,
                                      MPI_Datatype filetype, const char* datarep, MPI_Info info) {
  const Stopwatch watch;
  base::Result<FileView> made = fault(MPI_ERR_ARG, "no view");
  if (displacement == MPI_DISPLACEMENT_CURRENT && sequential()) {
    const auto current = group->shared_pointer().load();
    base::Result<MPI_Offset> where = current ? byte_offset(*current) : base::failure_of(current);
    made = where ? make_view({*where, etype, filetype, datarep}, only_read())
                 : base::failure_of(where);
  } else if (sequential()) {
    made =
        fault(MPI_ERR_UNSUPPORTED_OPERATION,
              path + " is open with MPI_MODE_SEQUENTIAL: views begin at MPI_DISPLACEMENT_CURRENT");
  } else {
    made = make_view({displacement, etype, filetype, datarep}, only_read());
  }
  TESSERA_TRY(const ViewChange change, agree_on_view(made, tells_more(info)));
  drop_type(view.etype);
  drop_type(view.filetype);
  view = *std::move(made);
  view.etype = keep_type(etype);
  view.filetype = keep_type(filetype);
  if (record) record->set_view(view);
  position = 0;
  base::Result<void> mine;
  if (change.pointer_moves && group->rank() == 0) mine = group->shared_pointer().store(0);
  const bool meets = objects && !only_read();
  if (change.informs) {
    TESSERA_TRY_VOID(set_info(info, mine));
  } else if (change.pointer_moves && !meets) {
    TESSERA_TRY_VOID(group->exchange().agree(mine));
  }
  if (meets) TESSERA_TRY_VOID(objects->meet(mine));
  const bool writes_through_it = objects && !only_read() && !view.empty;
  if (writes_through_it) objects->set_view(writer_view(view.ascending, group->rank()));
  base::Result<void> verdict = change.informs ? base::Result<void>() : settle_locks();
  Journal::get().note_stage(path, Stage::kView, watch.ns());
  return verdict;
}

base::Result<void> OpenFile::check_positioned() const {
  if (!sequential()) return {};
  return fault(
      MPI_ERR_UNSUPPORTED_OPERATION,
      path + " is open with MPI_MODE_SEQUENTIAL: it has neither positions nor a size to set");
}

base::Result<int64_t> OpenFile::end_in_etypes() const {
  TESSERA_TRY(const int64_t bytes, size());
  if (view.empty) return 0;
  const int64_t stream = view.offset_of(bytes);
  return (stream + view.etype_size - 1) / view.etype_size;
}

base::Result<int64_t> OpenFile::target(MPI_Offset offset, int whence, int64_t current) const {
  int64_t from = 0;
  if (whence == MPI_SEEK_CUR) {
    from = current;
  } else if (whence == MPI_SEEK_END) {
    TESSERA_TRY(from, end_in_etypes());
  } else if (whence != MPI_SEEK_SET) {
    return fault(MPI_ERR_ARG, "a seek needs MPI_SEEK_SET, MPI_SEEK_CUR or MPI_SEEK_END");
  }
  const auto sum = base::checked_add(from, int64_t{offset});
  if (!sum || *sum < 0) return fault(MPI_ERR_ARG, "a seek to before the start of the view");
  return *sum;
}

base::Result<void> OpenFile::seek(MPI_Offset offset, int whence) {
  TESSERA_TRY_VOID(check_positioned());
  TESSERA_TRY(position, target(offset, whence, position));
  return {};
}

base::Result<void> OpenFile::seek_shared(MPI_Offset offset, int whence) {
  base::Result<int64_t> where = base::fail(base::Code::kFailed, "no position");
  if (const auto positioned = check_positioned(); !positioned) {
    where = base::failure_of(positioned);
  } else {
    const auto current = group->shared_pointer().load();
    where = current ? target(offset, whence, *current) : base::failure_of(current);
  }
  pointer_moved = true;
  // All have read the pointer before it is set anew.
  TESSERA_TRY_VOID(group->exchange().agree(where ? base::Result<void>() : base::failure_of(where)));
  base::Result<void> mine;
  if (group->rank() == 0) mine = group->shared_pointer().store(*where);
  return group->exchange().agree(mine);
}

base::Result<MPI_Offset> OpenFile::byte_offset(MPI_Offset offset) const {
  if (offset < 0) return fault(MPI_ERR_ARG, "the offset in a view is negative");
  if (view.empty) return MPI_Offset{view.displacement};
  const auto stream = base::checked_mul(int64_t{offset}, view.etype_size);
  if (!stream) return fault(MPI_ERR_ARG, "the offset in a view is too large");
  TESSERA_TRY(const int64_t position_in_file, view.position(*stream));
  return MPI_Offset{position_in_file};
}

}  // namespace tessera::mpiio
