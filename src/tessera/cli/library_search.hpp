// Which libraries a program loads, found as the dynamic linker finds them, without running it.
//
// Each needed name is looked for in the file's own folders (RPATH, RUNPATH), in LD_LIBRARY_PATH, in
// the linker's cache and in its standard folders, in the linker's order. What the linker adds for
// processor variants and for $LIB and $PLATFORM is left out: it changes which copy is taken, not
// which name. Thread safety: pure functions over the file system.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/base/bytes.hpp"
#include "tessera/base/result.hpp"

namespace tessera::cli {

// The paths of each library name, best first.
using LibraryCache = std::map<std::string, std::vector<std::string>, std::less<>>;

// /etc/ld.so.cache, decoded. Damaged entries are left out; of another format nothing is read.
[[nodiscard]] LibraryCache parse_library_cache(base::ByteView bytes);

// What the linker looks at besides the files themselves.
struct LibraryPlaces {
  std::vector<std::string> before;  // LD_LIBRARY_PATH
  LibraryCache cache;
  std::vector<std::string> standard;
};

// Those of this machine, with this value of LD_LIBRARY_PATH.
[[nodiscard]] LibraryPlaces library_places(std::string_view ld_library_path);

// The names of every library that a program or library needs, by itself and through others. A name
// that is found nowhere is in the set; what it would need is not. Fails as elf_needs_of() for the
// file itself; libraries that cannot be read are passed over.
[[nodiscard]] base::Result<std::set<std::string>> libraries_of(const std::string& path,
                                                               const LibraryPlaces& places);

}  // namespace tessera::cli
