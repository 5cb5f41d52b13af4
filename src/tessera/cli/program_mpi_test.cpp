// From a program to its MPI: libraries as the dynamic linker finds them, scripts, Python.
#include "tessera/cli/program_mpi.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "tessera/cli/library_search.hpp"
#include "tessera/cli/test_elf.hpp"
#include "tessera/cli/test_folder.hpp"

namespace tessera::cli {
namespace {

using Names = std::set<std::string>;

TestElf needing(std::vector<std::string> libraries) {
  TestElf elf;
  elf.needed = std::move(libraries);
  return elf;
}

TEST(MpiKind, LibraryNames) {
  for (const char* name : {"libmpi.so.40", "libmpi.so.40.30.4", "libmpi_mpifh.so.40",
                           "libmpi_usempif08.so.40", "libmpi_cxx.so.40"}) {
    EXPECT_EQ(mpi_of_library(name), Mpi::kOpenMpi) << name;
  }
  for (const char* name :
       {"libmpich.so.12", "libmpi.so.12", "libmpichfort.so.12", "libmpifort.so.12"}) {
    EXPECT_EQ(mpi_of_library(name), Mpi::kMpich) << name;
  }
  for (const char* name :
       {"", "libmpi.so", "libmpi.so.1", "libmpir.so.40", "libm.so.6", "libmpi.a", "libmpi_thing"}) {
    EXPECT_EQ(mpi_of_library(name), std::nullopt) << name;
  }
}

TEST(LibrarySearch, FindsWhatTheLinkerFinds) {
  const TestFolder folder;
  std::filesystem::create_directories(folder / "app/lib");
  TestElf program = needing({"liba.so"});
  program.runpath = "$ORIGIN/lib";
  program.write(folder / "app/program");
  needing({"libmpi.so.40", "libmissing.so"}).write(folder / "app/lib/liba.so");
  EXPECT_EQ(*libraries_of(folder / "app/program", {}),
            Names({"liba.so", "libmpi.so.40", "libmissing.so"}));
}

TEST(LibrarySearch, RunpathIsOfTheFileAloneRpathIsInherited) {
  const TestFolder folder;
  std::filesystem::create_directory(folder / "lib");
  needing({"libb.so"}).write(folder / "lib/liba.so");
  needing({"libc1.so"}).write(folder / "lib/libb.so");
  TestElf program = needing({"liba.so"});
  program.runpath = folder / "lib";
  program.write(folder / "runpath");
  EXPECT_EQ(*libraries_of(folder / "runpath", {}), Names({"liba.so", "libb.so"}));
  std::swap(program.runpath, program.rpath);
  program.write(folder / "rpath");
  EXPECT_EQ(*libraries_of(folder / "rpath", {}), Names({"liba.so", "libb.so", "libc1.so"}));
}

TEST(LibrarySearch, PlacesInTheLinkersOrder) {
  const TestFolder folder;
  for (const char* name : {"first", "cached", "last"}) {
    std::filesystem::create_directory(folder / name);
    needing({std::string("from-") + name}).write(folder / (std::string(name) + "/liba.so"));
  }
  needing({"liba.so"}).write(folder / "program");
  LibraryPlaces places;
  places.standard = {folder / "last"};
  EXPECT_TRUE(libraries_of(folder / "program", places)->contains("from-last"));
  places.cache["liba.so"] = {folder / "gone/liba.so", folder / "cached/liba.so"};
  EXPECT_TRUE(libraries_of(folder / "program", places)->contains("from-cached"));
  places.before = {folder / "first"};
  EXPECT_TRUE(libraries_of(folder / "program", places)->contains("from-first"));
}

TEST(LibrarySearch, PassesOverOtherMachinesAndCycles) {
  const TestFolder folder;
  std::filesystem::create_directory(folder / "other");
  TestElf other = needing({"from-other"});
  other.machine = EM_AARCH64;
  other.write(folder / "other/liba.so");
  needing({"liba.so", "libself.so"}).write(folder / "liba.so");
  needing({"liba.so"}).write(folder / "program");
  LibraryPlaces places;
  places.before = {folder / "other", folder.path()};
  EXPECT_EQ(*libraries_of(folder / "program", places), Names({"liba.so", "libself.so"}));
}

TEST(LibrarySearch, TheCacheOfThisMachine) {
  const LibraryPlaces places = library_places("/x:/y");
  EXPECT_EQ(places.before, std::vector<std::string>({"/x", "/y"}));
  ASSERT_TRUE(places.cache.contains("libc.so.6"));
  EXPECT_TRUE(libraries_of("/proc/self/exe", places)->contains("libc.so.6"));
}

TEST(LibrarySearch, DamagedCachesAreReadAsFarAsTheyGo) {
  std::string cache = "glibc-ld.so.cache1.1";
  cache += std::string("\x02\0\0\0", 4) + std::string(24, '\0');
  const auto entry = [](char name, char path) {
    return std::string(4, '\0') + name + std::string(3, '\0') + path + std::string(15, '\0');
  };
  cache += entry(96, 102) + entry(102, '\xff');
  cache += std::string("liba\0\0/a/b\0", 11);
  const LibraryCache expected = {{"liba", {"/a/b"}}};
  EXPECT_EQ(parse_library_cache(base::bytes_of(cache)), expected);
  EXPECT_TRUE(parse_library_cache(base::bytes_of(cache.substr(0, cache.size() - 1))).empty());
  for (size_t size = 0; size < cache.size(); ++size) {
    EXPECT_LE(parse_library_cache(base::bytes_of(cache).subspan(0, size)).size(), 1U);
  }
}

TEST(ProgramMpi, InterpretersOfScripts) {
  EXPECT_EQ(interpreter_of("#!/usr/bin/python3\nprint()"), "/usr/bin/python3");
  EXPECT_EQ(interpreter_of("#! /bin/sh -e\n"), "/bin/sh");
  EXPECT_EQ(interpreter_of("#!/usr/bin/env python3\n"), "python3");
  EXPECT_EQ(interpreter_of("#!/usr/bin/env -S X=1 python3 -u\r\n"), "python3");
  EXPECT_EQ(interpreter_of("#!/usr/bin/env"), "/usr/bin/env");
  for (const char* text : {"", "#", "#!", "#!  \n/bin/sh", "echo"}) {
    EXPECT_EQ(interpreter_of(text), "") << text;
  }
}

TEST(ProgramMpi, OfPrograms) {
  const TestFolder folder;
  needing({"libm.so.6", "libmpi.so.40"}).write(folder / "open");
  needing({"libmpich.so.12"}).write(folder / "mpich");
  needing({"libmpich.so.12", "libmpi.so.40"}).write(folder / "both");
  needing({"libm.so.6"}).write(folder / "none");
  TestElf fixed;
  fixed.interpreted = false;
  fixed.write(folder / "static");
  const auto mpi = [&](const char* name) { return mpi_of_program(folder / name, {}); };
  EXPECT_EQ(mpi("open")->mpi, Mpi::kOpenMpi);
  EXPECT_EQ(mpi("mpich")->mpi, Mpi::kMpich);
  EXPECT_EQ(mpi("none")->mpi, std::nullopt);
  EXPECT_EQ(mpi("none")->unknown, folder / "none" + " links no MPI");
  EXPECT_EQ(mpi("both")->mpi, std::nullopt);
  EXPECT_EQ(mpi("both")->unknown, folder / "both" + " links Open MPI and MPICH");
  EXPECT_NE(mpi("static").error().message().find("linked statically"), std::string::npos);
}

TEST(ProgramMpi, OfScripts) {
  const TestFolder folder;
  needing({"libmpich.so.12"}).write(folder / "interpreter");
  std::filesystem::permissions(folder / "interpreter", std::filesystem::perms(0755));
  Surroundings around;
  around.path_list = folder.path();
  const auto mpi = [&](const std::string& first_line) {
    return mpi_of_program(folder.script("script", first_line), around);
  };
  EXPECT_EQ(mpi("#!" + (folder / "interpreter") + "\n")->mpi, Mpi::kMpich);
  EXPECT_EQ(mpi("#!/usr/bin/env interpreter\n")->mpi, Mpi::kMpich);
  EXPECT_EQ(mpi("echo, which only a shell would run\n")->mpi, std::nullopt);
  EXPECT_EQ(mpi("#!" + (folder / "script") + "\n")->mpi, std::nullopt);
  EXPECT_EQ(mpi("#!/no/such/interpreter\n").error().code, base::Code::kNotFound);
}

// A Python is asked where mpi4py lies; these answer as one would.
TEST(ProgramMpi, OfPython) {
  const TestFolder folder;
  needing({"libmpi.so.40"}).write(folder / "MPI.open.so");
  needing({"libmpi.so.12"}).write(folder / "MPI.mpich.so");
  const auto mpi = [&](const std::string& answer) {
    const std::string python = folder.script("python3", "#!/bin/sh\n" + answer + "\n");
    return *mpi_of_program(folder.script("program.py", "#!" + python + "\n"), {});
  };
  const auto unknown = [&](const std::string& answer, const std::string& why) {
    const ProgramMpi found = mpi(answer);
    EXPECT_EQ(found.mpi, std::nullopt) << answer;
    EXPECT_NE(found.unknown.find(why), std::string::npos) << found.unknown;
  };
  EXPECT_EQ(mpi("echo " + (folder / "MPI.open.so")).mpi, Mpi::kOpenMpi);
  EXPECT_EQ(mpi("echo " + (folder / "MPI.mpich.so")).mpi, Mpi::kMpich);
  unknown("echo " + (folder / "MPI.open.so") + "; echo " + (folder / "MPI.mpich.so"),
          "does not link one MPI");
  unknown("exit 0", "/python3 has no mpi4py");
  unknown("echo " + (folder / "MPI.open.so") + "; exit 1", "does not say where its mpi4py is");
  unknown("echo /no/such/file", "does not link one MPI");
}

}  // namespace
}  // namespace tessera::cli
