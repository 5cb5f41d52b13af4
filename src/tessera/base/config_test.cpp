#include "tessera/base/config.hpp"

#include <gtest/gtest.h>

#include <map>

namespace tessera::base {
namespace {

constexpr Option kTable[] = {
    bool_option("verify", "on", "Verify block checksums on read."),
    int_option("threads", "4", {1, 64}, "Threads per transfer."),
    size_option("buffer", "16M", {4096, int64_t{1} << 30}, "Bytes of one collective buffer."),
    enum_option("durable", "sync", "sync|close", "When written bytes are durable."),
    string_option("depots", "", 40, "Depots to use, as host:port."),
};

Result<Config> parse_file(std::string_view text) {
  return Config::parse(kTable, {"site.conf", text, {}, {}});
}

std::string error_of(const Result<Config>& config) {
  if (config) return "parsed";
  EXPECT_EQ(config.error().code, Code::kInvalid);
  return config.error().context;
}

TEST(Config, DefaultsComeFromTheTable) {
  const Config config = Config::parse(kTable, {}).value();
  EXPECT_TRUE(config.get_bool("verify"));
  EXPECT_EQ(config.get_int("threads"), 4);
  EXPECT_EQ(config.get_size("buffer"), 16 << 20);
  EXPECT_EQ(config.get_enum("durable"), "sync");
  EXPECT_EQ(config.get_string("depots"), "");
  EXPECT_EQ(config.settings()[1].origin, Origin::kDefault);
}

TEST(Config, StrongerSourcesWin) {
  const std::map<std::string, std::string> variables = {{"TESSERA_THREADS", "6"},
                                                        {"TESSERA_BUFFER", "1M"}};
  const GetEnvironment environment = [&](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  };
  const std::string file = "# site\n\nverify = off\nthreads=5\nbuffer=8k\n";
  const Config config =
      Config::parse(kTable, {"site.conf", file, environment, {{"buffer", "2m"}}}).value();
  EXPECT_FALSE(config.get_bool("verify"));
  EXPECT_EQ(config.get_int("threads"), 6);
  EXPECT_EQ(config.get_size("buffer"), 2 << 20);
  EXPECT_EQ(config.settings()[0].origin, Origin::kFile);
  EXPECT_EQ(config.settings()[1].origin, Origin::kEnvironment);
  EXPECT_EQ(config.settings()[2].origin, Origin::kExplicit);
  EXPECT_EQ(config.settings()[3].origin, Origin::kDefault);
}

TEST(Config, UnknownKeysSuggestTheClosestKnownOne) {
  EXPECT_EQ(error_of(parse_file("thread=3\n")),
            "site.conf:1: unknown key \"thread\"; the closest known key is \"threads\"");
  EXPECT_EQ(error_of(Config::parse(kTable, {"", "", {}, {{"bufer", "1"}}})),
            "unknown key \"bufer\"; the closest known key is \"buffer\"");
}

TEST(Config, BadValuesNameKeyValueAndWhatIsAllowed) {
  EXPECT_EQ(
      error_of(parse_file("\nthreads=65\n")),
      "site.conf:2: key \"threads\" has the value \"65\"; allowed is an integer from 1 to 64");
  EXPECT_EQ(error_of(parse_file("durable=never")),
            "site.conf:1: key \"durable\" has the value \"never\"; allowed is sync or close");
  EXPECT_EQ(error_of(parse_file("buffer=1T")),
            "site.conf:1: key \"buffer\" has the value \"1T\"; allowed is a size in bytes, or with "
            "suffix K, M or G, from 4K to 1G");
  const GetEnvironment environment = [](const char* name) {
    return std::string_view(name) == "TESSERA_VERIFY" ? "maybe" : nullptr;
  };
  EXPECT_EQ(error_of(Config::parse(kTable, {"", "", environment, {}})),
            "environment variable TESSERA_VERIFY: key \"verify\" has the value \"maybe\"; allowed "
            "is on or off");
  EXPECT_EQ(error_of(parse_file("verify")), "site.conf:1: \"verify\" is not of the form key=value");
}

TEST(Config, ValuesAtAndPastTheirBounds) {
  for (const char* good : {"buffer=4K", "buffer=1G", "buffer=4096", "threads=1", "verify=yes",
                           "verify=0", "durable=close", "depots=a:1,b:2"}) {
    EXPECT_TRUE(parse_file(good)) << good;
  }
  for (const char* bad : {"buffer=4095", "buffer=1025M", "buffer=-1", "buffer=K", "buffer=",
                          "buffer=99999999999999999999", "buffer=9999999999999G", "threads=0",
                          "threads=4x", "threads= ", "verify=2", "durable=", "durable=sync|close",
                          "depots=0123456789012345678901234567890123456789x"}) {
    EXPECT_FALSE(parse_file(bad)) << bad;
  }
}

TEST(Config, AWrongWeakValueIsAnErrorAlsoWhenOverridden) {
  EXPECT_FALSE(Config::parse(kTable, {"f", "threads=0", {}, {{"threads", "2"}}}));
}

TEST(Config, TextParsesBackToTheSameValues) {
  const Config config = parse_file("buffer=65536\nverify=no\ndepots=n1:7=x\n").value();
  EXPECT_EQ(config.text(), "verify=off\nthreads=4\nbuffer=64K\ndurable=sync\ndepots=n1:7=x\n");
  EXPECT_EQ(parse_file(config.text()).value().text(), config.text());
}

TEST(Config, ListingsAreMarkdownTables) {
  const Config config = parse_file("durable=close").value();
  EXPECT_NE(config.markdown().find("| `durable` | `close` | file |\n"), std::string::npos);
  EXPECT_NE(config.markdown().find("| `depots` | (empty) | default |\n"), std::string::npos);
  EXPECT_NE(options_markdown(kTable).find("| `threads` | an integer from 1 to 64 | `4` | Threads "
                                          "per transfer. |\n"),
            std::string::npos);
}

TEST(ConfigDeathTest, WrongTablesAndWrongLookupsStop) {
  const Option wrong_default[] = {int_option("n", "9", {0, 5}, "")};
  EXPECT_DEATH(static_cast<void>(Config::parse(wrong_default, {})), "assertion failed");
  const Option twice[] = {bool_option("n", "on", ""), bool_option("n", "on", "")};
  EXPECT_DEATH(static_cast<void>(Config::parse(twice, {})), "assertion failed");
  const Config config = Config::parse(kTable, {}).value();
  EXPECT_DEATH(static_cast<void>(config.get_int("verify")), "assertion failed");
  EXPECT_DEATH(static_cast<void>(config.get_int("absent")), "assertion failed");
}

}  // namespace
}  // namespace tessera::base
