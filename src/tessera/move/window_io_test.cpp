#include "tessera/move/window_io.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "tessera/lock/fcntl_locks.hpp"
#include "tessera/move/test_moves.hpp"
#include "tessera/port/plain_file.hpp"

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

}  // namespace
}  // namespace tessera::move
