#include "tessera/object/views_text.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "tessera/object/tile_wall.hpp"
#include "tessera/pattern/assembler.hpp"
#include "tessera/port/test_seed.hpp"

namespace tessera::object {
namespace {

using pattern::ByteSet;
using pattern::Pattern;

ByteSet set_of_runs(const std::vector<pattern::Run>& runs) {
  return ByteSet::of(pattern_of_runs(runs).value()).value();
}

Pattern repeated(const Pattern& part, int64_t count, int64_t stride) {
  return repeat(part, count, {{stride}}).value();
}

ViewsFile file_of(int64_t size, const std::vector<ByteSet>& views) {
  ViewsFile file;
  file.range = {0, size};
  for (const ByteSet& bytes : views) {
    const auto process = static_cast<Process>(file.views.size());
    file.views.push_back({process, "P" + std::to_string(process), bytes});
  }
  return file;
}

// The text of a file, after a check that it says what the file does (W1).
std::string checked_text(const ViewsFile& file, const std::string& comment = "") {
  const auto text = text_of_views(file, comment);
  EXPECT_TRUE(text) << text.error().message();
  if (!text) return {};
  const auto read = parse_views(*text);
  EXPECT_TRUE(read) << read.error().message() << "\n" << text->substr(0, 4000);
  if (!read) return {};
  EXPECT_EQ(read->range, file.range);
  EXPECT_EQ(read->disjoint, file.disjoint);
  EXPECT_EQ(read->views.size(), file.views.size());
  for (size_t i = 0; i < std::min(read->views.size(), file.views.size()); ++i) {
    EXPECT_EQ(read->views[i].process, file.views[i].process);
    EXPECT_EQ(read->views[i].name, file.views[i].name);
    EXPECT_EQ(read->views[i].bytes.size(), file.views[i].bytes.size());
    EXPECT_EQ(equal(read->views[i].bytes, file.views[i].bytes).value(), true)
        << "view " << i << " of\n"
        << text->substr(0, 4000);
  }
  return *text;
}

TEST(ViewsText, SaysWhatAPersonWouldHaveWritten) {
  const Pattern rows = repeated(Pattern::run({{100}}, 10).value(), 4, 50);
  EXPECT_EQ(checked_text(file_of(1000, {set_of_runs({{0, 7}}), ByteSet::of_ascending(rows)})),
            "{\n"
            "  \"size\": 1000,\n"
            "  \"views\": [\n"
            "    {\"type\": 7},\n"
            "    {\"displacement\": 100, \"type\": {\"vector\": {\"count\": 4, \"stride_bytes\": "
            "50, \"of\": 10}}}\n"
            "  ]\n"
            "}\n");
}

TEST(ViewsText, KeepsRangeNamesProcessesAndComment) {
  ViewsFile file;
  file.range = {10, 40};
  file.disjoint = true;
  file.views = {{7, "left \"half\"", set_of_runs({{12, 3}})}, {1, "P1", set_of_runs({{20, 9}})}};
  const std::string comment = "views of a \"file\"";
  EXPECT_TRUE(checked_text(file, comment).starts_with(text_begin(comment)));
  EXPECT_FALSE(checked_text(file, comment).starts_with(text_begin("views of a")));
}

TEST(ViewsText, WritesNestedPatternsAsTheyAreBuilt) {
  const Pattern planes = repeated(
      repeated(repeated(Pattern::run({{5}}, 8).value(), 100, 20), 1000, 4000), 50, 8'000'000);
  EXPECT_LT(checked_text(file_of(int64_t{1} << 40, {ByteSet::of_ascending(planes)})).size(), 300U);

  // A part at places without rule, and single runs behind it.
  pattern::Assembler<1> mixed;
  const std::vector<int64_t> places = {3, 5000, 11'000, 30'000};
  for (const int64_t place : places) {
    mixed.append(repeated(Pattern::run({{place}}, 4).value(), 200, 10));
  }
  mixed.append_run({{50'000}}, 3);
  mixed.append_run({{50'010}}, 9);
  mixed.append_run({{50'100}}, 1);
  const Pattern bytes = mixed.finish().value();
  EXPECT_LT(checked_text(file_of(100'000, {ByteSet::of_ascending(bytes)})).size(), 500U);
}

TEST(ViewsText, WritesEmptyViewsAndIrregularOnes) {
  std::vector<pattern::Run> lengths_differ;
  std::vector<pattern::Run> places_differ;
  std::mt19937_64 random(port::test_seed());
  int64_t end = 0;
  for (int i = 0; i < 2000; ++i) {
    const int64_t begin = end + 1 + static_cast<int64_t>(random() % 100);
    const int64_t length = 1 + static_cast<int64_t>(random() % 50);
    lengths_differ.push_back({begin, length});
    places_differ.push_back({begin + 49 * (i + 1), 4});
    end = begin + length;
  }
  const auto file = file_of(int64_t{1} << 30,
                            {ByteSet(), set_of_runs(lengths_differ), set_of_runs(places_differ)});
  EXPECT_LT(checked_text(file).size(), 2000U * 30);
}

TEST(ViewsText, TheWallOfThePaperIsAFewKilobytes) {
  const auto file = file_of(kPaperWall.file_bytes(), reader_views(kPaperWall));
  EXPECT_LT(checked_text(file).size(), 12'000U);
}

TEST(ViewsText, ATextThatNobodyCouldReadIsRefused) {
  EXPECT_EQ(text_of_views(file_of(10, {})).error().code, base::Code::kInvalid);
  EXPECT_EQ(text_of_views(file_of(0, {ByteSet()})).error().code, base::Code::kInvalid);
  ViewsFile nobody = file_of(10, {ByteSet()});
  nobody.views.front().process = -1;
  EXPECT_EQ(text_of_views(nobody).error().code, base::Code::kInvalid);
  std::vector<pattern::Run> runs;
  std::mt19937_64 random(port::test_seed());
  int64_t at = 0;
  for (int i = 0; i < 1'000'000; ++i) {
    at += 10 + static_cast<int64_t>(random() % 100);
    runs.push_back({at, 1 + static_cast<int64_t>(random() % 9)});
  }
  const auto refused = text_of_views(file_of(int64_t{1} << 40, {set_of_runs(runs)}));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, base::Code::kTooComplex);
}

// Repetitions and pairs inside each other: as built the text would nest deeper than JSON may.
TEST(ViewsText, WhatNestsTooDeepIsWrittenRunByRun) {
  Pattern bytes = Pattern::run({{0}}, 1).value();
  int64_t span = 2;
  for (int level = 0; level < 7; ++level) {
    pattern::Assembler<1> pair;
    pair.append(repeated(bytes, 2, span));
    pair.append_run({{2 * span + 1}}, 3 + level);
    bytes = pair.finish().value();
    span = bytes.span().length() + 7;
  }
  const std::string nested = checked_text(file_of(1 << 20, {ByteSet::of_ascending(bytes)}));
  EXPECT_NE(nested.find("vector"), std::string::npos);
  for (int level = 7; level < 14; ++level) {
    pattern::Assembler<1> pair;
    pair.append(repeated(bytes, 2, span));
    pair.append_run({{2 * span + 1}}, 3 + level);
    bytes = pair.finish().value();
    span = bytes.span().length() + 7;
  }
  const std::string flat = checked_text(file_of(1 << 30, {ByteSet::of_ascending(bytes)}));
  EXPECT_EQ(flat.find("vector"), std::string::npos);
  EXPECT_NE(flat.find("intervals"), std::string::npos);
}

// Random unions of strided and single runs in a small file.
TEST(ViewsTextModel, TheTextHasTheBytesOfTheViews) {
  std::mt19937_64 random(port::test_seed());
  const auto below = [&](int64_t bound) {
    return static_cast<int64_t>(random() % static_cast<uint64_t>(bound));
  };
  for (int round = 0; round < 300; ++round) {
    std::vector<ByteSet> views;
    for (int64_t view = 1 + below(3); view > 0; --view) {
      ByteSet bytes;
      for (int64_t part = below(5); part > 0; --part) {
        Pattern piece = Pattern::run({{below(100)}}, 1 + below(6)).value();
        piece = repeated(piece, 1 + below(5), 6 + below(6));
        piece = repeated(piece, 1 + below(4), 60 + below(20));
        bytes = unite(bytes, ByteSet::of(piece).value()).value();
      }
      views.push_back(bytes.within({0, 500}));
    }
    checked_text(file_of(500, views));
    if (HasFailure()) break;
  }
}

}  // namespace
}  // namespace tessera::object
