#include "tessera/object/views_file.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tessera/port/test_seed.hpp"

namespace tessera::object {
namespace {

using pattern::Interval;

std::vector<Interval> runs_of(const pattern::ByteSet& set) {
  std::vector<Interval> runs;
  Interval left = set.span();
  while (!left.empty()) {
    const auto next = set.within(left);
    if (next.empty()) break;
    Interval run = {next.span().begin, next.span().begin + 1};
    while (set.contains(run) && run.end <= left.end) ++run.end;
    --run.end;
    runs.push_back(run);
    left.begin = run.end;
  }
  return runs;
}

// The bytes of one type in a file of 100 bytes.
std::vector<Interval> bytes_of(const std::string& type, const std::string& more = "") {
  const auto file = parse_views("{\"size\": 100, \"views\": [{\"type\": " + type + more + "}]}");
  EXPECT_TRUE(file) << file.error().message();
  return file ? runs_of(file->views.front().bytes) : std::vector<Interval>{};
}

std::string error_of(const std::string& text) {
  const auto file = parse_views(text);
  if (!file) return file.error().message();
  const auto objects = object_set_of(*file);
  return objects ? "accepted" : objects.error().message();
}

std::string type_error(const std::string& type) {
  return error_of("{\"size\": 100, \"views\": [{\"type\": " + type + "}]}");
}

using Runs = std::vector<Interval>;

TEST(ViewsFile, HasAFormForEveryConstructor) {
  EXPECT_EQ(bytes_of("7"), (Runs{{0, 7}}));
  EXPECT_EQ(bytes_of("0"), Runs{});
  EXPECT_EQ(bytes_of(R"({"intervals": [[20, 30], [2, 5]]})"), (Runs{{2, 5}, {20, 30}}));
  EXPECT_EQ(bytes_of(R"({"contiguous": {"count": 3, "of": 4}})"), (Runs{{0, 12}}));
  EXPECT_EQ(bytes_of(R"({"vector": {"count": 2, "blocklength": 2, "stride": 3, "of": 4}})"),
            (Runs{{0, 8}, {12, 20}}));
  EXPECT_EQ(bytes_of(R"({"vector": {"count": 2, "stride_bytes": 10, "of": 4}})"),
            (Runs{{0, 4}, {10, 14}}));
  EXPECT_EQ(bytes_of(R"({"indexed": {"blocklengths": [1, 2], "displacements": [5, 0], "of": 2}})"),
            (Runs{{0, 4}, {10, 12}}));
  EXPECT_EQ(bytes_of(R"({"indexed": {"blocklengths": 3, "displacements_bytes": [1, 9]}})"),
            (Runs{{1, 4}, {9, 12}}));
  EXPECT_EQ(bytes_of(R"({"struct": [{"displacement": 2, "of": 4},
                                    {"displacement": 8, "blocklength": 2, "of": 3}]})"),
            (Runs{{2, 6}, {8, 14}}));
  EXPECT_EQ(bytes_of(R"({"subarray": {"sizes": [4, 5], "subsizes": [2, 2], "starts": [1, 3],
                                      "of": 2}})"),
            (Runs{{16, 20}, {26, 30}}));
  EXPECT_EQ(bytes_of(R"({"darray": {"rank": 1, "sizes": [10], "grid": [3],
                                    "distributions": ["block"]}})"),
            (Runs{{4, 8}}));
  EXPECT_EQ(bytes_of(R"({"darray": {"rank": 2, "sizes": [10, 2], "grid": [3, 1],
                                    "distributions": ["cyclic", "none"]}})"),
            (Runs{{4, 6}, {10, 12}, {16, 18}}));
}

TEST(ViewsFile, PlacesTypesByDisplacementAndTiles) {
  EXPECT_EQ(bytes_of("7", ", \"displacement\": 95"), (Runs{{95, 100}})) << "cut to the range";
  EXPECT_EQ(bytes_of(R"({"resized": {"extent": 10, "of": 2}})", ", \"tiles\": 3"),
            (Runs{{0, 2}, {10, 12}, {20, 22}}));
  EXPECT_EQ(bytes_of(R"({"resized": {"extent": 40, "of": 2}})",
                     ", \"tiles\": \"all\", \"displacement\": 5"),
            (Runs{{5, 7}, {45, 47}, {85, 87}}));
  EXPECT_EQ(bytes_of("7", ", \"tiles\": 0"), Runs{});
}

TEST(ViewsFile, NamesProcessesAndRanges) {
  const auto file = parse_views(R"({"range": [10, 30], "comment": "two of them", "views": [
      {"process": 7, "name": "left", "type": 15}, {"type": 15, "displacement": 20}]})");
  ASSERT_TRUE(file) << file.error().message();
  EXPECT_EQ(file->range, (Interval{10, 30}));
  EXPECT_FALSE(file->disjoint);
  ASSERT_EQ(file->views.size(), 2U);
  EXPECT_EQ(file->views[0].process, 7);
  EXPECT_EQ(file->views[0].name, "left");
  EXPECT_EQ(runs_of(file->views[0].bytes), (Runs{{10, 15}}));
  EXPECT_EQ(file->views[1].process, 1);
  EXPECT_EQ(file->views[1].name, "P1");
  EXPECT_EQ(runs_of(file->views[1].bytes), (Runs{{20, 30}}));
}

TEST(ViewsFile, SaysWhichViewWhichKeyAndWhy) {
  EXPECT_EQ(
      error_of(R"({"size": 9, "views": [{"type": 1}, {"name": "b", "type": true}]})"),
      "view 1 \"b\": type (line 1, column 58): a type is a number of bytes or an object with "
      "one key of: intervals, contiguous, vector, indexed, struct, subarray, darray, resized");
  EXPECT_EQ(error_of(R"({"size": 9, "views": [{"typ": 1}]})"),
            "view 0: line 1, column 23: unknown key \"typ\"; known are process, name, type, "
            "displacement, tiles");
  EXPECT_EQ(type_error(R"({"contiguous": {"count": 1.5}})"),
            "view 0: type.contiguous.count (line 1, column 59): must be an integer, is a real "
            "number");
  EXPECT_EQ(type_error(R"({"indexed": {"displacements": [1, "2"]}})"),
            "view 0: type.indexed.displacements[1] (line 1, column 68): must be an integer, is a "
            "string");
  EXPECT_EQ(type_error(R"({"indexed": {"blocklengths": [1], "displacements": [1, 2]}})"),
            "view 0: type.indexed.blocklengths (line 1, column 63): has 1 items for 2 "
            "displacements");
  EXPECT_NE(type_error(R"({"subarray": {"sizes": [4], "subsizes": [5], "starts": [0]}})")
                .find("view 0: type.subarray (line 1, column 47): "),
            std::string::npos);
  EXPECT_NE(type_error(R"({"darray": {"rank": 0, "sizes": [4], "grid": [0],
                                      "distributions": ["block"]}})")
                .find("type.darray.grid"),
            std::string::npos);
}

TEST(ViewsFile, RefusesWhatDoesNotFit) {
  EXPECT_NE(type_error(R"({"contiguous": {"count": 9223372036854775807, "of": 2}})")
                .find("view 0: type.contiguous"),
            std::string::npos);
  EXPECT_NE(error_of(R"({"size": 4611686018427387904, "views": [{"type": 1}]})").find("size (line"),
            std::string::npos);
  EXPECT_EQ(error_of(R"({"range": [5, 5], "views": [{"type": 1}]})").substr(0, 12), "range (line ");
  std::string deep = "1";
  for (int i = 0; i < 40; ++i) deep = R"({"contiguous": {"count": 1, "of": )" + deep + "}}";
  EXPECT_NE(type_error(deep).find("nested deeper than 64 levels"), std::string::npos);
}

TEST(ViewsFile, HoldsDisjointViewsToTheirWord) {
  const std::string views = R"("views": [{"type": {"intervals": [[0, 50]]}},
                                         {"type": {"intervals": [[40, 60]]}}]})";
  EXPECT_EQ(error_of("{\"size\": 100, " + views), "accepted");
  EXPECT_NE(error_of("{\"size\": 100, \"disjoint\": true, " + views).find("share byte 40"),
            std::string::npos);
}

// Many processes with random intervals, against a set of sharers kept for each of 64 bytes.
TEST(ViewsFileModel, ObjectsAgreeWithABitmap) {
  std::mt19937_64 random(port::test_seed());
  const auto below = [&](int bound) { return std::uniform_int_distribution(0, bound - 1)(random); };
  for (int round = 0; round < 300; ++round) {
    std::vector<std::set<Process>> sharers(64);
    std::ostringstream text;
    text << "{\"size\": 64, \"views\": [";
    const int views = 1 + below(5);
    for (Process process = 0; process < views; ++process) {
      text << (process > 0 ? "," : "") << "{\"type\": {\"intervals\": [";
      for (int i = below(4); i > 0; --i) {
        const int begin = below(64);
        const int end = begin + below(65 - begin);
        text << "[" << begin << "," << end << "]" << (i > 1 ? "," : "");
        for (int byte = begin; byte < end; ++byte)
          sharers[static_cast<size_t>(byte)].insert(process);
      }
      text << "]}}";
    }
    text << "]}";
    const auto file = parse_views(text.str());
    ASSERT_TRUE(file) << file.error().message() << text.str();
    const auto objects = object_set_of(*file);
    ASSERT_TRUE(objects) << objects.error().message() << text.str();
    for (int64_t byte = 0; byte < 64; ++byte) {
      const auto met = objects->meeting({byte, byte + 1});
      std::set<Process> found;
      if (!met.empty()) {
        const auto all = objects->sharers(met.front().sharers);
        found.insert(all.begin(), all.end());
      }
      ASSERT_EQ(found, sharers[static_cast<size_t>(byte)]) << byte << " of " << text.str();
    }
  }
}

}  // namespace
}  // namespace tessera::object
