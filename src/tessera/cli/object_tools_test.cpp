// The tools of object files, without the program around them.
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <string>

#include "tessera/base/checksum.hpp"
#include "tessera/base/json.hpp"
#include "tessera/cli/check_command.hpp"
#include "tessera/cli/file_kind.hpp"
#include "tessera/cli/files.hpp"
#include "tessera/cli/object_transfer.hpp"
#include "tessera/cli/output_file.hpp"
#include "tessera/cli/show_command.hpp"
#include "tessera/cli/show_page.hpp"
#include "tessera/cli/show_text.hpp"
#include "tessera/cli/test_folder.hpp"
#include "tessera/container/test_object_file.hpp"
#include "tessera/port/seeded_random.hpp"
#include "tessera/port/test_seed.hpp"

namespace tessera::cli {
namespace {

constexpr int64_t kAll = int64_t{1} << 30;

std::unique_ptr<port::PlainFile> fresh(const std::string& path) {
  std::filesystem::remove(path);
  auto file = port::PlainFile::open(path, {.read = true, .write = true, .create = true});
  EXPECT_TRUE(file) << file.error().message();
  return *std::move(file);
}

std::string content_of(const std::string& path) {
  const auto content = read_whole(path, kAll);
  EXPECT_TRUE(content) << content.error().message();
  return *content;
}

size_t count_of(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

// An object file of a few writers, some bytes overwritten, some never written.
container::Contents random_object(const std::string& path, port::Random& random,
                                  std::string& text) {
  const auto file = fresh(path);
  auto object = container::TestObjectFile::create(*file, random);
  EXPECT_TRUE(object);
  const auto writes = static_cast<int>(1 + random.uniform(8));
  for (int i = 0; i < writes; ++i) {
    const auto begin = static_cast<int64_t>(random.uniform(3000));
    const auto length = static_cast<int64_t>(1 + random.uniform(40));
    const auto count = static_cast<int64_t>(1 + random.uniform(30));
    const auto stride = length + static_cast<int64_t>(random.uniform(50));
    EXPECT_TRUE(object->write(container::test_set(begin, length, count, stride), random,
                              static_cast<int32_t>(random.uniform(3))));
  }
  if (random.chance(1, 3)) object->truncate(static_cast<int64_t>(random.uniform(4000)));
  EXPECT_TRUE(object->sync_data());
  EXPECT_TRUE(object->commit());
  text = object->text();
  return object->contents();
}

TEST(ObjectTools, ExportGivesWhatWasWritten) {
  const TestFolder folder;
  port::SeededRandom random(port::test_seed());
  for (int round = 0; round < 30; ++round) {
    std::string text;
    random_object(folder / "o", random, text);
    auto opened = open_object(folder / "o");
    ASSERT_TRUE(opened) << opened.error().message();
    const auto to = fresh(folder / "p");
    const auto report = export_bytes(*opened, *to, {});
    ASSERT_TRUE(report) << report.error().message();
    EXPECT_EQ(report->size_bytes, std::ssize(text));
    ASSERT_EQ(content_of(folder / "p"), text);
  }
}

std::string random_views(port::Random& random) {
  std::string views;
  const auto count = 1 + random.uniform(4);
  for (uint64_t i = 0; i < count; ++i) {
    const auto length = 1 + random.uniform(9);
    views +=
        fmt::format(R"({}{{"type": {{"vector": {{"count": {}, "blocklength": {}, "stride": {}}}}},)"
                    R"( "displacement": {}}})",
                    views.empty() ? "" : ", ", 1 + random.uniform(60), length,
                    length + random.uniform(20), random.uniform(50));
  }
  return fmt::format(R"({{"size": {}, "views": [{}]}})", 1 + random.uniform(2500), views);
}

TEST(ObjectTools, ImportStoresEveryByteOnceAndEachViewsBytesInOneAllocation) {
  const TestFolder folder;
  port::SeededRandom random(port::test_seed());
  for (int round = 0; round < 30; ++round) {
    std::string text(random.uniform(3000), '\0');
    random.fill(std::as_writable_bytes(std::span(text)));
    std::ofstream(folder / "p", std::ios::binary) << text;
    const auto views = object::parse_views(random_views(random));
    ASSERT_TRUE(views) << views.error().message();
    const auto from = open_regular(folder / "p", port::Access::kRead);
    const auto to = fresh(folder / "o");
    const auto report = import_bytes(**from, *to, random.chance(1, 4) ? nullptr : &*views, {});
    ASSERT_TRUE(report) << report.error().message();
    EXPECT_EQ(report->stored_bytes, std::ssize(text));
    ASSERT_EQ(*container::read_all(*to), text);
    const auto checked = container::check(*to);
    ASSERT_TRUE(checked && checked->flawless());
    const auto opened = open_object(folder / "o");
    EXPECT_EQ(opened->contents.map.covered_bytes(), std::ssize(text));
    EXPECT_LE(std::ssize(opened->contents.allocations), std::ssize(views->views) + 1);
  }
}

TEST(ObjectTools, FactsCountEveryByteOfTheContainer) {
  const TestFolder folder;
  port::SeededRandom random(port::test_seed());
  for (int round = 0; round < 15; ++round) {
    std::string text;
    const container::Contents contents = random_object(folder / "o", random, text);
    const auto opened = open_object(folder / "o");
    const container::Superblock& root = opened->container.superblock();
    auto facts = facts_of("o", root, contents);
    ASSERT_TRUE(facts) << facts.error().message();
    const int64_t block = root.block_bytes;
    const int64_t blob = (root.blob.length() + block - 1) / block * block;
    EXPECT_EQ(container::header_end(block) + facts->allocated_bytes + facts->free_bytes + blob,
              root.end);
    EXPECT_EQ(facts->visible_bytes + facts->dead_bytes, facts->allocated_bytes);
    int64_t visible = 0;
    int64_t runs = 0;
    for (const WriterFacts& writer : facts->writers) {
      visible += writer.visible_bytes;
      runs += writer.runs;
    }
    EXPECT_EQ(visible, facts->visible_bytes);
    EXPECT_EQ(runs, facts->runs);
  }
}

TEST(ObjectTools, ViewsAreDescribed) {
  const auto tile = pattern::Pattern::run({{0}}, 4).value();
  EXPECT_EQ(view_text({0, 8, 4, 16, tile}), "4 of every 16 bytes in 1 run from byte 8 on");
  EXPECT_EQ(view_text({0, 0, 4, 4, tile}), "all bytes");
}

TEST(ObjectTools, ImpossibleViewsAreShownAsUnknown) {
  const TestFolder folder;
  const auto file = fresh(folder / "o");
  port::SeededRandom random(port::test_seed());
  auto object = container::TestObjectFile::create(*file, random);
  ASSERT_TRUE(object->write(container::test_set(0, 100), random));
  // The tiles would overlap.
  const auto tile = pattern::Pattern::run({{0}}, 40).value();
  object->contents().views.push_back({7, 0, 1, 10, tile});
  ASSERT_TRUE(object->sync_data());
  ASSERT_TRUE(object->commit());
  ShowOptions options;
  options.path = folder / "o";
  const auto text = show_output(options);
  ASSERT_TRUE(text) << text.error().message();
  EXPECT_NE(text->find("P7"), std::string::npos) << *text;
  EXPECT_NE(text->find("?"), std::string::npos) << *text;
  options.json = true;
  const auto json = base::Json::parse(*show_output(options));
  ASSERT_TRUE(json) << json.error().message();
  EXPECT_EQ(json->find("writers")->array()->size(), 2U);
}

// Object sets end before the largest file does.
TEST(ObjectTools, TheLargestFileIsShownWithoutItsObjects) {
  const TestFolder folder;
  const auto file = fresh(folder / "o");
  port::SeededRandom random(port::test_seed());
  auto object = container::TestObjectFile::create(*file, random);
  ASSERT_TRUE(object->write(container::test_set(0, 100), random));
  const auto tile = pattern::Pattern::run({{0}}, 4).value();
  object->contents().views.push_back({0, 0, 1, 8, tile});
  object->contents().size = pattern::kMaxPosition;
  ASSERT_TRUE(object->sync_data());
  ASSERT_TRUE(object->commit());
  ShowOptions options;
  options.path = folder / "o";
  const auto text = show_output(options);
  ASSERT_TRUE(text) << text.error().message();
  EXPECT_NE(text->find("P0"), std::string::npos) << *text;
}

TEST(ObjectTools, PicturesAreBoundedAndShowTheWriters) {
  const TestFolder folder;
  port::SeededRandom random(port::test_seed());
  const auto file = fresh(folder / "o");
  auto object = container::TestObjectFile::create(*file, random);
  for (int32_t i = 0; i < 40; ++i) {
    ASSERT_TRUE(object->write(container::test_set(int64_t{3} * i, 1, 5000, 120), random, i));
  }
  ASSERT_TRUE(object->sync_data());
  ASSERT_TRUE(object->commit());
  const auto opened = open_object(folder / "o");
  const auto facts = facts_of("o", opened->container.superblock(), opened->contents);
  for (const std::string& svg : {file_order_picture(*facts, opened->contents),
                                 container_order_picture(*facts, opened->contents)}) {
    EXPECT_LT(count_of(svg, "<rect"), 19U * 400);
    EXPECT_EQ(count_of(svg, ">P15<"), 1U);
    EXPECT_EQ(count_of(svg, ">P16<"), 0U);
    EXPECT_EQ(count_of(svg, ">all others<"), 1U);
  }
  // Writers alternate byte by byte, so the file is even: one shape a row.
  EXPECT_LE(count_of(file_order_picture(*facts, opened->contents), "<rect"), 3U * 17);
}

TEST(ObjectTools, EmptyFilesCanBeShown) {
  const TestFolder folder;
  const auto file = fresh(folder / "o");
  port::SeededRandom random(port::test_seed());
  ASSERT_TRUE(container::Container::create(*file, random));
  ShowOptions options;
  options.path = folder / "o";
  options.html_path = folder / "o.html";
  const auto text = show_output(options);
  ASSERT_TRUE(text) << text.error().message();
  EXPECT_NE(text->find("object file of 0 bytes"), std::string::npos) << *text;
}

// The format version of a superblock, with a checksum that fits.
void set_version(port::File& file, uint32_t version) {
  constexpr size_t kVersionAt = 8;
  const auto size = static_cast<size_t>(container::kSuperblockBytes);
  for (const size_t copy : {size_t{0}, size_t{1}}) {
    const int64_t at = container::copy_offset(container::kFormatVersion, copy);
    base::Bytes bytes(size);
    ASSERT_TRUE(file.read_at(at, bytes));
    base::Bytes changed = base::copy_of(base::ByteView(bytes).first(kVersionAt));
    base::ByteWriter writer(changed);
    writer.u32(version);
    writer.bytes(base::ByteView(bytes).subspan(kVersionAt + 4, size - kVersionAt - 4 - 8));
    writer.u64(base::checksum(changed));
    ASSERT_TRUE(file.write_at(at, changed));
  }
}

TEST(ObjectTools, NewerFilesAreRefusedAndNotCalledDamaged) {
  const TestFolder folder;
  const auto file = fresh(folder / "o");
  port::SeededRandom random(port::test_seed());
  ASSERT_TRUE(container::Container::create(*file, random));
  set_version(*file, container::kFormatVersion);
  EXPECT_EQ(*kind_of(*file), FileKind::kObject);
  set_version(*file, container::kFormatVersion + 1);
  const auto kind = kind_of(*file);
  ASSERT_FALSE(kind);
  EXPECT_EQ(kind.error().code, base::Code::kInvalid) << kind.error().message();
  EXPECT_EQ(run_check({.path = folder / "o"}), ExitCode::kError);
}

TEST(ObjectTools, OutputAppearsWholeOrNotAtAll) {
  const TestFolder folder;
  const std::string path = folder / "out";
  {
    auto output = OutputFile::create(path, {});
    ASSERT_TRUE(output);
    EXPECT_FALSE(std::filesystem::exists(path));
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
  auto output = OutputFile::create(path, {.permissions = 0600});
  ASSERT_TRUE(output->finish());
  struct stat status {};
  ASSERT_EQ(::stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0600U);
  EXPECT_FALSE(OutputFile::create(path, {}));
  EXPECT_TRUE(OutputFile::create(path, {.replace = true}));
  EXPECT_FALSE(OutputFile::create(folder.path(), {.replace = true}));
}

TEST(ObjectTools, ChecksTellHowMuchWasLeftOut) {
  container::CheckReport found;
  found.findings = {"one \x1b[31m"};
  found.finding_count = 5;
  const std::string text = check_text("o", found);
  EXPECT_NE(text.find("damaged, 5 findings"), std::string::npos) << text;
  EXPECT_NE(text.find("... and 4 more"), std::string::npos) << text;
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace tessera::cli
