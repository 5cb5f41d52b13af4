// MPI_File_open, _close, _delete and what asks about or changes a whole file.
#include "tessera/container/file_kind.hpp"
#include "tessera/mpiio/answer.hpp"
#include "tessera/mpiio/fault.hpp"
#include "tessera/mpiio/native.hpp"
#include "tessera/mpiio/open_file.hpp"

using namespace tessera::mpiio;  // NOLINT: the functions below are the program's

extern "C" {

int MPI_File_open(MPI_Comm comm, const char* filename, int amode, MPI_Info info, MPI_File* fh) {
  if (!is_ours(filename)) {
    return TESSERA_NATIVE(MPI_File_open)(comm, filename, amode, info, fh);
  }
  *fh = MPI_FILE_NULL;
  const auto opened = contain([&] { return OpenFile::open(comm, filename, amode, info); });
  if (!opened) return raise_without_file(opened.error());
  *fh = (*opened)->handle();
  return MPI_SUCCESS;
}

int MPI_File_close(MPI_File* fh) {
  OpenFile* file = OpenFile::from(*fh);
  if (file == nullptr) return TESSERA_NATIVE(MPI_File_close)(fh);
  if (file->split) {
    return raise(*file, fault(MPI_ERR_IO,
                              "a split collective access of " + file->path + " has not ended yet")
                            .error);
  }
  const ErrorHandler handler = file->handler;
  const MPI_File handle = *fh;
  const auto closed = contain([&] { return OpenFile::close(file); });
  *fh = MPI_FILE_NULL;
  return closed ? MPI_SUCCESS : handler.call(handle, code_of(closed.error()));
}

int MPI_File_delete(const char* filename, MPI_Info info) {
  if (!is_ours(filename)) return TESSERA_NATIVE(MPI_File_delete)(filename, info);
  const auto deleted =
      contain([&] { return delete_file(tessera::container::parse_file_name(filename).path); });
  return deleted ? MPI_SUCCESS : raise_without_file(deleted.error());
}

int MPI_File_set_size(MPI_File fh, MPI_Offset size) {
  OpenFile* file = OpenFile::from(fh);
  if (file == nullptr) return TESSERA_NATIVE(MPI_File_set_size)(fh, size);
  return answer(*file, [&] { return file->set_size(size); });
}

int MPI_File_preallocate(MPI_File fh, MPI_Offset size) {
  OpenFile* file = OpenFile::from(fh);
  if (file == nullptr) return TESSERA_NATIVE(MPI_File_preallocate)(fh, size);
  return answer(*file, [&] { return file->preallocate(size); });
}

int MPI_File_get_size(MPI_File fh, MPI_Offset* size) {
  OpenFile* file = OpenFile::from(fh);
  if (file == nullptr) return TESSERA_NATIVE(MPI_File_get_size)(fh, size);
  return answer(
      *file, [&] { return file->size(); }, size);
}

int MPI_File_get_group(MPI_File fh, MPI_Group* group) {
  OpenFile* file = OpenFile::from(fh);
  if (file == nullptr) return TESSERA_NATIVE(MPI_File_get_group)(fh, group);
  // A group of its own for the caller to free: the union with nothing.
  return PMPI_Group_union(file->processes, MPI_GROUP_EMPTY, group);
}

int MPI_File_get_amode(MPI_File fh, int* amode) {
  OpenFile* file = OpenFile::from(fh);
  if (file == nullptr) return TESSERA_NATIVE(MPI_File_get_amode)(fh, amode);
  *amode = file->amode;
  return MPI_SUCCESS;
}

int MPI_File_set_info(MPI_File fh, MPI_Info info) {
  OpenFile* file = OpenFile::from(fh);
  if (file == nullptr) return TESSERA_NATIVE(MPI_File_set_info)(fh, info);
  return answer(*file, [&] { return file->set_info(info); });
}

int MPI_File_get_info(MPI_File fh, MPI_Info* info) {
  OpenFile* file = OpenFile::from(fh);
  if (file == nullptr) return TESSERA_NATIVE(MPI_File_get_info)(fh, info);
  return answer(
      *file, [&] { return file->info(); }, info);
}

int MPI_File_set_atomicity(MPI_File fh, int flag) {
  OpenFile* file = OpenFile::from(fh);
  if (file == nullptr) return TESSERA_NATIVE(MPI_File_set_atomicity)(fh, flag);
  return answer(*file, [&] { return file->set_atomicity(flag != 0); });
}

int MPI_File_get_atomicity(MPI_File fh, int* flag) {
  OpenFile* file = OpenFile::from(fh);
  if (file == nullptr) return TESSERA_NATIVE(MPI_File_get_atomicity)(fh, flag);
  *flag = file->atomic ? 1 : 0;
  return MPI_SUCCESS;
}

int MPI_File_sync(MPI_File fh) {
  OpenFile* file = OpenFile::from(fh);
  if (file == nullptr) return TESSERA_NATIVE(MPI_File_sync)(fh);
  return answer(*file, [&] { return file->sync(); });
}

MPI_Fint MPI_File_c2f(MPI_File fh) {
  OpenFile* file = OpenFile::from(fh);
  return file == nullptr ? TESSERA_NATIVE(MPI_File_c2f)(fh) : file->number();
}

MPI_File MPI_File_f2c(MPI_Fint number) {
  OpenFile* file = OpenFile::from_number(number);
  return file == nullptr ? TESSERA_NATIVE(MPI_File_f2c)(number) : file->handle();
}

}  // extern "C"

TESSERA_ALSO_PMPI(MPI_File_open);
TESSERA_ALSO_PMPI(MPI_File_close);
TESSERA_ALSO_PMPI(MPI_File_delete);
TESSERA_ALSO_PMPI(MPI_File_set_size);
TESSERA_ALSO_PMPI(MPI_File_preallocate);
TESSERA_ALSO_PMPI(MPI_File_get_size);
TESSERA_ALSO_PMPI(MPI_File_get_group);
TESSERA_ALSO_PMPI(MPI_File_get_amode);
TESSERA_ALSO_PMPI(MPI_File_set_info);
TESSERA_ALSO_PMPI(MPI_File_get_info);
TESSERA_ALSO_PMPI(MPI_File_set_atomicity);
TESSERA_ALSO_PMPI(MPI_File_get_atomicity);
TESSERA_ALSO_PMPI(MPI_File_sync);
TESSERA_ALSO_PMPI(MPI_File_c2f);
TESSERA_ALSO_PMPI(MPI_File_f2c);
