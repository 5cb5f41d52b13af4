// Open files: what an MPI_File of ours stands for.
//
// Handles of the MPI's own files, and garbage, are told from ours by a table of all open files, not
// by looking at what they point to. A file belongs to the ranks that opened it together; what is
// collective in MPI is collective here, and gives every rank the same verdict.
//   (F1) `view`, the pointers and the hints change only in collective calls, or in calls of their
//        own rank; the worker's jobs have copies of what they need.
//   (F2) Functions named after MPI's take arguments as the program gave them, and check them.
// Thread safety: the table from any thread; one file as MPI says, which is one thread at a time for
// collective calls and pointer updates.
#pragma once

#include <mpi.h>

#include <atomic>
#include <memory>
#include <optional>
#include <string>

#include "tessera/move/engine.hpp"
#include "tessera/move/grouped_writes.hpp"
#include "tessera/move/hints.hpp"
#include "tessera/mpiio/error_handlers.hpp"
#include "tessera/mpiio/file_locks.hpp"
#include "tessera/mpiio/group.hpp"
#include "tessera/mpiio/objects.hpp"
#include "tessera/mpiio/overlapping_view.hpp"
#include "tessera/mpiio/types.hpp"
#include "tessera/mpiio/view_record.hpp"
#include "tessera/pattern/view.hpp"
#include "tessera/port/plain_file.hpp"

namespace tessera::mpiio {

// What MPI_File_set_view has set. Owns its type handles.
struct FileView {
  int64_t displacement = 0;
  MPI_Datatype etype = MPI_BYTE;
  MPI_Datatype filetype = MPI_BYTE;
  std::string datarep = "native";
  Representation representation = Representation::kNative;
  int64_t etype_size = 1;  // in the file
  bool empty = false;      // the filetype has no bytes; then the functions below are not called
  bool dense = true;       // all bytes from the displacement on, as they are in memory

  // As pattern/view.hpp says; the bytes of an overlapping view do not ascend.
  [[nodiscard]] base::Result<pattern::Pattern> bytes(pattern::Interval stream) const {
    return overlapping ? overlapping->bytes(stream) : ascending.bytes(stream);
  }
  [[nodiscard]] base::Result<int64_t> position(int64_t offset) const {
    return overlapping ? overlapping->position(offset) : ascending.position(offset);
  }
  [[nodiscard]] int64_t offset_of(int64_t position) const {
    return overlapping ? overlapping->offset_of(position) : ascending.offset_of(position);
  }

  // Where copies of the filetype would interleave, only the first one can be used: stream offsets
  // end here. Some MPIs give such extents to types of which programs use one copy.
  std::optional<int64_t> limit;

  pattern::View ascending;
  std::optional<OverlappingView> overlapping;  // instead of it
};

// A split collective operation between its begin and its end.
struct SplitAccess {
  int kind = 0;  // which pair of functions
  int64_t bytes = 0;
  int code = MPI_SUCCESS;
};

class OpenFile {
 public:
  // Collective.
  [[nodiscard]] static base::Result<OpenFile*> open(MPI_Comm comm, const std::string& path,
                                                    int amode, MPI_Info info);
  // Collective; the file is gone afterwards, whatever the verdict.
  [[nodiscard]] static base::Result<void> close(OpenFile* opened);

  // The file behind a handle; null if it is not one of ours.
  [[nodiscard]] static OpenFile* from(MPI_File handle);
  [[nodiscard]] MPI_File handle() { return reinterpret_cast<MPI_File>(this); }

  // Fortran numbers.
  [[nodiscard]] MPI_Fint number();
  [[nodiscard]] static OpenFile* from_number(MPI_Fint number);

  // Collective.
  [[nodiscard]] base::Result<void> set_view(MPI_Offset displacement, MPI_Datatype etype,
                                            MPI_Datatype filetype, const char* datarep,
                                            MPI_Info info);
  [[nodiscard]] base::Result<void> set_size(MPI_Offset size);
  [[nodiscard]] base::Result<void> preallocate(MPI_Offset size);
  [[nodiscard]] base::Result<void> sync();
  [[nodiscard]] base::Result<void> set_atomicity(bool value);
  // Fails on all ranks if one has failed before.
  [[nodiscard]] base::Result<void> set_info(MPI_Info info, base::Result<void> mine = {});
  [[nodiscard]] base::Result<void> seek_shared(MPI_Offset offset, int whence);
  // Local.
  [[nodiscard]] base::Result<void> seek(MPI_Offset offset, int whence);
  [[nodiscard]] base::Result<MPI_Offset> byte_offset(MPI_Offset offset) const;
  [[nodiscard]] base::Result<MPI_Info> info() const;

  // Of the file as programs see it.
  [[nodiscard]] base::Result<int64_t> size() const;

  // Whether the access mode allows positions and changes of the size.
  [[nodiscard]] base::Result<void> check_positioned() const;
  // Whether the access mode allows it, and individual pointers or explicit offsets do.
  [[nodiscard]] base::Result<void> check_access(move::Direction direction, bool shared) const;

  // Before the file is written: somebody may have set a limit of file sizes meanwhile. Small writes
  // do without, for which asking costs too much: they know what the program sets (api_limits.cpp).
  void forget_size_limit() const;

  [[nodiscard]] bool only_read() const { return (amode & MPI_MODE_RDONLY) != 0; }
  [[nodiscard]] bool sequential() const { return (amode & MPI_MODE_SEQUENTIAL) != 0; }

  std::string path;
  int amode = 0;
  MPI_Group processes = MPI_GROUP_NULL;
  std::shared_ptr<Group> group;
  std::unique_ptr<port::PlainFile> file;       // of an object file: its container
  std::unique_ptr<port::PlainFile> store;      // of a cache in front of it
  std::unique_ptr<cache::ObjectFile> objects;  // what accesses go to instead, if not null
  std::unique_ptr<FileLocks> locks;
  std::shared_ptr<const move::Hints> hints;
  std::shared_ptr<const move::Hints> gapless_hints;  // without_gaps()
  move::Costs costs;
  std::shared_ptr<move::Experience> experience = std::make_shared<move::Experience>();
  move::GroupedWrites grouped;  // of replicated bytes
  FileView view;
  int64_t position = 0;                     // the individual pointer, in etypes
  std::atomic<bool> pointer_moved = false;  // the shared one, by this rank, since it was set to 0
  bool atomic = false;
  ErrorHandler handler;
  std::optional<SplitAccess> split;
  std::unique_ptr<ViewRecord> record;  // if views are recorded

 private:
  OpenFile() = default;
  ~OpenFile();

  struct Opening;
  base::Result<void> open_first(const Opening& opening);
  base::Result<void> open_others(const Opening& opening);
  base::Result<void> open_alone(MPI_Comm comm, const Opening& opening);
  base::Result<void> prepare(MPI_Comm comm);
  // Collective.
  base::Result<void> start(MPI_Comm comm, const Opening& opening);
  // Whether an info holds anything that the program has not said before.
  [[nodiscard]] bool tells_more(MPI_Info info) const;
  void take_hints(move::Hints given);
  // Of the file, as far as this rank knows; 0 if it cannot be told.
  [[nodiscard]] int64_t known_size() const;
  // What atomic mode locks follows from views and hints. Collective.
  [[nodiscard]] base::Result<void> settle_locks();
  [[nodiscard]] base::Result<void> agree_on_size(MPI_Offset size);
  struct ViewChange {
    bool pointer_moves = false;  // the shared pointer is to be set to 0: all have read it by then
    bool informs = false;        // some rank gives other hints with its view
  };
  // The verdict on the views of all ranks. Collective.
  [[nodiscard]] base::Result<ViewChange> agree_on_view(const base::Result<FileView>& made,
                                                       bool informs);
  [[nodiscard]] base::Result<int64_t> end_in_etypes() const;
  [[nodiscard]] base::Result<int64_t> target(MPI_Offset offset, int whence, int64_t current) const;
  void register_file();
  void forget_file();

  std::vector<base::KeyValue> given_;  // hints of the program, in order
  bool created_ = false;
  int number_ = 0;
};

// Deletes a file by name, as MPI_File_delete.
[[nodiscard]] base::Result<void> delete_file(const std::string& path);

// Whether files of this name are ours: not excluded, and without a prefix of another file system.
[[nodiscard]] bool is_ours(const char* path);

}  // namespace tessera::mpiio
