#include "tessera/cli/elf_needs.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "tessera/cli/files.hpp"
#include "tessera/cli/test_elf.hpp"
#include "tessera/cli/test_folder.hpp"

namespace tessera::cli {
namespace {

using base::Bytes;
using base::Result;

Result<ElfNeeds> needs_of(const std::string& text) {
  return elf_needs([&](uint64_t offset, size_t size_bytes) -> Result<Bytes> {
    if (offset >= text.size()) return Bytes{};
    return base::copy_of(base::bytes_of(std::string_view(text).substr(offset, size_bytes)));
  });
}

bool names(const std::vector<std::string>& needed, const std::string& start) {
  return std::any_of(needed.begin(), needed.end(),
                     [&](const std::string& name) { return name.starts_with(start); });
}

TEST(ElfNeeds, OfThisProgram) {
  const auto needs = elf_needs_of("/proc/self/exe");
  ASSERT_TRUE(needs) << needs.error().message();
  EXPECT_TRUE(needs->dynamic);
  EXPECT_TRUE(needs->interpreted);
  EXPECT_TRUE(names(needs->needed, "libc.so"));
  EXPECT_TRUE(names(needs->needed, "libstdc++.so"));
  EXPECT_EQ(needs->soname, "");
}

TEST(ElfNeeds, OfASystemLibrary) {
  const auto needs = elf_needs_of("/lib/x86_64-linux-gnu/libm.so.6");
  ASSERT_TRUE(needs) << needs.error().message();
  EXPECT_EQ(needs->soname, "libm.so.6");
  EXPECT_EQ(needs->needed, std::vector<std::string>({"libc.so.6", "ld-linux-x86-64.so.2"}));
  EXPECT_EQ(needs->machine, EM_X86_64);
}

TEST(ElfNeeds, AllThatIsWritten) {
  TestElf elf;
  elf.needed = {"liba.so.1", "libb.so"};
  elf.soname = "libtest.so.3";
  elf.rpath = "/r1::/r2";
  elf.runpath = "$ORIGIN/../lib";
  const auto needs = needs_of(elf.bytes());
  ASSERT_TRUE(needs) << needs.error().message();
  EXPECT_EQ(needs->needed, elf.needed);
  EXPECT_EQ(needs->soname, elf.soname);
  EXPECT_EQ(needs->rpath, std::vector<std::string>({"/r1", "/r2"}));
  EXPECT_EQ(needs->runpath, std::vector<std::string>({"$ORIGIN/../lib"}));
}

TEST(ElfNeeds, StaticProgramsNameNoLinker) {
  TestElf elf;
  elf.interpreted = false;
  const auto needs = needs_of(elf.bytes());
  ASSERT_TRUE(needs);
  EXPECT_FALSE(needs->interpreted);
}

TEST(ElfNeeds, RefusesWhatIsNoProgram) {
  const auto refused = [](const std::string& text, const std::string& cause) {
    const auto needs = needs_of(text);
    ASSERT_FALSE(needs);
    EXPECT_EQ(needs.error().code, base::Code::kInvalid);
    EXPECT_NE(needs.error().message().find(cause), std::string::npos) << needs.error().message();
  };
  refused("", "no ELF file");
  refused("#!/bin/sh\n", "no ELF file");
  refused(
      "\x7f"
      "ELF",
      "header is cut short");
  std::string narrow = TestElf().bytes();
  narrow[EI_CLASS] = ELFCLASS32;
  refused(narrow, "no 64-bit");
  std::string sizes = TestElf().bytes();
  sizes[offsetof(Elf64_Ehdr, e_phentsize)] = 9;
  refused(sizes, "strange size");
}

TEST(ElfNeeds, MessagesNameTheFile) {
  const TestFolder folder;
  EXPECT_EQ(elf_needs_of(folder / "none").error().code, base::Code::kNotFound);
  EXPECT_EQ(elf_needs_of(folder.path()).error().message(), folder.path() + " is no file");
  const std::string script = folder.script("script", "#!/bin/sh\n");
  EXPECT_EQ(elf_needs_of(script).error().message(), script + " is no ELF file");
}

// The names stand last, so a file cut short anywhere lacks at least one.
TEST(ElfNeeds, CutShortAnywhere) {
  TestElf elf;
  elf.needed = {"libmpi.so.40", "libc.so.6"};
  elf.runpath = "/opt/lib";
  const std::string whole = elf.bytes();
  ASSERT_TRUE(needs_of(whole));
  for (size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(needs_of(whole.substr(0, size))) << size;
  }
}

TEST(ElfNeeds, DamagedAnywhere) {
  TestElf elf;
  elf.needed = {"libmpi.so.40", "libc.so.6"};
  const auto real = read_whole("/lib/x86_64-linux-gnu/libm.so.6", int64_t{16} << 20);
  ASSERT_TRUE(real);
  std::mt19937_64 random(20261115);
  for (const std::string& whole : {elf.bytes(), real->substr(0, 1 << 16)}) {
    for (int round = 0; round < 4000; ++round) {
      std::string text = whole;
      // Offsets and sizes lie in the first kilobyte.
      for (int i = 0; i < 8; ++i) text[random() % 1024 % text.size()] = static_cast<char>(random());
      text.replace(0, SELFMAG, ELFMAG);
      const auto needs = needs_of(text);
      EXPECT_TRUE(needs || needs.error().code == base::Code::kInvalid);
    }
  }
}

}  // namespace
}  // namespace tessera::cli
