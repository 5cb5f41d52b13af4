#include "tessera/cli/library_search.hpp"

#include <cstdlib>
#include <deque>
#include <memory>
#include <optional>

#include "tessera/cli/elf_needs.hpp"
#include "tessera/cli/files.hpp"
#include "tessera/cli/search_path.hpp"

namespace tessera::cli {

using base::ByteView;
using base::Result;

namespace {

constexpr std::string_view kCacheMagic = "glibc-ld.so.cache1.1";
constexpr size_t kCacheHeaderBytes = 48;
constexpr size_t kCacheEntryBytes = 24;
constexpr int64_t kCacheBytesMax = int64_t{64} << 20;
constexpr size_t kLibrariesMax = 4096;

std::optional<std::string> cache_text(ByteView bytes, size_t entry, size_t field) {
  const auto at = base::load_le<uint32_t>(bytes.subspan(entry + field));
  if (at >= bytes.size()) return std::nullopt;
  const std::string_view rest = base::text_of(bytes.subspan(at));
  const size_t end = rest.find('\0');
  if (end == rest.npos) return std::nullopt;
  return std::string(rest.substr(0, end));
}

std::string folder_of(const std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> real(::realpath(path.c_str(), nullptr),
                                                         &std::free);
  const std::string whole = real ? real.get() : path;
  const size_t slash = whole.rfind('/');
  return slash == whole.npos ? "." : whole.substr(0, slash);
}

// Folders with $ORIGIN filled in; those with other variables are left out.
std::vector<std::string> expanded(const std::vector<std::string>& folders,
                                  const std::string& origin) {
  std::vector<std::string> found;
  for (std::string folder : folders) {
    for (const std::string_view variable : {"$ORIGIN", "${ORIGIN}"}) {
      for (size_t at;
           (at = folder.find(variable)) != folder.npos && origin.find('$') == origin.npos;) {
        folder.replace(at, variable.size(), origin);
      }
    }
    if (folder.find('$') == folder.npos) found.push_back(folder);
  }
  return found;
}

class LibraryWalk {
 public:
  explicit LibraryWalk(const LibraryPlaces& places) : places_(places) {}

  Result<std::set<std::string>> from(const std::string& path) {
    TESSERA_TRY(const ElfNeeds first, elf_needs_of(path));
    machine_ = first.machine;
    follow(path, first, {});
    while (!waiting_.empty() && names_.size() < kLibrariesMax) {
      const Wanted next = std::move(waiting_.front());
      waiting_.pop_front();
      find(next);
    }
    return names_;
  }

 private:
  struct Wanted {
    std::string name;
    std::shared_ptr<const std::vector<std::string>> before;  // before LD_LIBRARY_PATH
    std::shared_ptr<const std::vector<std::string>> after;   // after it
    std::vector<std::string> inherited;  // RPATH of the file that needs it and of those above
  };

  // A file with RUNPATH has no RPATH; a file without looks also where those above it look.
  void follow(const std::string& path, const ElfNeeds& needs,
              const std::vector<std::string>& inherited) {
    const std::string origin = folder_of(path);
    std::vector<std::string> chain;
    if (needs.runpath.empty()) chain = expanded(needs.rpath, origin);
    chain.insert(chain.end(), inherited.begin(), inherited.end());
    const auto before = std::make_shared<const std::vector<std::string>>(
        needs.runpath.empty() ? chain : std::vector<std::string>{});
    const auto after =
        std::make_shared<const std::vector<std::string>>(expanded(needs.runpath, origin));
    for (const std::string& name : needs.needed) {
      if (names_.insert(name).second) waiting_.push_back({name, before, after, chain});
    }
  }

  void find(const Wanted& wanted) {
    if (wanted.name.find('/') != std::string::npos) {
      (void)take(wanted, wanted.name);
      return;
    }
    if (in_folders(wanted, *wanted.before) || in_folders(wanted, places_.before) ||
        in_folders(wanted, *wanted.after)) {
      return;
    }
    if (const auto found = places_.cache.find(wanted.name); found != places_.cache.end()) {
      for (const std::string& path : found->second) {
        if (take(wanted, path)) return;
      }
    }
    (void)in_folders(wanted, places_.standard);
  }

  bool in_folders(const Wanted& wanted, const std::vector<std::string>& folders) {
    for (const std::string& folder : folders) {
      if (take(wanted, folder + "/" + wanted.name)) return true;
    }
    return false;
  }

  // As the linker does, passes over files for other machines.
  bool take(const Wanted& wanted, const std::string& path) {
    const auto needs = elf_needs_of(path);
    if (!needs || needs->machine != machine_) return false;
    follow(path, *needs, wanted.inherited);
    return true;
  }

  const LibraryPlaces& places_;
  uint16_t machine_ = 0;
  std::set<std::string> names_;
  std::deque<Wanted> waiting_;
};

}  // namespace

LibraryCache parse_library_cache(ByteView bytes) {
  LibraryCache cache;
  if (bytes.size() < kCacheHeaderBytes || !base::text_of(bytes).starts_with(kCacheMagic)) {
    return cache;
  }
  const auto count = base::load_le<uint32_t>(bytes.subspan(kCacheMagic.size()));
  for (size_t i = 0; i < count; ++i) {
    const size_t entry = kCacheHeaderBytes + i * kCacheEntryBytes;
    if (bytes.size() < entry + kCacheEntryBytes) break;
    const auto name = cache_text(bytes, entry, 4);
    const auto path = cache_text(bytes, entry, 8);
    if (name && path) cache[*name].push_back(*path);
  }
  return cache;
}

LibraryPlaces library_places(std::string_view ld_library_path) {
  LibraryPlaces places;
  places.before = folders_of(ld_library_path);
  const auto cache = read_whole("/etc/ld.so.cache", kCacheBytesMax);
  if (cache) places.cache = parse_library_cache(base::bytes_of(*cache));
  places.standard = {"/lib/x86_64-linux-gnu",
                     "/usr/lib/x86_64-linux-gnu",
                     "/lib64",
                     "/usr/lib64",
                     "/lib",
                     "/usr/lib"};
  return places;
}

Result<std::set<std::string>> libraries_of(const std::string& path, const LibraryPlaces& places) {
  return LibraryWalk(places).from(path);
}

}  // namespace tessera::cli
