#include "tessera/move/profile.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "tessera/port/test_directory.hpp"

namespace tessera::move {
namespace {

using base::Code;

constexpr const char* kSmall = R"({"format": "tessera-profile", "version": 1,
  "date": "2026-11-16T15:50:00Z", "later": [1, 2],
  "file_system": {"id": "ef53-1", "type": "ext4", "source": "/dev/vda1", "owner": {}},
  "costs": {"request_ns": 2000000, "read_byte_ns": 30.5, "warmth": "unknown"}})";

TEST(Profile, ChangesTheCostsThatItNames) {
  const auto profile = parse_profile(kSmall);
  ASSERT_TRUE(profile) << profile.error().message();
  EXPECT_EQ(profile->file_system, "ef53-1");
  EXPECT_EQ(profile->mount_source, "/dev/vda1");
  EXPECT_EQ(profile->date, "2026-11-16T15:50:00Z");
  const Costs costs = profile->costs();
  EXPECT_EQ(costs.request_ns, 2e6);
  EXPECT_EQ(costs.read_byte_ns, 30.5);
  EXPECT_EQ(costs.write_byte_ns, Costs().write_byte_ns);
  EXPECT_EQ(profile->measured.size(), 2U);
}

TEST(Profile, IsReadAsItWasWritten) {
  Profile written = {"1-2-emulated-7", "n\"fs", "a b", "today", {}};
  double value = 1.0 / 3;
  for (const CostField& field : profile_fields()) written.measured.push_back({&field, value += 1});
  const auto read = parse_profile(profile_text(written));
  ASSERT_TRUE(read) << read.error().message();
  EXPECT_EQ(read->file_system, written.file_system);
  EXPECT_EQ(read->mount_type, written.mount_type);
  EXPECT_EQ(read->mount_source, written.mount_source);
  EXPECT_EQ(read->date, written.date);
  ASSERT_EQ(read->measured.size(), written.measured.size());
  for (const CostField& field : profile_fields()) {
    EXPECT_EQ(read->costs().*field.value, written.costs().*field.value) << field.name;
  }
}

// The defaults are within the bounds, so a profile that holds them can be read.
TEST(Profile, BoundsHoldTheDefaults) {
  const Costs defaults;
  for (const CostField& field : profile_fields()) {
    EXPECT_GE(defaults.*field.value, field.least) << field.name;
    EXPECT_LE(defaults.*field.value, field.most) << field.name;
  }
}

TEST(Profile, WhatIsWrongIsNamed) {
  const auto error = [](const std::string& text) {
    const auto profile = parse_profile(text);
    EXPECT_FALSE(profile) << text;
    return profile ? "" : profile.error().message();
  };
  const auto costs = [](const std::string& inner) {
    return "{\"format\": \"tessera-profile\", \"version\": 1,\n\"costs\": {" + inner + "}}";
  };
  EXPECT_TRUE(parse_profile(costs("")));
  EXPECT_EQ(error(costs("\"request_ns\": -1")),
            "line 2, column 25: \"request_ns\" is out of bounds");
  EXPECT_EQ(error(costs("\"listed_write_ns\": 0")),
            "line 2, column 30: \"listed_write_ns\" is out of bounds");
  EXPECT_EQ(error(costs("\"lock_ns\": 1e300")), "line 2, column 22: \"lock_ns\" is out of bounds");
  EXPECT_EQ(error(costs("\"lock_ns\": \"fast\"")),
            "line 2, column 22: \"lock_ns\" is a string where a number is expected");
  EXPECT_EQ(error("[]"), "line 1, column 1: expected an object, found an array");
  EXPECT_NE(error("{}").find("this is no profile"), std::string::npos);
  EXPECT_NE(error(R"({"format": "tessera-profile"})").find("no \"version\""), std::string::npos);
  EXPECT_NE(error(R"({"format": "tessera-profile", "version": 2, "costs": {}})")
                .find("a profile of version 2; this program reads version 1"),
            std::string::npos);
  EXPECT_NE(error(R"({"format": "tessera-profile", "version": 1})").find("no object \"costs\""),
            std::string::npos);
  EXPECT_NE(error(R"({"format": "tessera-profile", "version": 1, "date": 5, "costs": {}})")
                .find("\"date\" is an integer"),
            std::string::npos);
  error("");
  error(std::string(1 << 17, ' '));
}

// Variables of a test.
class Variables {
 public:
  Variables& set(const std::string& name, const std::string& value) {
    values_[name] = value;
    return *this;
  }
  [[nodiscard]] base::GetEnvironment environment() const {
    return [values = values_](const char* name) -> const char* {
      const auto place = values.find(name);
      return place != values.end() ? place->second.c_str() : nullptr;
    };
  }

 private:
  std::map<std::string, std::string> values_;
};

TEST(Profile, LiesWhereTheVariablesSay) {
  Variables variables;
  const auto path = [&] { return profile_path(variables.environment(), "ef53-1"); };
  EXPECT_EQ(path(), std::nullopt);
  variables.set("HOME", "/home/me");
  EXPECT_EQ(path(), "/home/me/.config/tessera/profiles/ef53-1.json");
  variables.set("XDG_CONFIG_HOME", "relative");
  EXPECT_EQ(path(), "/home/me/.config/tessera/profiles/ef53-1.json");
  variables.set("XDG_CONFIG_HOME", "/etc/me");
  EXPECT_EQ(path(), "/etc/me/tessera/profiles/ef53-1.json");
  variables.set("TESSERA_PROFILE", "/mine.json");
  EXPECT_EQ(path(), "/mine.json");
  variables.set("TESSERA_PROFILE", "none");
  EXPECT_EQ(path(), std::nullopt);
}

// A file, and a folder of profiles.
class ProfilesTest : public testing::Test {
 protected:
  ProfilesTest()
      : file_(port::PlainFile::open(directory_.path("data"), {.write = true, .create = true})
                  .value()) {
    variables_.set("XDG_CONFIG_HOME", directory_.path("config"));
    std::filesystem::create_directories(directory_.path("config/tessera/profiles"));
  }

  [[nodiscard]] std::string own_path() const {
    return *profile_path(variables_.environment(), profile_id(*file_).value());
  }
  [[nodiscard]] base::Result<KnownCosts> costs() const {
    return Profiles(variables_.environment()).costs_for(*file_);
  }

  port::TestDirectory directory_;
  std::unique_ptr<port::PlainFile> file_;
  Variables variables_;
};

TEST_F(ProfilesTest, WithoutOneTheDefaultsCount) {
  const auto known = costs();
  ASSERT_TRUE(known);
  EXPECT_EQ(known->origin, "defaults");
  EXPECT_EQ(known->costs.request_ns, Costs().request_ns);
}

TEST_F(ProfilesTest, TheOneOfTheFileSystemIsFoundAndReadOnce) {
  std::ofstream(own_path()) << kSmall;
  Profiles profiles(variables_.environment());
  const auto known = profiles.costs_for(*file_);
  ASSERT_TRUE(known);
  EXPECT_EQ(known->costs.request_ns, 2e6);
  EXPECT_EQ(known->origin, "profile of 2026-11-16T15:50:00Z (" + own_path() + ")");
  std::filesystem::remove(own_path());
  EXPECT_EQ(profiles.costs_for(*file_)->costs.request_ns, 2e6);
}

// (P2)
TEST_F(ProfilesTest, ABrokenOneIsToldOfUnlessItWasNamed) {
  std::ofstream(own_path()) << "{";
  const auto found = costs();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->costs.request_ns, Costs().request_ns);
  EXPECT_EQ(found->origin.find("defaults; profile ignored: " + own_path() + ": line 1"), 0U)
      << found->origin;
  variables_.set("TESSERA_PROFILE", own_path());
  const auto named = costs();
  ASSERT_FALSE(named);
  EXPECT_EQ(named.error().code, Code::kInvalid);
  EXPECT_EQ(named.error().message().find("environment variable TESSERA_PROFILE: " + own_path()),
            0U);
}

TEST_F(ProfilesTest, ANamedOneMustBeThere) {
  variables_.set("TESSERA_PROFILE", directory_.path("missing.json"));
  EXPECT_FALSE(costs());
  std::ofstream(directory_.path("missing.json")) << kSmall;
  EXPECT_EQ(costs()->costs.request_ns, 2e6);
  variables_.set("TESSERA_PROFILE", directory_.path(""));
  EXPECT_FALSE(costs());
  variables_.set("TESSERA_PROFILE", "none");
  EXPECT_EQ(costs()->origin, "defaults");
}

}  // namespace
}  // namespace tessera::move
