// What a program or library asks the dynamic linker for, read from the file and not by running it.
//
// Reads the few places of an ELF file that say it: header, program headers, dynamic section, names.
// Files are untrusted: every offset is checked against what can be read, and memory is bounded
// whatever the file says. Only 64-bit little-endian files are understood, as Tessera itself is.
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tessera/base/bytes.hpp"
#include "tessera/base/result.hpp"

namespace tessera::cli {

struct ElfNeeds {
  uint16_t machine = 0;             // EM_X86_64 is 62
  bool dynamic = false;             // it has a dynamic section
  bool interpreted = false;         // it names a dynamic linker: nothing else can be preloaded into
  std::string soname;               // what a library calls itself
  std::vector<std::string> needed;  // the libraries it needs, in its order
  std::vector<std::string> rpath;   // folders as written, $ORIGIN and all
  std::vector<std::string> runpath;
};

// Up to size_bytes bytes from an offset on; fewer only where the file ends.
using ReadAt = std::function<base::Result<base::Bytes>(uint64_t offset, size_t size_bytes)>;

// Fails with kInvalid if it is no such file or damaged, without naming it.
[[nodiscard]] base::Result<ElfNeeds> elf_needs(const ReadAt& read);

// The same of a file. Fails with kNotFound, kDenied or kFailed if it cannot be read; messages name
// the path.
[[nodiscard]] base::Result<ElfNeeds> elf_needs_of(const std::string& path);

}  // namespace tessera::cli
