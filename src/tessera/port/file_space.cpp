#include "tessera/port/file_space.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include "tessera/base/assert.hpp"

namespace tessera::port {

bool has_name(const PlainFile& file) {
  struct stat status = {};
  return ::fstat(file.descriptor(), &status) != 0 || status.st_nlink > 0;
}

void free_range(const PlainFile& file, int64_t begin, int64_t end) {
  TESSERA_ASSERT(0 <= begin && begin < end);
  // Where the file system has no holes the space is given back when the file is cut or removed.
  static_cast<void>(::fallocate(file.descriptor(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                                begin, end - begin));
}

}  // namespace tessera::port
