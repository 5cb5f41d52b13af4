// The data access functions of MPI: the same few shapes, each for many names.
//
// A macro stands for a shape: it defines one function with its PMPI name, which hands files of the
// MPI's own to the MPI, and ours to access.hpp and requests.hpp. Each shape exists for counts of
// type int and, where the MPI has them (_c), of type MPI_Count.
#include "tessera/mpiio/access.hpp"
#include "tessera/mpiio/native.hpp"
#include "tessera/mpiio/requests.hpp"

namespace tessera::mpiio {

namespace {

constexpr auto kRead = move::Direction::kRead;
constexpr auto kWrite = move::Direction::kWrite;
constexpr bool kAlone = false;
constexpr bool kTogether = true;

// The pairs of split collective functions.
enum Split { kReadAtAll, kWriteAtAll, kReadAll, kWriteAll, kReadOrdered, kWriteOrdered };

Buffer buffer_of(const void* address, int64_t count, MPI_Datatype type) {
  return {const_cast<void*>(address), count, type};  // NOLINT: writes do not write through it
}

}  // namespace

}  // namespace tessera::mpiio

using namespace tessera::mpiio;  // NOLINT: the functions below are the program's

// A blocking access at an explicit offset.
#define TESSERA_AT(NAME, POINTER_TO, COUNT, DIRECTION, COLLECTIVE)                          \
  extern "C" int NAME(MPI_File fh, MPI_Offset offset, POINTER_TO buf, COUNT count,          \
                      MPI_Datatype type, MPI_Status* status) {                              \
    OpenFile* file = OpenFile::from(fh);                                                    \
    if (file == nullptr) return TESSERA_NATIVE(NAME)(fh, offset, buf, count, type, status); \
    return access(*file, {DIRECTION, Pointer::kExplicit, COLLECTIVE, offset},               \
                  buffer_of(buf, count, type), status);                                     \
  }                                                                                         \
  TESSERA_ALSO_PMPI(NAME);

// A blocking access at a pointer.
#define TESSERA_POINTER(NAME, POINTER_TO, COUNT, DIRECTION, POINTER, COLLECTIVE)           \
  extern "C" int NAME(MPI_File fh, POINTER_TO buf, COUNT count, MPI_Datatype type,         \
                      MPI_Status* status) {                                                \
    OpenFile* file = OpenFile::from(fh);                                                   \
    if (file == nullptr) return TESSERA_NATIVE(NAME)(fh, buf, count, type, status);        \
    return access(*file, {DIRECTION, POINTER, COLLECTIVE, 0}, buffer_of(buf, count, type), \
                  status);                                                                 \
  }                                                                                        \
  TESSERA_ALSO_PMPI(NAME);

// A nonblocking access at an explicit offset.
#define TESSERA_I_AT(NAME, POINTER_TO, COUNT, DIRECTION)                                     \
  extern "C" int NAME(MPI_File fh, MPI_Offset offset, POINTER_TO buf, COUNT count,           \
                      MPI_Datatype type, MPI_Request* request) {                             \
    OpenFile* file = OpenFile::from(fh);                                                     \
    if (file == nullptr) return TESSERA_NATIVE(NAME)(fh, offset, buf, count, type, request); \
    return start_access(*file, {DIRECTION, Pointer::kExplicit, kAlone, offset},              \
                        buffer_of(buf, count, type), request);                               \
  }                                                                                          \
  TESSERA_ALSO_PMPI(NAME);

// A nonblocking access at a pointer.
#define TESSERA_I_POINTER(NAME, POINTER_TO, COUNT, DIRECTION, POINTER)                       \
  extern "C" int NAME(MPI_File fh, POINTER_TO buf, COUNT count, MPI_Datatype type,           \
                      MPI_Request* request) {                                                \
    OpenFile* file = OpenFile::from(fh);                                                     \
    if (file == nullptr) return TESSERA_NATIVE(NAME)(fh, buf, count, type, request);         \
    return start_access(*file, {DIRECTION, POINTER, kAlone, 0}, buffer_of(buf, count, type), \
                        request);                                                            \
  }                                                                                          \
  TESSERA_ALSO_PMPI(NAME);

// The beginning of a split collective access at an explicit offset.
#define TESSERA_AT_BEGIN(NAME, POINTER_TO, COUNT, DIRECTION, SPLIT)                 \
  extern "C" int NAME(MPI_File fh, MPI_Offset offset, POINTER_TO buf, COUNT count,  \
                      MPI_Datatype type) {                                          \
    OpenFile* file = OpenFile::from(fh);                                            \
    if (file == nullptr) return TESSERA_NATIVE(NAME)(fh, offset, buf, count, type); \
    return begin_access(*file, {DIRECTION, Pointer::kExplicit, kTogether, offset},  \
                        buffer_of(buf, count, type), SPLIT);                        \
  }                                                                                 \
  TESSERA_ALSO_PMPI(NAME);

// The beginning of a split collective access at a pointer.
#define TESSERA_POINTER_BEGIN(NAME, POINTER_TO, COUNT, DIRECTION, POINTER, SPLIT)               \
  extern "C" int NAME(MPI_File fh, POINTER_TO buf, COUNT count, MPI_Datatype type) {            \
    OpenFile* file = OpenFile::from(fh);                                                        \
    if (file == nullptr) return TESSERA_NATIVE(NAME)(fh, buf, count, type);                     \
    return begin_access(*file, {DIRECTION, POINTER, kTogether, 0}, buffer_of(buf, count, type), \
                        SPLIT);                                                                 \
  }                                                                                             \
  TESSERA_ALSO_PMPI(NAME);

// The end of a split collective access.
#define TESSERA_END(NAME, POINTER_TO, SPLIT)                             \
  extern "C" int NAME(MPI_File fh, POINTER_TO buf, MPI_Status* status) { \
    OpenFile* file = OpenFile::from(fh);                                 \
    if (file == nullptr) return TESSERA_NATIVE(NAME)(fh, buf, status);   \
    return end_access(*file, buf, SPLIT, status);                        \
  }                                                                      \
  TESSERA_ALSO_PMPI(NAME);

// All functions of one direction and one kind of count.
#define TESSERA_ACCESS(WORD, C, POINTER_TO, COUNT, DIRECTION, AT_ALL, ALL, ORDERED)                \
  TESSERA_AT(MPI_File_##WORD##_at##C, POINTER_TO, COUNT, DIRECTION, kAlone)                        \
  TESSERA_AT(MPI_File_##WORD##_at_all##C, POINTER_TO, COUNT, DIRECTION, kTogether)                 \
  TESSERA_I_AT(MPI_File_i##WORD##_at##C, POINTER_TO, COUNT, DIRECTION)                             \
  TESSERA_I_AT(MPI_File_i##WORD##_at_all##C, POINTER_TO, COUNT, DIRECTION)                         \
  TESSERA_POINTER(MPI_File_##WORD##C, POINTER_TO, COUNT, DIRECTION, Pointer::kIndividual, kAlone)  \
  TESSERA_POINTER(MPI_File_##WORD##_all##C, POINTER_TO, COUNT, DIRECTION, Pointer::kIndividual,    \
                  kTogether)                                                                       \
  TESSERA_I_POINTER(MPI_File_i##WORD##C, POINTER_TO, COUNT, DIRECTION, Pointer::kIndividual)       \
  TESSERA_I_POINTER(MPI_File_i##WORD##_all##C, POINTER_TO, COUNT, DIRECTION, Pointer::kIndividual) \
  TESSERA_POINTER(MPI_File_##WORD##_shared##C, POINTER_TO, COUNT, DIRECTION, Pointer::kShared,     \
                  kAlone)                                                                          \
  TESSERA_I_POINTER(MPI_File_i##WORD##_shared##C, POINTER_TO, COUNT, DIRECTION, Pointer::kShared)  \
  TESSERA_POINTER(MPI_File_##WORD##_ordered##C, POINTER_TO, COUNT, DIRECTION, Pointer::kOrdered,   \
                  kTogether)                                                                       \
  TESSERA_AT_BEGIN(MPI_File_##WORD##_at_all_begin##C, POINTER_TO, COUNT, DIRECTION, AT_ALL)        \
  TESSERA_POINTER_BEGIN(MPI_File_##WORD##_all_begin##C, POINTER_TO, COUNT, DIRECTION,              \
                        Pointer::kIndividual, ALL)                                                 \
  TESSERA_POINTER_BEGIN(MPI_File_##WORD##_ordered_begin##C, POINTER_TO, COUNT, DIRECTION,          \
                        Pointer::kOrdered, ORDERED)

TESSERA_ACCESS(read, , void*, int, kRead, kReadAtAll, kReadAll, kReadOrdered)
TESSERA_ACCESS(write, , const void*, int, kWrite, kWriteAtAll, kWriteAll, kWriteOrdered)
#if MPI_VERSION >= 4
TESSERA_ACCESS(read, _c, void*, MPI_Count, kRead, kReadAtAll, kReadAll, kReadOrdered)
TESSERA_ACCESS(write, _c, const void*, MPI_Count, kWrite, kWriteAtAll, kWriteAll, kWriteOrdered)
#endif

TESSERA_END(MPI_File_read_at_all_end, void*, kReadAtAll)
TESSERA_END(MPI_File_write_at_all_end, const void*, kWriteAtAll)
TESSERA_END(MPI_File_read_all_end, void*, kReadAll)
TESSERA_END(MPI_File_write_all_end, const void*, kWriteAll)
TESSERA_END(MPI_File_read_ordered_end, void*, kReadOrdered)
TESSERA_END(MPI_File_write_ordered_end, const void*, kWriteOrdered)
