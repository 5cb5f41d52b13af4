#include "tessera/lock/placement.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace tessera::lock {
namespace {

constexpr size_t kFiles = 10'000;

std::string file_name(size_t number) { return "66306:" + std::to_string(1'000'000 + number); }

std::vector<std::string> servers(size_t count) {
  std::vector<std::string> names;
  for (size_t i = 0; i < count; ++i) names.push_back("tcp:node" + std::to_string(i) + ":7000");
  return names;
}

std::vector<size_t> files_of_each(std::span<const std::string> names) {
  std::vector<size_t> counts(names.size());
  for (size_t file = 0; file < kFiles; ++file) ++counts[server_of(file_name(file), names)];
  return counts;
}

// Whoever computes the scores otherwise breaks the protocol: clients would disagree.
TEST(Placement, P1ScoresAreThoseOfTheProtocol) {
  EXPECT_EQ(placement_score("", ""), 0xb9034ad37056f5fbU);
  EXPECT_EQ(placement_score("tcp:node0:7000", "66306:1000000"), 0xfae4fd230cec0b8eU);
  EXPECT_EQ(placement_score("tcp:node1:7000", "66306:1000000"), 0x154e6a4dfe7e16a1U);
  EXPECT_NE(placement_score("a", "bc"), placement_score("ab", "c"));
}

TEST(Placement, FilesAreSpreadEvenly) {
  for (size_t count = 1; count <= 9; ++count) {
    const auto names = servers(count);
    const double expected = static_cast<double>(kFiles) / static_cast<double>(count);
    // Four standard deviations of an even choice: 3 to 11 per cent.
    const double deviation = 4 * std::sqrt(expected * (1 - 1.0 / static_cast<double>(count)));
    for (const size_t files : files_of_each(names)) {
      EXPECT_NEAR(static_cast<double>(files), expected, deviation + 1) << count;
    }
  }
}

TEST(Placement, P1TheOrderOfServersDoesNotMatter) {
  const auto names = servers(7);
  auto reversed = names;
  std::reverse(reversed.begin(), reversed.end());
  for (size_t file = 0; file < kFiles; ++file) {
    EXPECT_EQ(names[server_of(file_name(file), names)],
              reversed[server_of(file_name(file), reversed)]);
  }
}

TEST(Placement, P2WithoutAServerOnlyItsFilesMove) {
  const auto names = servers(9);
  for (size_t gone = 0; gone < names.size(); ++gone) {
    auto left = names;
    left.erase(left.begin() + static_cast<ptrdiff_t>(gone));
    std::vector<size_t> moved(left.size());
    for (size_t file = 0; file < kFiles; ++file) {
      const std::string& before = names[server_of(file_name(file), names)];
      const size_t after = server_of(file_name(file), left);
      if (before == names[gone]) {
        ++moved[after];
      } else {
        ASSERT_EQ(before, left[after]);
      }
    }
    // About 139 go to each of the others.
    for (const size_t files : moved) EXPECT_NEAR(static_cast<double>(files), 139, 60);
  }
}

TEST(Placement, ListsOfServersAreRead) {
  EXPECT_EQ(parse_server_list("node7:7000").value(), std::vector<std::string>{"tcp:node7:7000"});
  EXPECT_EQ(parse_server_list("a:1,tcp:b:2,[::1]:3,unix:/run/x").value(),
            (std::vector<std::string>{"tcp:a:1", "tcp:b:2", "tcp:[::1]:3", "unix:/run/x"}));
}

TEST(Placement, WrongListsAreToldWhy) {
  using Pair = std::pair<const char*, const char*>;
  for (const auto& [list, word] :
       {Pair{"", "empty"}, Pair{",", "empty"}, Pair{"a:1,", "empty"}, Pair{"a:1,,b:1", "empty"},
        Pair{"a", "host:port"}, Pair{"a:1,b", "host:port"}, Pair{"a:x", "65535"},
        Pair{"a:0", "port 0"}, Pair{"a:1,tcp:a:1", "twice"}, Pair{"unix:", "path"}}) {
    const auto parsed = parse_server_list(list);
    ASSERT_FALSE(parsed) << list;
    EXPECT_EQ(parsed.error().code, base::Code::kInvalid);
    EXPECT_NE(parsed.error().message().find(word), std::string::npos) << parsed.error().message();
  }
}

}  // namespace
}  // namespace tessera::lock
