#include "bench/output.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "bench/report.hpp"
#include "bench/svg.hpp"
#include "tessera/base/json.hpp"

namespace tessera::bench {
namespace {

using base::Json;

Outcome full_outcome() {
  Outcome outcome;
  outcome.name = "gather \"8 B\" <in> cache";
  outcome.group = "gather & scatter";
  outcome.unit = "GB/s";
  outcome.kind = Kind::kRate;
  outcome.x = 8;
  outcome.x_label = "run in bytes";
  outcome.ours = 12.3456789;
  outcome.peers = {{"MPICH", 10}, {"Open MPI", 4}};
  outcome.best_peer = "MPICH";
  outcome.ratio = 1.23456789;
  outcome.noise = NoiseBand{0.98, 1.02};
  outcome.ceiling = 15;
  outcome.ceiling_name = "memcpy";
  outcome.ceiling_fraction = 0.823;
  outcome.runs = 25;
  outcome.spread = 0.0123;
  outcome.paper = Paper{"2x to 6x", "paper 0, Figure 9", 6.0};
  outcome.note = "a\nnote";
  outcome.bar = "at least 1.5x Open MPI";
  outcome.met = true;
  return outcome;
}

Outcome bare_outcome() {
  Outcome outcome;
  outcome.name = "size";
  outcome.group = "size";
  outcome.unit = "B";
  outcome.kind = Kind::kSize;
  outcome.ours = 77;
  outcome.runs = 1;
  return outcome;
}

BenchRun a_run() { return {"pattern", this_machine(), {full_outcome(), bare_outcome()}}; }

double number_in(const Json& object, const char* key) {
  const Json* found = object.find(key);
  if (found == nullptr) return std::numeric_limits<double>::quiet_NaN();
  if (found->integer() != nullptr) return static_cast<double>(*found->integer());
  return found->real() != nullptr ? *found->real() : std::numeric_limits<double>::quiet_NaN();
}

TEST(Output, TheMeanAgainstAnotherBuildLeavesOutWhatIsNamed) {
  BenchRun run = a_run();
  for (const auto& [ratio, reason] :
       {std::pair{2.0, ""}, {0.5, ""}, {4.0, ""}, {0.01, "4 KiB cases"}, {0.02, "4 KiB cases"}}) {
    Outcome outcome = full_outcome();
    outcome.name = fmt::format("case {}", ratio);
    outcome.before = 5;
    outcome.before_ratio = ratio;
    outcome.twin_ratio = 1.03;
    outcome.before_noise = NoiseBand{0.99, 1.01};
    outcome.not_compared = reason;
    run.outcomes.push_back(outcome);
  }
  run.not_run = {{"a wall", "it could not be run"}};
  EXPECT_EQ(summary_text(run).find("against the build before"), std::string::npos);
  run.against = true;
  const Summary summary = summary_of(run);
  EXPECT_EQ(summary.against_cases, 3);
  EXPECT_NEAR(*summary.against_twin_mean, 1.03, 1e-9);
  EXPECT_NEAR(*summary.against_mean, std::cbrt(4.0), 1e-9);
  const std::string text = summary_text(run);
  EXPECT_NE(text.find("against the build before: geometric mean 1.587 of 3 cases"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("of this build against itself (A/A) 1.030"), std::string::npos) << text;
  for (const char* part : {"not in that mean: 2 cases, 4 KiB cases\n    case 0.01\n    case 0.02\n",
                           "not in that mean: 1 case, a figure that is not timed\n    size\n",
                           "1 case, only this build runs it\n    gather \"8 B\" <in> cache\n",
                           "1 case, it could not be run\n    a wall\n"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " is missing in\n" << text;
  }
  EXPECT_NE(table_rows(run.outcomes.back()).find("not in the mean: 4 KiB cases"),
            std::string::npos);
  const auto json = Json::parse(to_json(run));
  ASSERT_TRUE(json) << json.error().message();
  EXPECT_EQ(json->find("cases")->array()->front().find("against"), nullptr);
  const Json& last = *json->find("cases")->array()->back().find("against");
  EXPECT_NEAR(number_in(last, "ratio"), 0.02, 1e-9);
  EXPECT_NEAR(number_in(last, "twin_ratio"), 1.03, 1e-9);
  EXPECT_FALSE(*last.find("in_mean")->boolean());
  const Json& told = *json->find("summary");
  EXPECT_NEAR(number_in(told, "against_twin_geometric_mean"), 1.03, 1e-9);
  const Json& left_out = *told.find("against_left_out");
  EXPECT_EQ(left_out.find("4 KiB cases")->array()->size(), 2U);
  EXPECT_EQ(*left_out.find("it could not be run")->array()->front().string(), "a wall");
}

TEST(Output, MarkedCasesAreNamed) {
  BenchRun run = a_run();
  EXPECT_EQ(summary_text(run).find("the noise band"), std::string::npos);
  run.outcomes[0].mark = "within 0.85 and the noise band";
  EXPECT_NE(table_rows(run.outcomes[0]).find("within 0.85 and the noise band"), std::string::npos);
  EXPECT_NE(summary_text(run).find("within the floor and the noise band: gather \"8 B\""),
            std::string::npos);
  const auto json = Json::parse(to_json(run));
  ASSERT_TRUE(json) << json.error().message();
  EXPECT_EQ(*json->find("cases")->array()->front().find("mark")->string(),
            "within 0.85 and the noise band");
  EXPECT_EQ(json->find("summary")->find("marked")->array()->size(), 1U);
}

TEST(Output, JsonHasThePromisedFields) {
  const auto json = Json::parse(to_json(a_run()));
  ASSERT_TRUE(json) << json.error().message();
  EXPECT_EQ(*json->find("bench")->string(), "pattern");
  EXPECT_FALSE(json->find("machine")->find("cpu")->string()->empty());
  EXPECT_GE(number_in(*json->find("machine"), "cores"), 1);
  const auto& cases = *json->find("cases")->array();
  ASSERT_EQ(cases.size(), 2U);
  EXPECT_EQ(*cases[0].find("case")->string(), "gather \"8 B\" <in> cache");
  EXPECT_EQ(*cases[0].find("unit")->string(), "GB/s");
  EXPECT_DOUBLE_EQ(number_in(cases[0], "ours"), 12.3457);
  EXPECT_DOUBLE_EQ(number_in(*cases[0].find("peers"), "Open MPI"), 4);
  EXPECT_DOUBLE_EQ(number_in(cases[0], "ratio"), 1.23457);
  ASSERT_EQ(cases[0].find("noise")->array()->size(), 2U);
  EXPECT_DOUBLE_EQ(*(*cases[0].find("noise")->array())[0].real(), 0.98);
  EXPECT_DOUBLE_EQ(number_in(cases[0], "ceiling"), 15);
  EXPECT_EQ(number_in(cases[0], "runs"), 25);
  EXPECT_EQ(*cases[0].find("paper")->find("source")->string(), "paper 0, Figure 9");
  EXPECT_EQ(*cases[0].find("note")->string(), "a\nnote");
  EXPECT_TRUE(*cases[0].find("met")->boolean());
}

TEST(Output, WhatDoesNotApplyIsNull) {
  const auto json = Json::parse(to_json(a_run()));
  ASSERT_TRUE(json);
  const Json& bare = (*json->find("cases")->array())[1];
  EXPECT_TRUE(bare.find("peers")->object()->empty());
  EXPECT_TRUE(bare.find("ratio")->is_null());
  EXPECT_TRUE(bare.find("noise")->is_null());
  EXPECT_TRUE(bare.find("ceiling")->is_null());
  EXPECT_EQ(bare.find("met"), nullptr);
}

TEST(Output, JsonTellsBarsSpreadsAndDroppedPeers) {
  BenchRun run = a_run();
  run.outcomes[0].peer_spread = {{"MPICH", 0.5}};
  run.outcomes[0].dropped = {{"LAM", 99}};
  run.outcomes[0].verdicts = {{"first", true}, {"second", false}};
  const auto json = Json::parse(to_json(run));
  ASSERT_TRUE(json) << json.error().message();
  const Json& full = (*json->find("cases")->array())[0];
  EXPECT_DOUBLE_EQ(number_in(*full.find("peer_spread"), "MPICH"), 0.5);
  EXPECT_DOUBLE_EQ(number_in(*full.find("dropped"), "LAM"), 99);
  const auto& bars = *full.find("bars")->array();
  ASSERT_EQ(bars.size(), 2U);
  EXPECT_EQ(*bars[1].find("bar")->string(), "second");
  EXPECT_FALSE(*bars[1].find("met")->boolean());
}

TEST(Output, SummaryIsTheGeometricMeanOfTimedCases) {
  BenchRun run = a_run();
  run.outcomes.push_back(full_outcome());
  run.outcomes[0].ratio = 2;
  run.outcomes[1].ratio = 1000;  // a size
  run.outcomes[2].ratio = 8;
  run.outcomes[2].met = false;
  run.outcomes[2].verdicts = {{"first", true}, {"second", false}};
  EXPECT_FALSE(summary_of(run).mean_met.has_value()) << "no bar is set";
  run.mean_bar = 4.1;
  const Summary summary = summary_of(run);
  EXPECT_DOUBLE_EQ(*summary.geometric_mean, 4);
  EXPECT_EQ(summary.mean_met, false);
  EXPECT_EQ(summary.cases_held, 2);
  EXPECT_EQ(summary.cases_met, 1);
  EXPECT_EQ(summary.bars, 2);
  EXPECT_EQ(summary.bars_met, 1);
  run.failed = 3;
  run.left_out = 2;
  EXPECT_NE(summary_text(run).find("4.00, at least 4.1: NOT MET"), std::string::npos);
  EXPECT_NE(summary_text(run).find("3 cases could not be run"), std::string::npos);
  const auto json = Json::parse(to_json(run));
  ASSERT_TRUE(json);
  EXPECT_EQ(number_in(*json->find("summary"), "geometric_mean"), 4);
  EXPECT_FALSE(*json->find("summary")->find("geometric_mean_met")->boolean());
  EXPECT_EQ(number_in(*json->find("summary"), "failed"), 3);
  EXPECT_EQ(number_in(*json->find("summary"), "left_out"), 2);
}

TEST(Output, TheMeanLeavesOutCasesThatDoNotCountInIt) {
  BenchRun run = a_run();
  run.outcomes.push_back(full_outcome());
  run.outcomes[0].ratio = 2;
  run.outcomes[2].ratio = 8;
  run.outcomes[2].in_mean = false;
  EXPECT_DOUBLE_EQ(*summary_of(run).geometric_mean, 2);
  const auto json = Json::parse(to_json(run));
  ASSERT_TRUE(json);
  const auto& cases = *json->find("cases")->array();
  EXPECT_TRUE(*cases[0].find("in_mean")->boolean());
  EXPECT_FALSE(*cases[1].find("in_mean")->boolean()) << "a size";
  EXPECT_FALSE(*cases[2].find("in_mean")->boolean());
}

TEST(Output, SummaryOfNothingHasNoMean) {
  const BenchRun nothing = {"mpiio", this_machine(), {}, 2.0};
  EXPECT_FALSE(summary_of(nothing).geometric_mean.has_value());
  EXPECT_EQ(summary_of(nothing).mean_met, false);
}

TEST(Output, NumbersThatAreNoneAreNull) {
  BenchRun run = a_run();
  run.outcomes[1].ours = std::numeric_limits<double>::infinity();
  const auto json = Json::parse(to_json(run));
  ASSERT_TRUE(json);
  EXPECT_TRUE((*json->find("cases")->array())[1].find("ours")->is_null());
}

TEST(Output, TableSaysEverything) {
  const std::string rows = table_rows(full_outcome());
  for (const char* part : {"12.3 GB/s", "1.23", "0.980-1.020", "25", "1.2 %", "MPICH 10",
                           "Open MPI 4", "memcpy 15", "82.3 %", "2x to 6x", "met"}) {
    EXPECT_NE(rows.find(part), std::string::npos) << part << " is missing in\n" << rows;
  }
  Outcome missed = full_outcome();
  missed.met = false;
  EXPECT_NE(table_rows(missed).find("NOT MET"), std::string::npos);
}

TEST(Output, NumbersForPeople) {
  EXPECT_EQ(number_text(0), "0");
  EXPECT_EQ(number_text(12.345), "12.3");
  EXPECT_EQ(number_text(123456), "123456");
  EXPECT_EQ(number_text(0.01234), "0.0123");
  EXPECT_EQ(number_text(NAN), "-");
}

TEST(Report, IsSelfContainedAndEscaped) {
  BenchRun run = a_run();
  for (const double x : {16.0, 32.0}) {
    run.outcomes.push_back(full_outcome());
    run.outcomes.back().x = x;
  }
  const std::string html = to_html(run);
  EXPECT_NE(html.find("<svg"), std::string::npos);
  EXPECT_NE(html.find("gather &quot;8 B&quot; &lt;in&gt; cache"), std::string::npos);
  EXPECT_EQ(html.find("<in>"), std::string::npos);
  EXPECT_EQ(html.find("http"), std::string::npos);
  EXPECT_EQ(html.find("nan"), std::string::npos);
  EXPECT_NE(html.find("paper 0, Figure 9"), std::string::npos);
}

TEST(Axis, IsLogarithmic) {
  const LogAxis axis = {1, 100, 0, 200};
  EXPECT_DOUBLE_EQ(axis(1), 0);
  EXPECT_DOUBLE_EQ(axis(10), 100);
  EXPECT_DOUBLE_EQ(axis(1000), 200) << "cut to the axis";
  EXPECT_EQ(axis.decimal_ticks(3), (std::vector<double>{1, 10, 100}));
  const LogAxis narrow = {0.95, 1.05, 0, 100};
  EXPECT_FALSE(narrow.decimal_ticks(3).empty());
  const LogAxis bytes = {8, 65536, 0, 100};
  EXPECT_EQ(bytes.binary_ticks(20).front(), 8);
  EXPECT_EQ(bytes.binary_ticks(20).back(), 65536);
}

}  // namespace
}  // namespace tessera::bench
