#include "tessera/cli/elf_needs.hpp"

#include <elf.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <string_view>

#include "tessera/cli/search_path.hpp"
#include "tessera/port/descriptor.hpp"

namespace tessera::cli {

using base::Bytes;
using base::ByteView;
using base::Code;
using base::Result;

namespace {

constexpr size_t kDynamicBytesMax = size_t{1} << 20;
constexpr size_t kNameBytesMax = size_t{1} << 14;
constexpr size_t kNeededMax = 4096;

base::Failure damaged(const char* what) {
  return base::fail(Code::kInvalid, fmt::format("is a damaged program file: {}", what));
}

Result<Bytes> read_exactly(const ReadAt& read, uint64_t offset, size_t size_bytes,
                           const char* what) {
  TESSERA_TRY(Bytes bytes, read(offset, size_bytes));
  if (bytes.size() != size_bytes) return damaged(what);
  return bytes;
}

// A struct of the format, copied out of bytes that may lie anywhere. Requires that they suffice.
template <typename T>
T struct_at(ByteView bytes, size_t index) {
  T value;
  TESSERA_ASSERT(bytes.size() / sizeof(T) > index);
  std::memcpy(&value, bytes.data() + index * sizeof(T), sizeof(T));
  return value;
}

Result<Elf64_Ehdr> header_of(const ReadAt& read) {
  TESSERA_TRY(const Bytes bytes, read(0, sizeof(Elf64_Ehdr)));
  const auto byte = [&](size_t i) { return std::to_integer<unsigned char>(bytes[i]); };
  if (bytes.size() < SELFMAG || std::memcmp(bytes.data(), ELFMAG, SELFMAG) != 0) {
    return base::fail(Code::kInvalid, "is no ELF file");
  }
  if (bytes.size() < sizeof(Elf64_Ehdr)) return damaged("its header is cut short");
  if (byte(EI_CLASS) != ELFCLASS64 || byte(EI_DATA) != ELFDATA2LSB) {
    return base::fail(Code::kInvalid, "is no 64-bit little-endian program");
  }
  const auto header = struct_at<Elf64_Ehdr>(bytes, 0);
  if (header.e_phnum > 0 && header.e_phentsize != sizeof(Elf64_Phdr)) {
    return damaged("its program headers have a strange size");
  }
  return header;
}

class ElfReader {
 public:
  explicit ElfReader(const ReadAt& read) : read_(read) {}

  Result<ElfNeeds> needs() {
    TESSERA_TRY(const Elf64_Ehdr header, header_of(read_));
    needs_.machine = header.e_machine;
    TESSERA_TRY_VOID(take_segments(header));
    if (!dynamic_) return needs_;
    needs_.dynamic = true;
    TESSERA_TRY_VOID(take_dynamic());
    return needs_;
  }

 private:
  Result<void> take_segments(const Elf64_Ehdr& header) {
    const size_t size_bytes = header.e_phnum * sizeof(Elf64_Phdr);
    TESSERA_TRY(const Bytes bytes, read_exactly(read_, header.e_phoff, size_bytes,
                                                "its program headers are cut short"));
    for (size_t i = 0; i < header.e_phnum; ++i) {
      const auto segment = struct_at<Elf64_Phdr>(bytes, i);
      if (segment.p_type == PT_LOAD) loads_.push_back(segment);
      if (segment.p_type == PT_INTERP) needs_.interpreted = true;
      if (segment.p_type == PT_DYNAMIC) dynamic_ = segment;
    }
    return {};
  }

  // Names come after the place of the names, so the section is looked at twice.
  Result<void> take_dynamic() {
    const size_t size_bytes = std::min<uint64_t>(dynamic_->p_filesz, kDynamicBytesMax);
    TESSERA_TRY(const Bytes bytes, read_exactly(read_, dynamic_->p_offset, size_bytes,
                                                "its dynamic section is cut short"));
    std::vector<Elf64_Dyn> entries;
    for (size_t i = 0; i < bytes.size() / sizeof(Elf64_Dyn); ++i) {
      entries.push_back(struct_at<Elf64_Dyn>(bytes, i));
      if (entries.back().d_tag == DT_NULL) break;
    }
    std::optional<uint64_t> names;
    for (const Elf64_Dyn& entry : entries) {
      if (entry.d_tag == DT_STRTAB) names = file_offset(entry.d_un.d_ptr);
    }
    for (const Elf64_Dyn& entry : entries) TESSERA_TRY_VOID(take_entry(entry, names));
    return {};
  }

  Result<void> take_entry(const Elf64_Dyn& entry, const std::optional<uint64_t>& names) {
    const auto tag = entry.d_tag;
    if (tag != DT_NEEDED && tag != DT_SONAME && tag != DT_RPATH && tag != DT_RUNPATH) return {};
    if (!names) return damaged("it has no table of names");
    TESSERA_TRY(const std::string name, name_at(*names, entry.d_un.d_val));
    if (tag == DT_SONAME) needs_.soname = name;
    if (tag == DT_RPATH) needs_.rpath = folders_of(name);
    if (tag == DT_RUNPATH) needs_.runpath = folders_of(name);
    if (tag == DT_NEEDED) needs_.needed.push_back(name);
    if (needs_.needed.size() > kNeededMax) return damaged("it needs too many libraries");
    return {};
  }

  // Where the file holds what is loaded at an address.
  [[nodiscard]] std::optional<uint64_t> file_offset(uint64_t address) const {
    for (const Elf64_Phdr& load : loads_) {
      if (address < load.p_vaddr || address - load.p_vaddr >= load.p_filesz) continue;
      return load.p_offset + (address - load.p_vaddr);
    }
    return std::nullopt;
  }

  Result<std::string> name_at(uint64_t names, uint64_t offset) {
    uint64_t at = 0;
    if (__builtin_add_overflow(names, offset, &at)) return damaged("a name lies outside it");
    TESSERA_TRY(const Bytes bytes, read_(at, kNameBytesMax));
    const std::string_view text = base::text_of(bytes);
    const size_t end = text.find('\0');
    if (end == text.npos) return damaged("a name does not end");
    return std::string(text.substr(0, end));
  }

  const ReadAt& read_;
  ElfNeeds needs_;
  std::vector<Elf64_Phdr> loads_;
  std::optional<Elf64_Phdr> dynamic_;
};

Result<Bytes> read_at(int descriptor, uint64_t offset, size_t size_bytes) {
  Bytes bytes(size_bytes);
  size_t have = 0;
  while (have < size_bytes && offset + have <= static_cast<uint64_t>(INT64_MAX)) {
    const ssize_t got = ::pread(descriptor, bytes.data() + have, size_bytes - have,
                                static_cast<off_t>(offset + have));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return base::fail_errno(errno, "cannot be read");
    if (got == 0) break;
    have += static_cast<size_t>(got);
  }
  bytes.resize(have);
  return bytes;
}

}  // namespace

Result<ElfNeeds> elf_needs(const ReadAt& read) { return ElfReader(read).needs(); }

Result<ElfNeeds> elf_needs_of(const std::string& path) {
  const auto failed = [&] { return base::fail_errno(errno, fmt::format("cannot read {}", path)); };
  // A pipe of that name must not make us wait for its writer.
  const port::Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status {};
  if (!file.valid() || ::fstat(file.number(), &status) != 0) return failed();
  if (!S_ISREG(status.st_mode)) return base::fail(Code::kInvalid, path + " is no file");
  auto needs = elf_needs([&](uint64_t offset, size_t size_bytes) {
    return read_at(file.number(), offset, size_bytes);
  });
  if (needs) return needs;
  return base::Failure{{needs.error().code, needs.error().errno_value,
                        fmt::format("{} {}", path, needs.error().context)}};
}

}  // namespace tessera::cli
