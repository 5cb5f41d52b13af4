#include "bench/bench.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include "bench/mpiio_pool.hpp"
#include "bench/scratch_folder.hpp"
#include "tessera/base/json.hpp"
#include "tessera/port/test_directory.hpp"

namespace tessera::bench {
namespace {

// Runs quickly and returns the JSON that was printed.
base::Result<base::Json> run_quickly(const std::string& name, const std::string& only,
                                     int expected_exit, const std::string& against = "") {
  BenchOptions options;
  options.against = against;
  options.names = {name};
  options.only = only;
  options.json = true;
  options.quick = true;
  testing::internal::CaptureStdout();
  const int exit_code = run_bench(options);
  std::string text = testing::internal::GetCapturedStdout();
  EXPECT_EQ(exit_code, expected_exit) << text;
  return base::Json::parse(text);
}

// One of every kind of case; together they reach every case file.
class QuickCases : public testing::TestWithParam<const char*> {};

TEST_P(QuickCases, RunAndPrintJson) {
  const auto json = run_quickly("pattern", GetParam(), 0);
  ASSERT_TRUE(json) << json.error().message();
  EXPECT_EQ(*json->find("bench")->string(), "pattern");
  const auto& cases = *json->find("cases")->array();
  ASSERT_FALSE(cases.empty());
  for (const base::Json& outcome : cases) {
    EXPECT_FALSE(outcome.find("ours")->is_null());
    EXPECT_NE(outcome.find("peers")->object(), nullptr);
  }
}

INSTANTIATE_TEST_SUITE_P(Pattern, QuickCases,
                         testing::Values("encoded view", "object set of 4 tile readers", "overlap",
                                         "join, 100 rows", "lookup, map in stripes of 65536 B",
                                         "index query, 1000 irregular objects",
                                         "12B runs, 256 KiB"));

// One of every kind of case of the mesh bench that takes no seconds.
class QuickMeshCases : public testing::TestWithParam<const char*> {};

TEST_P(QuickMeshCases, RunAndPrintJson) {
  const auto started = MpiPool().job({"openmpi", "Tessera", 2, {}, true}, false);
  if (!started && started.error().code == base::Code::kNotFound) {
    GTEST_SKIP() << started.error().message();
  }
  ASSERT_TRUE(started) << started.error().message();
  const auto json = run_quickly("mesh", GetParam(), 0);
  ASSERT_TRUE(json) << json.error().message();
  const auto& cases = *json->find("cases")->array();
  ASSERT_EQ(cases.size(), 1U);
  EXPECT_FALSE(cases[0].find("ours")->is_null());
  const bool is_rival = std::string(GetParam()).find("stock") != std::string::npos;
  EXPECT_EQ(*cases[0].find("in_mean")->boolean(), is_rival);
}

INSTANTIATE_TEST_SUITE_P(
    Mesh, QuickMeshCases,
    testing::Values("plan 290 k nodes", "plan reuse", "halo",
                    "Open MPI 4: RCM order, 1 double a node, against stock",
                    "Open MPI 4: order along an axis, 1 double a node, strategies",
                    "Open MPI 4: RCM order, 10 doubles a node, policies"));

TEST(Bench, CaseNamesAreDistinct) {
  for (const Bench& bench : all_benches()) {
    std::set<std::string> names;
    for (const CaseMaker& maker : bench.cases()) {
      EXPECT_TRUE(names.insert(maker.name).second) << maker.name;
      EXPECT_FALSE(maker.group.empty()) << maker.name;
    }
  }
}

TEST(Bench, UnknownNameIsNotFound) {
  BenchOptions options;
  options.names = {"nosuch"};
  testing::internal::CaptureStderr();
  EXPECT_EQ(run_bench(options), 3);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("pattern"), std::string::npos)
      << "the message names what there is";
}

// This build in the place of the other one.
TEST(Bench, AnotherBuildIsMeasuredInTurn) {
  const JobKind kind = {"openmpi", "Tessera", 2, {}, true};
  const auto started = MpiPool().job(kind, false);
  if (!started && started.error().code == base::Code::kNotFound) {
    GTEST_SKIP() << started.error().message();
  }
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  const auto json = run_quickly("mpiio", "Open MPI 2: interleaved 4 KiB, independent", 0,
                                self.parent_path().parent_path().string());
  ASSERT_TRUE(json) << json.error().message();
  ASSERT_EQ(json->find("cases")->array()->size(), 1U);
  const base::Json& outcome = json->find("cases")->array()->front();
  const base::Json& against = *outcome.find("against");
  EXPECT_FALSE(against.find("ratio")->is_null());
  EXPECT_EQ(against.find("noise")->array()->size(), 2U);
  EXPECT_EQ(*against.find("not_compared")->string(), "4 KiB cases");
  EXPECT_FALSE(outcome.find("ratio_of_all")->is_null());
}

// A build whose programs refuse everything, as one does that does not know our format.
class RefusingBuild {
 public:
  RefusingBuild() {
    namespace fs = std::filesystem;
    std::error_code error;
    const auto self = fs::read_symlink("/proc/self/exe", error).parent_path().parent_path();
    fs::create_directories(path() + "/bin", error);
    fs::create_directory_symlink(self / "lib", path() + "/lib", error);
    const std::string program = path() + "/bin/tessera";
    std::ofstream(program) << "#!/bin/sh\nexit 3\n";
    fs::permissions(program, fs::perms::owner_all, error);
  }

  [[nodiscard]] std::string path() const { return folder_.value().path(); }

 private:
  base::Result<ScratchFolder> folder_ = ScratchFolder::make();
};

TEST(Bench, ACaseGoesOnWithoutABuildThatCannotDoIt) {
  const std::string only = "remap 3 to 4, rows to columns, 64 MiB";
  const RefusingBuild refusing;
  const auto json = run_quickly("objects", only, 0, refusing.path());
  ASSERT_TRUE(json) << json.error().message();
  ASSERT_EQ(json->find("cases")->array()->size(), 1U);
  EXPECT_EQ(json->find("cases")->array()->front().find("against"), nullptr);
  const auto& left_out = *json->find("summary")->find("against_left_out")->object();
  ASSERT_EQ(left_out.size(), 1U);
  EXPECT_NE(left_out.front().key.find("import ended with 3"), std::string::npos)
      << left_out.front().key;
}

// This build in the place of the other one: each has a source of its own.
TEST(Bench, RemappingIsComparedByPrograms) {
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  const auto json = run_quickly("objects", "remap 3 to 4, rows to columns, 64 MiB", 0,
                                self.parent_path().parent_path().string());
  ASSERT_TRUE(json) << json.error().message();
  const base::Json& against = *json->find("cases")->array()->front().find("against");
  EXPECT_FALSE(against.find("ratio")->is_null());
  EXPECT_TRUE(*against.find("in_mean")->boolean());
  EXPECT_TRUE(json->find("summary")->find("against_left_out")->object()->empty());
}

TEST(Bench, AnotherBuildMustBeOne) {
  BenchOptions options;
  options.names = {"mpiio"};
  options.against = "/nonexistent";
  testing::internal::CaptureStderr();
  EXPECT_EQ(run_bench(options), 3);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("/nonexistent is no build of Tessera"),
            std::string::npos);
}

TEST(Bench, WritesThePage) {
  const port::TestDirectory directory;
  const std::string path = directory.path("page.html");
  BenchOptions options;
  options.names = {"all"};
  options.only = "encoded view";
  options.quick = true;
  options.html_path = path;
  testing::internal::CaptureStdout();
  EXPECT_EQ(run_bench(options), 0);
  EXPECT_NE(testing::internal::GetCapturedStdout().find("1 of 1 bars met"), std::string::npos);
  std::ifstream page(path);
  std::stringstream html;
  html << page.rdbuf();
  EXPECT_NE(html.str().find("<svg"), std::string::npos);
  options.html_path = "/nonexistent/folder/page.html";
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  EXPECT_EQ(run_bench(options), 1);
  testing::internal::GetCapturedStdout();
  EXPECT_NE(testing::internal::GetCapturedStderr().find("page.html"), std::string::npos);
}

}  // namespace
}  // namespace tessera::bench
