#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "tessera/base/bytes.hpp"
#include "tessera/base/json.hpp"
#include "tessera/cli/mesh_page.hpp"
#include "tessera/cli/mesh_plan_command.hpp"
#include "tessera/cli/mesh_renumber_command.hpp"
#include "tessera/cli/test_folder.hpp"
#include "tessera/mesh/fingerprint.hpp"
#include "tessera/owner/writers_codec.hpp"

namespace tessera::cli {
namespace {

// The graph of the paper's Figure 3, its nodes from 1 as METIS has them, and its distribution.
constexpr const char* kGraph = "8 12\n2 4\n1 5 8\n5 6 7 8\n1 6 8\n2 3 7\n3 4 8\n3 5\n2 3 4 6\n";
constexpr const char* kParts = "0\n0\n1\n0\n1\n0\n1\n0\n";
const std::vector<int32_t> kPartOf = {0, 0, 1, 0, 1, 0, 1, 0};

class MeshCommands : public ::testing::Test {
 protected:
  MeshCommands() {
    std::ofstream(graph_) << kGraph;
    std::ofstream(parts_) << kParts;
  }

  [[nodiscard]] MeshPlanOptions plan_options(const std::string& policy) const {
    MeshPlanOptions options;
    options.path = graph_;
    options.partition.path = parts_;
    options.policy = policy;
    return options;
  }

  static std::string content_of(const std::string& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }

  static base::Json json_of(const base::Result<std::string>& output) {
    EXPECT_TRUE(output) << output.error().message();
    auto json = base::Json::parse(*output);
    EXPECT_TRUE(json) << json.error().message();
    return *std::move(json);
  }

  TestFolder folder_;
  const std::string graph_ = folder_ / "m.graph";
  const std::string parts_ = folder_ / "m.part";
};

TEST_F(MeshCommands, APlanHasTheNumbersOfThePaper) {
  MeshPlanOptions options = plan_options("all");
  options.json = true;
  const auto json = json_of(mesh_plan_output(options));
  EXPECT_EQ(*json.find("nodes")->integer(), 8);
  EXPECT_EQ(*json.find("shared_nodes")->integer(), 5);
  EXPECT_EQ(*json.find("replicas")->integer(), 13);
  EXPECT_EQ(*json.find("optimal_intervals")->integer(), 2);
  const auto& policies = *json.find("policies")->array();
  ASSERT_EQ(policies.size(), owner::all_policies().size());
  EXPECT_EQ(*policies[0].find("policy")->string(), "metis");
  EXPECT_EQ(*policies[0].find("intervals")->integer(), 7);
}

TEST_F(MeshCommands, ASavedPlanHasTheWritersAndTheFingerprint) {
  MeshPlanOptions options = plan_options("idg");
  options.save_path = folder_ / "plan";
  ASSERT_TRUE(mesh_plan_output(options));
  const std::string bytes = content_of(options.save_path);
  const auto plan = owner::decode_plan(base::bytes_of(bytes));
  ASSERT_TRUE(plan) << plan.error().message();
  EXPECT_EQ(plan->policy, "idg");
  EXPECT_EQ(plan->fingerprint, mesh::fingerprint({.parts = 2, .part_of = kPartOf}));
  const std::vector<owner::WriterInterval> table_2 = {{0, 6, 0}, {6, 8, 1}};
  const auto intervals = plan->writers.intervals();
  EXPECT_EQ(std::vector<owner::WriterInterval>(intervals.begin(), intervals.end()), table_2);
}

TEST_F(MeshCommands, ReadingAndMemoryClassifyAlike) {
  MeshPlanOptions made = plan_options("all");
  made.partition.path.clear();
  made.partition.parts = 3;
  made.write_partition_path = folder_ / "made";
  made.json = true;
  const auto in_memory = json_of(mesh_plan_output(made));
  MeshPlanOptions read = made;
  read.write_partition_path.clear();
  read.partition.path = made.write_partition_path;
  const auto streamed = json_of(mesh_plan_output(read));
  for (const char* fact : {"shared_nodes", "replicas", "optimal_intervals"}) {
    EXPECT_EQ(*in_memory.find(fact)->integer(), *streamed.find(fact)->integer()) << fact;
  }
  EXPECT_EQ(*in_memory.find("fingerprint")->string(), *streamed.find("fingerprint")->string());
}

TEST_F(MeshCommands, ABoundThatCannotBeKeptIsARowOfAllAndAnErrorAlone) {
  MeshPlanOptions options = plan_options("all");
  options.max_imbalance = 0;
  std::ofstream(parts_) << "0\n0\n0\n0\n0\n0\n1\n0\n";
  std::ofstream(graph_) << "8 1\n2\n1\n\n\n\n\n\n\n";
  const auto all = mesh_plan_output(options);
  ASSERT_TRUE(all) << all.error().message();
  EXPECT_NE(all->find("balanced: "), std::string::npos);
  options.policy = "balanced";
  EXPECT_FALSE(mesh_plan_output(options));
}

TEST_F(MeshCommands, RefusesToSaveWhatIsNotOfTheFile) {
  MeshPlanOptions options = plan_options("idg");
  options.order = "rcm";
  options.save_path = folder_ / "plan";
  const auto output = mesh_plan_output(options);
  ASSERT_FALSE(output);
  EXPECT_NE(output.error().message().find("tessera mesh renumber"), std::string::npos);
  options.order = "file";
  options.policy = "all";
  EXPECT_FALSE(mesh_plan_output(options));
  options.policy = "idg";
  options.partition = {};
  EXPECT_FALSE(mesh_plan_output(options));
}

TEST_F(MeshCommands, RenumberingForOutputMakesEveryPartAnInterval) {
  MeshRenumberOptions options;
  options.path = graph_;
  options.to = folder_ / "new.graph";
  options.order = "io";
  options.partition.path = parts_;
  options.write_partition_path = folder_ / "new.part";
  const auto done = mesh_renumber_output(options);
  ASSERT_TRUE(done) << done.error().message();
  MeshPlanOptions plan = plan_options("metis");
  plan.path = options.to;
  plan.partition.path = options.write_partition_path;
  plan.json = true;
  const auto json = json_of(mesh_plan_output(plan));
  EXPECT_EQ(*(*json.find("policies")->array())[0].find("intervals")->integer(), 2);
  EXPECT_EQ(*json.find("shared_nodes")->integer(), 5);
}

TEST_F(MeshCommands, APageShowsEveryPolicy) {
  MeshPlanOptions options = plan_options("all");
  options.html_path = folder_ / "p.html";
  ASSERT_TRUE(mesh_plan_output(options));
  const std::string page = content_of(options.html_path);
  for (const owner::Policy policy : owner::all_policies()) {
    EXPECT_NE(page.find(owner::policy_name(policy)), std::string::npos);
  }
  size_t pictures = 0;
  for (size_t at = page.find("<svg"); at != std::string::npos; at = page.find("<svg", at + 1)) {
    ++pictures;
  }
  EXPECT_EQ(pictures, 3U);
}

TEST(MeshPage, ManyProcessesShareColumns) {
  MeshPlanFacts facts;
  PlannedPolicy planned;
  owner::Writers writers(1000);
  for (int i = 0; i < 1000; ++i) writers.append(i % 7 + 1, i);
  planned.metrics = owner::measure(writers);
  planned.writers = std::move(writers);
  facts.planned.push_back(std::move(planned));
  const std::string page = mesh_plan_page(facts);
  EXPECT_NE(page.find("processes 996 to 999"), std::string::npos);
  EXPECT_LT(page.size(), 200'000U);
}

}  // namespace
}  // namespace tessera::cli
