// Access: reading and writing open files, as the data access functions of MPI ask for it.
//
// All of them are one thing with a few properties: direction, which pointer, alone or together,
// now or in the background. An access is checked and turned into a move (move/move.hpp), which an
// engine executes; what it really moved becomes the status.
//   (A1) A collective access that fails on one rank, for wrong arguments or in the system, fails on
//        all ranks, at that call. Nobody hangs.
//   (A2) Pointers move by what was accessed: by what a blocking access really moved, by what a
//        background one asked for. Shared pointers move by what was asked for.
// Thread safety: as OpenFile.
#pragma once

#include <mpi.h>

#include <memory>
#include <optional>

#include "tessera/base/bytes.hpp"
#include "tessera/move/move.hpp"
#include "tessera/mpiio/open_file.hpp"

namespace tessera::mpiio {

enum class Pointer { kExplicit, kIndividual, kShared, kOrdered };

// Whether accesses by this pointer move one that all ranks share.
[[nodiscard]] constexpr bool is_shared(Pointer pointer) {
  return pointer == Pointer::kShared || pointer == Pointer::kOrdered;
}

struct Access {
  move::Direction direction = move::Direction::kRead;
  Pointer pointer = Pointer::kExplicit;
  bool collective = false;
  MPI_Offset offset = 0;  // kExplicit: in etypes
};

// Where the program's data is.
struct Buffer {
  void* address = nullptr;  // not written through by writes
  int64_t count = 0;
  MPI_Datatype type = MPI_BYTE;
};

// A checked access, ready to be executed by any thread without a call of MPI.
struct Prepared {
  move::Move move;
  int64_t etypes = 0;   // asked for
  base::Bytes staging;  // external32: the bytes as they are in the file; the move's memory
  // Of a write to an object file that another thread will make, where it has to be said before.
  std::optional<cache::ObjectFile::Placed> placed = {};
};

// What an access did. `bytes` counts the program's bytes.
struct Done {
  int64_t bytes = 0;
  base::Result<void> status;
  pattern::Interval span = {};  // of the bytes in the file that were asked for
};

// Blocking accesses: check, move, set the status, call the file's error handler; the code for the
// program.
int access(OpenFile& file, const Access& asked, const Buffer& buffer, MPI_Status* status);

// Split collective accesses; `kind` pairs a begin with its end.
int begin_access(OpenFile& file, const Access& asked, const Buffer& buffer, int kind);
int end_access(OpenFile& file, const void* buffer, int kind, MPI_Status* status);

// The parts that background accesses are made of.
// Checks, takes the bytes out of the program's representation, and moves the pointer.
[[nodiscard]] base::Result<std::unique_ptr<Prepared>> prepare(OpenFile& file, const Access& access,
                                                              const Buffer& buffer);
// What a move needs besides itself; outlives the call that made it.
struct Means {
  port::PlainFile* file = nullptr;
  cache::ObjectFile* objects = nullptr;               // instead of it, if not null
  const cache::ObjectFile::Placed* placed = nullptr;  // of a write to it, if that is known
  FileLocks* locks = nullptr;
  std::shared_ptr<const move::Hints> hints;
  move::Costs costs;
  std::shared_ptr<move::Experience> experience;
  std::string path;
  int rank = 0;
  int companions = 1;
  int place = 0;  // among them
  bool atomic = false;
  bool collective = false;  // what reports call it
};
[[nodiscard]] Means means_of(OpenFile& file);
// Executes a move alone, without a call of MPI.
[[nodiscard]] move::Transfer execute_alone(const move::Move& move, const Means& means);
// Puts bytes that were read into the program's representation.
[[nodiscard]] Done finish(const Prepared& prepared, const move::Transfer& moved,
                          const Buffer& buffer);

// Sets what MPI_Get_count and MPI_Get_elements answer.
void set_status(MPI_Status* status, int64_t bytes);

// The code of an error after the file's error handler has seen it.
int raise(OpenFile& file, const base::Error& error);
// Of a call without a file: the handler of MPI_FILE_NULL.
int raise_without_file(const base::Error& error);

}  // namespace tessera::mpiio
