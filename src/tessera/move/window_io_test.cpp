#include "tessera/move/window_io.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "tessera/lock/fcntl_locks.hpp"
#include "tessera/move/independent.hpp"
#include "tessera/move/test_moves.hpp"
#include "tessera/port/plain_file.hpp"
#include "tessera/port/test_directory.hpp"
#include "tessera/port/test_interrupted_memory.hpp"

namespace tessera::move {
namespace {

using model::Chance;
using model::Contents;
using pattern::model::rounds;
using pattern::model::seed;
using pattern::model::seed_note;
using pattern::model::uniform;

constexpr int64_t kFileEnd = 300;

// A file of this machine, where every way to write a window with gaps is open.
class WindowOnPlainFile : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "tessera-window-XXXXXX").string();
    const int made = ::mkstemp(name.data());
    ASSERT_GE(made, 0);
    ::close(made);
    path_ = name;
  }
  void TearDown() override { std::filesystem::remove(path_); }

  std::unique_ptr<port::PlainFile> open(bool read) {
    return port::PlainFile::open(path_, {.read = read, .write = true}).value();
  }

  void fill(const Contents& contents) const {
    std::ofstream out(path_, std::ios::binary | std::ios::trunc);
    out.write(reinterpret_cast<const char*>(contents.data()), std::ssize(contents));
  }

  [[nodiscard]] Contents stored() const {
    Contents contents(std::filesystem::file_size(path_));
    std::ifstream in(path_, std::ios::binary);
    in.read(reinterpret_cast<char*>(contents.data()), std::ssize(contents));
    return contents;
  }

 private:
  std::string path_;
};

// A window in which a random pattern was provided.
struct Provided {
  Provided(Chance& chance, int64_t end) {
    do {
      places = model::random_file(chance, end);
    } while (places.empty());
    bytes = model::random_contents(chance, places.span().length());
    map_memory.resize(static_cast<size_t>(CoverageMap::memory_bytes(places.span().length())));
    CoverageMap(map_memory).mark(places, {0, places.size()}, places.span().begin);
  }

  [[nodiscard]] Contents after(Contents file) const {
    const Interval span = places.span();
    if (std::ssize(file) < span.end) file.resize(static_cast<size_t>(span.end));
    for (const auto& place : pattern::model::positions(places)) {
      file[static_cast<size_t>(place[0])] = bytes[static_cast<size_t>(place[0] - span.begin)];
    }
    return file;
  }

  Pattern places;
  Contents bytes;
  std::vector<std::byte> map_memory;
};

// Costs under which windows with gaps are never written by list.
Costs costly_lists() {
  Costs costs;
  costs.listed_write_ns = 1e9;
  return costs;
}

TEST_F(WindowOnPlainFile, EveryWayWritesTheProvidedBytesOnly) {
  Chance chance(seed());
  Hints hints;
  const Costs costs[] = {Costs(), costly_lists()};
  for (int round = 0; round < rounds(200); ++round) {
    const Contents before = model::random_contents(chance, uniform(chance, 0, kFileEnd));
    fill(before);
    Provided window(chance, kFileEnd);
    const Contents expected = window.after(before);
    hints.ds_write = static_cast<Toggle>(uniform(chance, 0, 2));
    const auto file = open(uniform(chance, 0, 3) != 0);
    lock::FcntlLocks locks(*file);
    Context context = {*file, locks, hints, costs[round % 2], {}, {}};
    const Interval span = window.places.span();
    const Outcome outcome =
        write_covered({span, window.bytes.data()}, CoverageMap(window.map_memory), context);
    ASSERT_TRUE(outcome.status) << seed_note(round);
    ASSERT_EQ(outcome.end, span.end) << seed_note(round);
    ASSERT_EQ(stored(), expected) << seed_note(round);
  }
}

TEST_F(WindowOnPlainFile, AFullWindowIsWrittenInOneGo) {
  Chance chance(seed());
  const auto file = open(false);
  lock::FcntlLocks locks(*file);
  const Hints hints;
  const Costs costs;
  Context context = {*file, locks, hints, costs, {}, {}};
  Contents bytes = model::random_contents(chance, 100);
  std::vector<std::byte> memory(static_cast<size_t>(CoverageMap::memory_bytes(100)));
  CoverageMap map(memory);
  map.mark(Pattern::run({{7}}, 100).value(), {0, 100}, 7);
  const Outcome outcome = write_covered({{7, 107}, bytes.data()}, map, context);
  ASSERT_TRUE(outcome.status);
  EXPECT_EQ(outcome.end, 107);
  Contents expected(7);
  expected.insert(expected.end(), bytes.begin(), bytes.end());
  EXPECT_EQ(stored(), expected);
}

// Somebody makes the file shorter while a window with gaps is stored through a mapping.
TEST_F(WindowOnPlainFile, AWindowIsThereThoughTheFileWasCutMeanwhile) {
  const auto file = open(true);
  if (!can_map(*file)) GTEST_SKIP() << "the folder for temporary files is not on a local disk";
  lock::FcntlLocks locks(*file);
  const Hints hints;
  const Costs costs = costly_lists();
  Context context = {*file, locks, hints, costs, {}, {}};
  const port::TestDirectory directory;
  constexpr int64_t kPage = port::InterruptedMemory::kPage;
  // All pages of the file stay, so that nothing faults.
  const port::InterruptedMemory bytes(directory.path("memory"), std::byte{7},
                                      [&] { ASSERT_TRUE(file->truncate(kPage + 1)); });
  constexpr int64_t kPlaces = 262;
  const Pattern places = pattern::repeat(Pattern::run({{0}}, 8).value(), kPlaces, {{16}}).value();
  std::vector<std::byte> memory(static_cast<size_t>(CoverageMap::memory_bytes(places.span().end)));
  CoverageMap map(memory);
  map.mark(places, {0, places.size()}, 0);
  const Window window = {{0, places.span().end}, bytes.data() + kPage - 50};
  const Outcome outcome = write_covered(window, map, context);
  ASSERT_TRUE(outcome.status);
  EXPECT_EQ(bytes.interruptions(), 1);
  const Contents found = stored();
  ASSERT_EQ(std::ssize(found), places.span().end);
  for (size_t i = 0; i < kPlaces; ++i) ASSERT_EQ(found[16 * i], std::byte{7}) << i;
}

}  // namespace
}  // namespace tessera::move
