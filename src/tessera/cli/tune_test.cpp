// Measured costs, and the profile that they become.
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>

#include "tessera/base/json.hpp"
#include "tessera/cli/files.hpp"
#include "tessera/cli/test_folder.hpp"
#include "tessera/cli/tune_command.hpp"
#include "tessera/cli/tune_measure.hpp"
#include "tessera/port/descriptor.hpp"
#include "tessera/port/posix_clock.hpp"

namespace tessera::cli {
namespace {

using base::Code;

// Costs that were not measured are -1.
move::Costs costs_in(const std::string& folder) {
  const auto file =
      port::PlainFile::open(folder + "/scratch", {.write = true, .create = true}).value();
  const auto found = measure_costs(*file, port::PosixClock(), {0.3, int64_t{4} << 20});
  EXPECT_TRUE(found) << found.error().message();
  move::Costs costs;
  for (const move::CostField& field : move::profile_fields()) costs.*field.value = -1;
  for (const move::MeasuredCost& cost : *found) costs.*cost.field->value = cost.value;
  return costs;
}

class EmulatedStoreOf {
 public:
  explicit EmulatedStoreOf(const char* time) { ::setenv("TESSERA_EMULATED_STORE", time, 1); }
  EmulatedStoreOf(const EmulatedStoreOf&) = delete;
  EmulatedStoreOf& operator=(const EmulatedStoreOf&) = delete;
  ~EmulatedStoreOf() { ::unsetenv("TESSERA_EMULATED_STORE"); }
};

// A store that takes 2 ms for a request of up to 64 runs and 64 KB. Sleeps may last longer on a
// busy machine, not shorter; there are more than enough small requests for their median to hold,
// and few large ones.
TEST(Tune, FindsTheCostsOfAStore) {
  const TestFolder folder;
  const EmulatedStoreOf slow("2ms");
  const move::Costs costs = costs_in(folder.path());
  EXPECT_GE(costs.request_ns, 2e6);
  EXPECT_LE(costs.request_ns, 4e6);
  constexpr double kLonger = 8;
  for (const double listed : {costs.listed_ns, costs.listed_write_ns}) {
    EXPECT_GE(listed, 2e6 / 64);
    EXPECT_LE(listed, 2e6 / 64 * kLonger);
  }
  for (const double byte : {costs.read_byte_ns, costs.write_byte_ns}) {
    EXPECT_GE(byte, 2e6 / 65536);
    EXPECT_LE(byte, 2e6 / 65536 * kLonger);
  }
  EXPECT_EQ(costs.lock_ns, -1);     // it has none
  EXPECT_EQ(costs.message_ns, -1);  // nobody has told
}

TEST(Tune, FindsAllCostsHere) {
  const TestFolder folder;
  const move::Costs costs = costs_in(folder.path());
  for (const double cost : {costs.request_ns, costs.listed_ns, costs.listed_write_ns}) {
    EXPECT_GT(cost, 10);
    EXPECT_LT(cost, 1e6);
  }
  for (const double cost : {costs.read_byte_ns, costs.write_byte_ns, costs.copy_byte_ns}) {
    EXPECT_GT(cost, 0.005);
    EXPECT_LT(cost, 50);
  }
  EXPECT_GT(costs.lock_ns, 10);
  EXPECT_GE(costs.new_page_ns, 0);
  EXPECT_GE(costs.new_run_ns, 0);
}

class TuneCommand : public testing::Test {
 protected:
  TuneCommand() {
    options_.directory = folder_.path();
    options_.seconds = 0.1;
    options_.json = true;
  }

  base::Result<std::string> tune() {
    return tune_output(options_, [this](const char* name) -> const char* {
      return std::string_view(name) == "XDG_CONFIG_HOME" ? config_.c_str() : nullptr;
    });
  }
  base::Json output() {
    const auto text = tune();
    EXPECT_TRUE(text) << text.error().message();
    return base::Json::parse(text ? *text : "null").value();
  }

  const TestFolder folder_;
  const std::string config_ = folder_ / "config";
  TuneOptions options_;
};

TEST_F(TuneCommand, StoresAProfileThatOpensFind) {
  const base::Json json = output();
  const std::string path = *json.find("profile")->string();
  EXPECT_EQ(path.find(config_ + "/tessera/profiles/"), 0U) << path;
  const auto profile = move::parse_profile(read_whole(path, 1 << 20).value());
  ASSERT_TRUE(profile) << profile.error().message();
  EXPECT_EQ(profile->date.size(), 20U);
  const auto file =
      port::PlainFile::open(folder_ / "data", {.write = true, .create = true}).value();
  move::Profiles profiles([this](const char* name) -> const char* {
    return std::string_view(name) == "XDG_CONFIG_HOME" ? config_.c_str() : nullptr;
  });
  const auto known = profiles.costs_for(*file);
  ASSERT_TRUE(known);
  EXPECT_EQ(known->origin, "profile of " + profile->date + " (" + path + ")");
  EXPECT_EQ(known->costs.request_ns, profile->costs().request_ns);
}

TEST_F(TuneCommand, LeavesNoFileBehind) {
  options_.dry_run = true;
  const base::Json json = output();
  EXPECT_TRUE(json.find("profile")->is_null());
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path()));
}

// Whoever is killed leaves nothing: the scratch file never has a name.
TEST_F(TuneCommand, MakesNoNameMeanwhile) {
  options_.dry_run = true;
  const port::Descriptor events(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
  ASSERT_GE(::inotify_add_watch(events.number(), folder_.path().c_str(), IN_CREATE), 0);
  output();
  char event[4096];
  EXPECT_EQ(::read(events.number(), event, sizeof event), -1);
  EXPECT_EQ(errno, EAGAIN);
}

TEST_F(TuneCommand, PrintsATable) {
  options_.json = false;
  options_.dry_run = true;
  const auto text = tune();
  ASSERT_TRUE(text) << text.error().message();
  for (const char* part : {"cost", "default", "measured", "request_ns", "700", "2,000",
                           "a byte of a large read", "nothing is stored"}) {
    EXPECT_NE(text->find(part), std::string::npos) << *text;
  }
}

// What a machine cannot find out by itself is not forgotten when it measures again.
TEST_F(TuneCommand, KeepsWhatWasGiven) {
  options_.message_ns = 1234;
  options_.nodes_served = 16;
  output();
  options_.message_ns.reset();
  options_.nodes_served = 8;
  const base::Json json = output();
  const auto profile =
      move::parse_profile(read_whole(*json.find("profile")->string(), 1 << 20).value());
  EXPECT_EQ(profile->costs().message_ns, 1234);
  EXPECT_EQ(profile->costs().nodes_served, 8);
  EXPECT_EQ(profile->costs().network_byte_ns, move::Costs().network_byte_ns);
  options_.nodes_served = 0;
  const auto wrong = tune();
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().message(), "nodes_served is 0; allowed is 1 to 1000000");
}

TEST_F(TuneCommand, SaysWhyItCannot) {
  std::ofstream(folder_ / "file") << "x";
  options_.directory = folder_ / "file";
  EXPECT_EQ(tune().error().message(),
            folder_ / "file is no directory; tessera tune measures in a directory");
  options_.directory = folder_ / "missing";
  EXPECT_EQ(tune().error().code, Code::kNotFound);
  options_.directory = "/proc/self";
  const auto unwritable = tune();
  ASSERT_FALSE(unwritable);
  EXPECT_NE(unwritable.error().message().find("/proc/self"), std::string::npos);
  options_.directory = folder_.path();
  const auto nowhere = tune_output(options_, [](const char*) -> const char* { return nullptr; });
  ASSERT_FALSE(nowhere);
  EXPECT_EQ(nowhere.error().message().find("there is no place for a profile"), 0U);
}

}  // namespace
}  // namespace tessera::cli
