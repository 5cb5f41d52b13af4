// Views and positions: MPI_File_set_view and its relatives.
#include <cstring>

#include "tessera/mpiio/answer.hpp"
#include "tessera/mpiio/datareps.hpp"
#include "tessera/mpiio/fault.hpp"
#include "tessera/mpiio/native.hpp"
#include "tessera/mpiio/open_file.hpp"

namespace tessera::mpiio {

namespace {

base::Result<int64_t> extent_in_file(const OpenFile& file, MPI_Datatype type) {
  if (type == MPI_DATATYPE_NULL) return fault(MPI_ERR_TYPE, "the datatype is null");
  TESSERA_TRY(const auto converted, convert(type, file.view.representation));
  return converted->layout.extent;
}

// Files of the MPI's own know a representation too; an MPI that cannot convert at all refuses it
// for them.
template <typename TellNative>
int answer_registered(const base::Result<void>& registered, const TellNative& tell_native) {
  if (!registered) return raise_without_file(registered.error());
  tell_native();
  return MPI_SUCCESS;
}

}  // namespace

}  // namespace tessera::mpiio

using namespace tessera::mpiio;  // NOLINT: the functions below are the program's

extern "C" {

int MPI_File_set_view(MPI_File fh, MPI_Offset disp, MPI_Datatype etype, MPI_Datatype filetype,
                      const char* datarep, MPI_Info info) {
  OpenFile* file = OpenFile::from(fh);
  if (file == nullptr) {
    return TESSERA_NATIVE(MPI_File_set_view)(fh, disp, etype, filetype, datarep, info);
  }
  return answer(*file, [&] { return file->set_view(disp, etype, filetype, datarep, info); });
}

int MPI_File_get_view(MPI_File fh, MPI_Offset* disp, MPI_Datatype* etype, MPI_Datatype* filetype,
                      char* datarep) {
  OpenFile* file = OpenFile::from(fh);
  if (file == nullptr) {
    return TESSERA_NATIVE(MPI_File_get_view)(fh, disp, etype, filetype, datarep);
  }
  *disp = file->view.displacement;
  *etype = keep_type(file->view.etype);
  *filetype = keep_type(file->view.filetype);
  std::strcpy(datarep, file->view.datarep.c_str());  // NOLINT: MPI bounds the name's length
  return MPI_SUCCESS;
}

int MPI_File_seek(MPI_File fh, MPI_Offset offset, int whence) {
  OpenFile* file = OpenFile::from(fh);
  if (file == nullptr) return TESSERA_NATIVE(MPI_File_seek)(fh, offset, whence);
  return answer(*file, [&] { return file->seek(offset, whence); });
}

int MPI_File_get_position(MPI_File fh, MPI_Offset* offset) {
  OpenFile* file = OpenFile::from(fh);
  if (file == nullptr) return TESSERA_NATIVE(MPI_File_get_position)(fh, offset);
  *offset = file->position;
  return answer(*file, [&] { return file->check_positioned(); });
}

int MPI_File_get_byte_offset(MPI_File fh, MPI_Offset offset, MPI_Offset* disp) {
  OpenFile* file = OpenFile::from(fh);
  if (file == nullptr) return TESSERA_NATIVE(MPI_File_get_byte_offset)(fh, offset, disp);
  return answer(
      *file, [&] { return file->byte_offset(offset); }, disp);
}

int MPI_File_seek_shared(MPI_File fh, MPI_Offset offset, int whence) {
  OpenFile* file = OpenFile::from(fh);
  if (file == nullptr) return TESSERA_NATIVE(MPI_File_seek_shared)(fh, offset, whence);
  return answer(*file, [&] { return file->seek_shared(offset, whence); });
}

int MPI_File_get_position_shared(MPI_File fh, MPI_Offset* offset) {
  OpenFile* file = OpenFile::from(fh);
  if (file == nullptr) return TESSERA_NATIVE(MPI_File_get_position_shared)(fh, offset);
  const auto positioned = file->check_positioned();
  if (!positioned) return raise(*file, positioned.error());
  return answer(
      *file, [&] { return file->group->shared_pointer().load(); }, offset);
}

int MPI_File_get_type_extent(MPI_File fh, MPI_Datatype type, MPI_Aint* extent) {
  OpenFile* file = OpenFile::from(fh);
  if (file == nullptr) return TESSERA_NATIVE(MPI_File_get_type_extent)(fh, type, extent);
  return answer(
      *file, [&] { return extent_in_file(*file, type); }, extent);
}

#if MPI_VERSION >= 4
int MPI_File_get_type_extent_c(MPI_File fh, MPI_Datatype type, MPI_Count* extent) {
  OpenFile* file = OpenFile::from(fh);
  if (file == nullptr) return TESSERA_NATIVE(MPI_File_get_type_extent_c)(fh, type, extent);
  return answer(
      *file, [&] { return extent_in_file(*file, type); }, extent);
}
#endif

int MPI_Register_datarep(const char* name, MPI_Datarep_conversion_function* read,
                         MPI_Datarep_conversion_function* write,
                         MPI_Datarep_extent_function* extent, void* extra) {
  const bool converts = read != MPI_CONVERSION_FN_NULL || write != MPI_CONVERSION_FN_NULL;
  return answer_registered(contain([&] { return register_datarep(name, converts); }), [=] {
    TESSERA_NATIVE(MPI_Register_datarep)(name, read, write, extent, extra);
  });
}

#if MPI_VERSION >= 4
int MPI_Register_datarep_c(const char* name, MPI_Datarep_conversion_function_c* read,
                           MPI_Datarep_conversion_function_c* write,
                           MPI_Datarep_extent_function* extent, void* extra) {
  const bool converts = read != MPI_CONVERSION_FN_NULL_C || write != MPI_CONVERSION_FN_NULL_C;
  return answer_registered(contain([&] { return register_datarep(name, converts); }), [=] {
    TESSERA_NATIVE(MPI_Register_datarep_c)(name, read, write, extent, extra);
  });
}
#endif

}  // extern "C"

TESSERA_ALSO_PMPI(MPI_File_set_view);
TESSERA_ALSO_PMPI(MPI_File_get_view);
TESSERA_ALSO_PMPI(MPI_File_seek);
TESSERA_ALSO_PMPI(MPI_File_get_position);
TESSERA_ALSO_PMPI(MPI_File_get_byte_offset);
TESSERA_ALSO_PMPI(MPI_File_seek_shared);
TESSERA_ALSO_PMPI(MPI_File_get_position_shared);
TESSERA_ALSO_PMPI(MPI_File_get_type_extent);
TESSERA_ALSO_PMPI(MPI_Register_datarep);
#if MPI_VERSION >= 4
TESSERA_ALSO_PMPI(MPI_File_get_type_extent_c);
TESSERA_ALSO_PMPI(MPI_Register_datarep_c);
#endif
