// Logs of jobs: read, summed up, judged and shown.
#include <gtest/gtest.h>

#include <string>

#include "tessera/base/json.hpp"
#include "tessera/cli/report_advice.hpp"
#include "tessera/cli/report_log.hpp"
#include "tessera/cli/report_page.hpp"
#include "tessera/cli/report_text.hpp"
#include "tessera/cli/report_totals.hpp"

namespace tessera::cli {
namespace {

// Two ranks write 8-byte runs one by one; rank 1 takes three times as long.
const char* const kLog = R"({"format": "tessera-report", "version": 1, "later": {"x": [1]},
 "job": {"program": "./tiles", "mpi": "openmpi", "ranks": 2, "nodes": 1,
         "started": "2026-11-15T12:00:00Z", "seconds": 2.5, "library": "0.1.0"},
 "files": [{"path": "out.dat", "ranks": [
   {"rank": 0, "opens": 1,
    "read": {"calls": 0, "bytes": 0, "seconds": 0, "run_sizes": []},
    "write": {"calls": 2, "bytes": 16000, "seconds": 0.5, "run_sizes": [0, 0, 0, 2000]},
    "seconds": {"open": 0.1, "io": 0.4},
    "engines": [{"direction": "write", "mode": "independent", "engine": "list",
                 "reason": "runs are short", "calls": 2, "bytes": 16000, "seconds": 0.5}]},
   {"rank": 1, "opens": 1,
    "write": {"calls": 2, "bytes": 24000, "seconds": 1.5, "run_sizes": [0, 0, 0, 3000]},
    "seconds": {"open": 0.1, "io": 0.9, "lock": 0.5},
    "engines": [{"direction": "write", "mode": "independent", "engine": "list",
                 "reason": "runs are short", "calls": 2, "bytes": 24000, "seconds": 1.5}]}]}]})";

ReportLog sample() {
  auto log = parse_report(kLog);
  EXPECT_TRUE(log) << log.error().message();
  return *std::move(log);
}

// For its first file.
Advice advice_of(const ReportLog& log) {
  return advice_for(log.files[0], totals_of(log.files[0]), log.job, weight_of(log));
}

std::vector<std::string> sentences_of(const ReportLog& log) { return advice_of(log).sentences; }

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(ReportLog, IsReadAsWritten) {
  const ReportLog log = sample();
  EXPECT_EQ(log.job.program, "./tiles");
  EXPECT_EQ(log.job.ranks, 2);
  EXPECT_DOUBLE_EQ(log.job.seconds, 2.5);
  ASSERT_EQ(log.files.size(), 1U);
  ASSERT_EQ(log.files[0].ranks.size(), 2U);
  const RankRecord& rank = log.files[0].ranks[1];
  EXPECT_EQ(rank.write.bytes, 24000);
  EXPECT_EQ(rank.write.run_sizes, std::vector<int64_t>({0, 0, 0, 3000}));
  EXPECT_DOUBLE_EQ(rank.seconds[static_cast<size_t>(Phase::kLock)], 0.5);
  EXPECT_EQ(rank.read.calls, 0);
  ASSERT_EQ(rank.engines.size(), 1U);
  EXPECT_EQ(rank.engines[0].direction, Direction::kWrite);
  EXPECT_EQ(rank.engines[0].reason, "runs are short");
}

TEST(ReportLog, RefusalsNameTheValue) {
  const auto refused = [](std::string from, const std::string& to, const std::string& cause) {
    std::string text = kLog;
    text.replace(text.find(from), from.size(), to);
    const auto log = parse_report(text);
    ASSERT_FALSE(log) << to;
    EXPECT_EQ(log.error().code, base::Code::kInvalid);
    EXPECT_TRUE(holds(log.error().message(), cause)) << log.error().message();
    EXPECT_FALSE(holds(log.error().message(), "\n"));
  };
  refused("tessera-report", "darshan", "is no report of Tessera");
  refused("\"version\": 1", "\"version\": 2",
          "version (line 1, column 41): version 2 is not known");
  refused("\"version\": 1", "\"no\": 1", "version 0 is not known");
  refused("\"ranks\": 2", "\"ranks\": 0", "job.ranks (line 2");
  refused("\"ranks\": 2", "\"ranks\": 1",
          "files[0].ranks[1].rank (line 11, column 13): is no rank");
  refused("2.5", "-1", "job.seconds (line 3, column 56): must be a number of seconds, is -1");
  refused("16000", "\"x\"",
          "files[0].ranks[0].write.bytes (line 7, column 36): must be an integer");
  refused("[0, 0, 0, 2000]", "7", "write.run_sizes (line 7");
  refused("[0, 0, 0, 2000]", "[-1]", "write.run_sizes[0] (line 7");
  refused("{\"open\": 0.1, \"io\": 0.4}", "[]",
          "files[0].ranks[0].seconds (line 8, column 16): must");
  refused("\"direction\": \"write\"", "\"direction\": \"up\"", "must be \"read\" or \"write\"");
  refused("\"path\": \"out.dat\"", "\"path\": 5",
          "files[0].path (line 4, column 21): must be a string");
  refused("\"files\": [", "\"files\": 5, \"x\": [", "files (line 4, column 11): must be a list");
}

TEST(ReportLog, OtherTextIsRefused) {
  for (const char* text : {"", "[]", "5", "{}", "{\"format\": 5}", "not json"}) {
    EXPECT_FALSE(parse_report(text)) << text;
  }
  const auto bare =
      parse_report(R"({"format": "tessera-report", "version": 1, "job": {"ranks": 3}})");
  ASSERT_TRUE(bare) << bare.error().message();
  EXPECT_TRUE(bare->files.empty());
}

TEST(ReportLog, AtMostAsManyRunClassesAsBitsInASize) {
  const auto with_classes = [](int classes) {
    std::string sizes = "0";
    for (int i = 1; i < classes; ++i) sizes += ",0";
    return parse_report(R"({"format": "tessera-report", "version": 1, "job": {"ranks": 1},
      "files": [{"path": "f", "ranks": [{"rank": 0, "read": {"run_sizes": [)" +
                        sizes + "]}}]}]}");
  };
  EXPECT_TRUE(with_classes(63));
  EXPECT_FALSE(with_classes(64));
}

TEST(ReportTotals, SumsAndTheSlowest) {
  const ReportLog log = sample();
  const FileTotals totals = totals_of(log.files[0]);
  EXPECT_EQ(totals.write.bytes, 40000);
  EXPECT_EQ(totals.write.calls, 4);
  EXPECT_EQ(runs_of(totals.write), 5000);
  EXPECT_EQ(median_run_bytes(totals.write), 8);
  EXPECT_EQ(totals.slowest_rank, 1);
  EXPECT_DOUBLE_EQ(totals.slowest_seconds, 1.5);
  EXPECT_DOUBLE_EQ(totals.imbalance(), 1.5);
  ASSERT_EQ(totals.engines.size(), 1U);
  EXPECT_EQ(totals.engines[0].bytes, 40000);
  EXPECT_DOUBLE_EQ(totals.engines[0].seconds, 2.0);
  EXPECT_EQ(totals_of(log).write_bytes, 40000);
  EXPECT_EQ(totals_of(log).slowest_rank, 1);
}

TEST(ReportTotals, SumsStopAtTheLargestNumber) {
  EXPECT_EQ(capped_sum(INT64_MAX - 1, 2), INT64_MAX);
  Transfers transfers;
  transfers.run_sizes.assign(kRunClasses, int64_t{1} << 62);
  EXPECT_EQ(runs_of(transfers), INT64_MAX);
  transfers.run_sizes.back() = INT64_MAX;
  EXPECT_EQ(middle_byte_run_bytes(transfers), int64_t{1} << 62);
  EXPECT_EQ(median_run_bytes({}), 0);
  EXPECT_EQ(middle_byte_run_bytes({}), 0);
}

// 997 of 1,000 bytes may lie in four runs of 16 MiB, and 3,000 runs of 64 bytes beside them.
TEST(ReportTotals, RunsAreWeighedByNumberAndByBytes) {
  Transfers transfers;
  transfers.run_sizes.resize(25);
  transfers.run_sizes[6] = 3000;
  EXPECT_EQ(middle_byte_run_bytes(transfers), 64);
  EXPECT_EQ(runs_text(transfers), "64 B");
  transfers.run_sizes[24] = 4;
  EXPECT_EQ(median_run_bytes(transfers), 64);
  EXPECT_EQ(middle_byte_run_bytes(transfers), 16 << 20);
  EXPECT_EQ(runs_text(transfers), "64 B (half of the bytes in runs of about 16.0 MiB)");
  EXPECT_EQ(runs_text({}), "");
}

TEST(ReportAdvice, SaysWhatStandsOut) {
  const ReportLog log = sample();
  const auto advice = sentences_of(log);
  ASSERT_EQ(advice.size(), 3U);
  EXPECT_TRUE(holds(advice[0], "Independent writes in runs of about 8 B: use the collective call"));
  EXPECT_TRUE(holds(advice[1], "Rank 1 took 1.50 s, 1.5 times the average"));
  EXPECT_TRUE(holds(advice[2], "25% of the time goes into waiting for locks"));
}

TEST(ReportAdvice, SaysHowLittleThereIsToGain) {
  ReportLog log = sample();
  log.job.seconds = 200;  // of which the slowest rank spends 1.5 in the file
  const JobWeight weight = weight_of(log);
  EXPECT_EQ(weight.too_little, "I/O took 0.75% of the job (threshold 1%)");
  EXPECT_EQ(advice_line(weight), "No advice: I/O took 0.75% of the job (threshold 1%).");
  const Advice little = advice_of(log);
  EXPECT_FALSE(little.matters);
  EXPECT_EQ(little.too_little, "") << "the job's line says it";
  const auto lines = advice_lines(little);
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_TRUE(holds(lines[0], "Would matter if it took longer: Independent writes in runs"));
  const auto json = base::Json::parse(report_json({log}, {}));
  EXPECT_EQ(*json->find("job")->find("no_advice")->string(), weight.too_little);
  const base::Json& file = json->find("files")->array()->front();
  EXPECT_TRUE(file.find("advice")->array()->empty());
  EXPECT_EQ(file.find("minor")->array()->size(), 3U);
  EXPECT_EQ(file.find("no_advice"), nullptr);
}

// A file that took little of a job whose other files took much.
TEST(ReportAdvice, SaysOfAFileHowLittleThereIsToGain) {
  ReportLog log = sample();
  log.job.seconds = 200;
  log.files.push_back(log.files[0]);
  for (RankRecord& rank : log.files[1].ranks) rank.seconds.fill(5);
  const JobWeight weight = weight_of(log);
  EXPECT_EQ(weight.too_little, "");
  EXPECT_EQ(advice_line(weight), "");
  const Advice little = advice_of(log);
  EXPECT_FALSE(little.matters);
  EXPECT_EQ(little.too_little, "this file took 0.75% of the job (threshold 1%)");
  ASSERT_EQ(advice_lines(little).size(), 4U);
  EXPECT_EQ(advice_lines(little)[0], "No advice: this file took 0.75% of the job (threshold 1%).");
  const auto json = base::Json::parse(report_json({log}, {}));
  const base::Json& file = json->find("files")->array()->front();
  EXPECT_EQ(*file.find("no_advice")->string(), little.too_little);
  EXPECT_TRUE(advice_for(log.files[1], totals_of(log.files[1]), log.job, weight).matters);
}

// Each took too little, all of them did not.
TEST(ReportAdvice, ManySmallFilesMatterTogether) {
  ReportLog log = sample();
  log.job.seconds = 200;
  log.files.resize(100, log.files[0]);
  const JobWeight weight = weight_of(log);
  EXPECT_EQ(weight.too_little, "");
  EXPECT_EQ(weight.file_seconds_min, 0);
  EXPECT_TRUE(advice_of(log).matters);
}

TEST(ReportAdvice, ShortJobsAndFilesAsTheyShouldBe) {
  ReportLog log = sample();
  log.job.seconds = 0.01;
  for (RankRecord& rank : log.files[0].ranks) rank.seconds.fill(0.0001);
  EXPECT_EQ(weight_of(log).too_little, "I/O took 800 us (threshold 10.0 ms)");
  EXPECT_EQ(advice_lines({}), std::vector<std::string>{"No advice: nothing stands out."});
  log.files.clear();
  EXPECT_EQ(advice_line(weight_of(log)), "");
}

// Few large collective calls beside many small independent ones do not hide these.
TEST(ReportAdvice, SmallCallsAreCountedByMode) {
  ReportLog log = sample();
  for (RankRecord& rank : log.files[0].ranks) {
    rank.engines[0].calls = 8195;
    rank.engines[0].bytes = 8195 * 8;
    EngineUse large = rank.engines[0];
    large.mode = "collective";
    large.calls = 2;
    large.bytes = 32 << 20;
    rank.engines.push_back(large);
    rank.write.calls = 8197;
    rank.write.bytes = (32 << 20) + 8195 * 8;
  }
  const auto advice = sentences_of(log);
  ASSERT_GE(advice.size(), 2U);
  EXPECT_TRUE(holds(advice[1], "16,390 independent write calls of 8 B on average")) << advice[1];
}

TEST(ReportAdvice, ManySmallCalls) {
  ReportLog log = sample();
  for (RankRecord& rank : log.files[0].ranks) rank.engines[0].calls = 1000;
  const auto advice = sentences_of(log);
  ASSERT_EQ(advice.size(), 4U);
  EXPECT_TRUE(holds(advice[1], "2,000 independent write calls of 20 B on average")) << advice[1];
  // Neither short runs nor small calls matter where the time goes elsewhere.
  for (RankRecord& rank : log.files[0].ranks) {
    rank.write.seconds = 0.01;
    rank.engines[0].seconds = 0.01;
  }
  EXPECT_EQ(sentences_of(log).size(), 2U);
}

TEST(ReportAdvice, OneRankDoesItAll) {
  ReportLog log = sample();
  log.files[0].ranks.resize(1);
  log.files[0].ranks[0].write.bytes = 1 << 20;
  log.files[0].ranks[0].engines[0].mode = "collective";
  const auto advice = sentences_of(log);
  ASSERT_EQ(advice.size(), 1U);
  EXPECT_TRUE(holds(advice[0], "Only rank 0 of 2 writes this file (1.00 MiB)")) << advice[0];
}

TEST(ReportText, HoldsTheFigures) {
  const std::string text = report_text({sample()});
  EXPECT_TRUE(holds(text, "./tiles on 2 ranks, 1 node, 2.50 s, openmpi\n")) << text;
  EXPECT_TRUE(
      holds(text, "read 0 B, wrote 39.1 KiB, in 1 file; rank 1 spent most time on it, 1.50 s\n"))
      << text;
  EXPECT_TRUE(holds(text, "  wrote   39.1 KiB in 4 calls, runs of about 8 B\n")) << text;
  EXPECT_TRUE(holds(text, "  time    open 10%, io 65%, lock 25%\n")) << text;
  EXPECT_TRUE(holds(text, "independent write  list")) << text;
  EXPECT_EQ(run_class_text(0), "1 B");
  EXPECT_EQ(run_class_text(3), "8 B to 15 B");
  EXPECT_EQ(run_class_text(62), "4.00 EiB to 8.00 EiB");
}

TEST(ReportJson, IsReadBack) {
  const auto json = base::Json::parse(report_json({sample()}));
  ASSERT_TRUE(json) << json.error().message();
  const base::Json& file = json->find("files")->array()->front();
  EXPECT_EQ(*file.find("write")->find("bytes")->integer(), 40000);
  EXPECT_EQ(file.find("advice")->array()->size(), 3U);
  EXPECT_EQ(*json->find("job")->find("slowest_rank")->integer(), 1);
}

TEST(ReportText, SeveralJobs) {
  ReportLog killed = sample();
  killed.job.unfinished = true;
  killed.job.program = "./killed";
  const std::string text = report_text({sample(), killed});
  EXPECT_TRUE(holds(text, "2 jobs\n")) << text;
  EXPECT_TRUE(holds(text, "\n./tiles on 2 ranks")) << text;
  EXPECT_TRUE(holds(text, "\n./killed on 2 ranks")) << text;
  EXPECT_EQ(text.find("unfinished: the job did not come to MPI_Finalize"),
            text.rfind("unfinished: the job did not come to MPI_Finalize"));
  const auto json = base::Json::parse(report_json({sample(), killed}));
  ASSERT_TRUE(json) << json.error().message();
  const auto& jobs = *json->find("jobs")->array();
  ASSERT_EQ(jobs.size(), 2U);
  EXPECT_FALSE(*jobs[0].find("job")->find("unfinished")->boolean());
  EXPECT_TRUE(*jobs[1].find("job")->find("unfinished")->boolean());
  const std::string page = report_page({sample(), killed});
  EXPECT_TRUE(holds(page, "Job 2")) << page;
  EXPECT_TRUE(holds(page, "./killed on 2 ranks"));
}

TEST(ReportPage, ShowsThreePicturesOfAFile) {
  const std::string page = report_page({sample()});
  size_t pictures = 0;
  for (size_t at = 0; (at = page.find("<svg", at)) != page.npos; ++at) ++pictures;
  EXPECT_EQ(pictures, 3U);
  EXPECT_TRUE(holds(page, "rank 1: open 100 ms io 900 ms lock 500 ms"));
  EXPECT_TRUE(holds(page, "5,000 runs of 8 B to 15 B"));
  EXPECT_FALSE(holds(page, "http"));
}

TEST(ReportPage, ManyRanksShareBarsAndNamesAreEscaped) {
  ReportLog log = sample();
  log.job.ranks = 1000;
  log.files[0].path = "<b>&\"";
  for (int64_t rank = 2; rank < 1000; ++rank) {
    log.files[0].ranks.push_back(log.files[0].ranks[1]);
    log.files[0].ranks.back().rank = rank;
  }
  const std::string page = report_page({log});
  EXPECT_TRUE(holds(page, "984 to 999: read 0 B, wrote 23.4 KiB"));
  EXPECT_FALSE(holds(page, "rank 999"));
  EXPECT_FALSE(holds(page, "<b>&"));
}

TEST(ReportPage, OfAJobWithoutFiles) {
  ReportLog log = sample();
  log.files.clear();
  EXPECT_TRUE(holds(report_page({log}), "The job opened no file through Tessera."));
  log.files.push_back({"empty", {}});
  EXPECT_TRUE(holds(report_page({log}), "0 ranks, no time to speak of"));
}

}  // namespace
}  // namespace tessera::cli
