// Small ELF files made by tests: just what the dynamic linker would read of them.
#pragma once

#include <elf.h>

#include <cstring>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "tessera/base/bytes.hpp"

namespace tessera::cli {

struct TestElf {
  std::vector<std::string> needed;
  std::string soname;
  std::string rpath;
  std::string runpath;
  bool interpreted = true;
  uint16_t machine = EM_X86_64;

  // Header, three program headers, dynamic section, names; loaded at 0x1000.
  [[nodiscard]] std::string bytes() const {
    std::string names(1, '\0');
    std::vector<Elf64_Dyn> entries;
    const auto name = [&](Elf64_Sxword tag, const std::string& text) {
      entries.push_back({tag, {names.size()}});
      names += text + '\0';
    };
    for (const std::string& library : needed) name(DT_NEEDED, library);
    if (!soname.empty()) name(DT_SONAME, soname);
    if (!rpath.empty()) name(DT_RPATH, rpath);
    if (!runpath.empty()) name(DT_RUNPATH, runpath);
    constexpr size_t kDynamicAt = sizeof(Elf64_Ehdr) + 3 * sizeof(Elf64_Phdr);
    const size_t dynamic_bytes = (entries.size() + 2) * sizeof(Elf64_Dyn);
    entries.push_back({DT_STRTAB, {kAddress + kDynamicAt + dynamic_bytes}});
    entries.push_back({DT_NULL, {0}});
    const size_t size = kDynamicAt + dynamic_bytes + names.size();
    std::string file = header();
    append(file, segment(PT_LOAD, 0, size));
    append(file, segment(PT_DYNAMIC, kDynamicAt, dynamic_bytes));
    append(file, segment(interpreted ? PT_INTERP : PT_NULL, kDynamicAt, 0));
    for (const Elf64_Dyn& entry : entries) append(file, entry);
    return file + names;
  }

  void write(const std::string& path) const {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes();
  }

 private:
  static constexpr uint64_t kAddress = 0x1000;

  template <typename T>
  static void append(std::string& file, const T& part) {
    file.append(reinterpret_cast<const char*>(&part), sizeof(part));
  }

  [[nodiscard]] std::string header() const {
    Elf64_Ehdr start{};
    std::memcpy(start.e_ident, ELFMAG, SELFMAG);
    start.e_ident[EI_CLASS] = ELFCLASS64;
    start.e_ident[EI_DATA] = ELFDATA2LSB;
    start.e_type = ET_DYN;
    start.e_machine = machine;
    start.e_phoff = sizeof(Elf64_Ehdr);
    start.e_phentsize = sizeof(Elf64_Phdr);
    start.e_phnum = 3;
    std::string file;
    append(file, start);
    return file;
  }

  static Elf64_Phdr segment(uint32_t type, uint64_t offset, uint64_t size_bytes) {
    Elf64_Phdr part{};
    part.p_type = type;
    part.p_offset = offset;
    part.p_vaddr = kAddress + offset;
    part.p_filesz = size_bytes;
    part.p_memsz = size_bytes;
    return part;
  }
};

}  // namespace tessera::cli
