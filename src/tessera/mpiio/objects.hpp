// Object files behind the door: how an open file becomes one, and what its accesses do.
//
// A file is an object file if its name has the prefix obj:, if it has an object file's superblocks,
// or if a rule for its name or the hint tessera_layout asks for it and the file is new or empty. A
// rule that says plain makes it the bytes of its container. One group of ranks at a time
// may have it open for writing; any number of others read it as of its last commit. Thread safety:
// as OpenFile.
#pragma once

#include <memory>
#include <string>

#include "tessera/base/result.hpp"
#include "tessera/cache/object_file.hpp"
#include "tessera/container/file_kind.hpp"
#include "tessera/move/hints.hpp"
#include "tessera/mpiio/group.hpp"
#include "tessera/pattern/view.hpp"
#include "tessera/port/plain_file.hpp"

namespace tessera::mpiio {

struct ObjectOpening {
  port::PlainFile& file;
  Group& group;
  const move::Hints& hints;
  bool named = false;             // by its prefix: it must be one
  bool has_superblock = false;    // before this open; the same on all ranks
  bool write = false;             // the ranks may change it
  bool created = false;           // by this open; the first rank's word counts
  bool deleted_on_close = false;  // it is deleted when it is closed, so it needs no name
};

// The object file behind an open file; null if it is a plain one. Collective.
[[nodiscard]] base::Result<std::unique_ptr<cache::ObjectFile>> open_objects(
    const ObjectOpening& opening);

// A cache in front of a plain file that is open for writing: the hint tessera_cache. Collective;
// the file that it keeps bytes in has no name afterwards.
struct CachedFile {
  std::unique_ptr<port::PlainFile> store;
  std::unique_ptr<cache::ObjectFile> objects;
};
[[nodiscard]] base::Result<CachedFile> open_cache(const ObjectOpening& opening);

// The view of a rank as it is stored with what it wrote.
[[nodiscard]] container::WriterView writer_view(const pattern::View& view, int rank);

// Reads or writes the bytes of a move, alone; a write on these terms.
[[nodiscard]] port::Transfer execute_on_objects(cache::ObjectFile& objects, const move::Move& moved,
                                                const cache::ObjectFile::WriteTerms& terms);

}  // namespace tessera::mpiio
