#include "tessera/cli/file_kind.hpp"

#include "tessera/container/reader_lock.hpp"

namespace tessera::cli {

using base::Code;
using base::Result;

Result<std::unique_ptr<port::PlainFile>> open_regular(const std::string& path,
                                                      port::Access access) {
  const bool writes = access == port::Access::kReadWrite;
  const std::string file_path = container::parse_file_name(path).path;
  TESSERA_TRY(auto file, port::PlainFile::open_regular(file_path, {.write = writes}));
  if (!writes) TESSERA_TRY_VOID(container::try_hold_for_reading(*file));
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
