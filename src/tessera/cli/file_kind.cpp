#include "tessera/cli/file_kind.hpp"

#include <algorithm>

#include "tessera/container/reader_lock.hpp"

namespace tessera::cli {

using base::Code;
using base::Result;

Result<FileKind> kind_of(port::File& file) {
  base::Bytes header(container::kSuperblockCopies * container::kSuperblockBytes);
  const port::Transfer read = file.read_at(0, header);
  if (!read) return base::failure_of(read.status);
  header.resize(static_cast<size_t>(read.bytes));
  const auto chosen = container::choose_superblock(header, file.path());
  if (chosen) return FileKind::kObject;
  const auto second = std::min(header.size(), static_cast<size_t>(container::kSuperblockBytes));
  const auto foreign = [&](size_t at) {
    return container::decode_superblock(base::ByteView(header).subspan(at)).state ==
           container::CopyState::kForeign;
  };
  if (foreign(0) && foreign(second)) return FileKind::kPlain;
  return base::failure_of(chosen);
}

Result<std::unique_ptr<port::PlainFile>> open_regular(const std::string& path,
                                                      port::Access access) {
  const bool writes = access == port::Access::kReadWrite;
  TESSERA_TRY(auto file, port::PlainFile::open_regular(path, {.write = writes}));
  if (!writes) container::hold_for_reading(*file);
  return file;
}

Result<OpenedObject> open_object(const std::string& path) {
  TESSERA_TRY(auto file, open_regular(path, port::Access::kRead));
  TESSERA_TRY(const FileKind kind, kind_of(*file));
  if (kind == FileKind::kPlain) {
    return base::fail(Code::kInvalid,
                      path + " is a plain file, not an object file; tessera import makes one");
  }
  TESSERA_TRY(auto container, container::Container::open(*file));
  TESSERA_TRY(auto contents, container.read_contents());
  return OpenedObject{std::move(file), std::move(container), std::move(contents)};
}

}  // namespace tessera::cli
