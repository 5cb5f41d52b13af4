#include "bench/mpiio_job.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

#include "bench/mpiio_pool.hpp"

namespace tessera::bench {
namespace {

bool has_words(const std::vector<std::string>& command, const std::vector<std::string>& words) {
  return std::search(command.begin(), command.end(), words.begin(), words.end()) != command.end();
}

TEST(LaunchCommand, PreloadsOursAndNothingElse) {
  const JobKind ours = {"openmpi", "Tessera", 4, {}, true};
  EXPECT_TRUE(has_words(launch_command(ours, "peer", "/x/lib.so", "/f"),
                        {"-x", "LD_PRELOAD=/x/lib.so", "-n", "4", "peer", "/f"}));
  const JobKind romio = {"openmpi", "ROMIO", 2, {"--mca", "io", "romio321"}};
  const auto stock = launch_command(romio, "peer", "", "/f");
  EXPECT_TRUE(has_words(stock, {"-n", "2", "--mca", "io", "romio321", "peer", "/f"}));
  for (const std::string& word : stock) EXPECT_EQ(word.find("LD_PRELOAD"), std::string::npos);
  const JobKind mpich = {"mpich", "Tessera", 2, {}, true};
  EXPECT_TRUE(has_words(launch_command(mpich, "peer", "/x/lib.so", "/f"),
                        {"mpiexec.mpich", "-genv", "LD_PRELOAD", "/x/lib.so", "-n", "2"}));
}

TEST(RunCommand, SaysEverything) {
  Operation operation;
  operation.access = Access::kIndependent;
  operation.flow = Flow::kRead;
  operation.timed = Timed::kWhole;
  EXPECT_EQ(run_command(operation, 7, true), "run independent read whole 7 v -");
  operation = {};
  operation.hints = "a=b,c=d";
  EXPECT_EQ(run_command(operation, 1, false), "run collective write transfer 1 - a=b,c=d");
  operation.atomic = true;
  operation.slow = true;
  EXPECT_EQ(run_command(operation, 1, false), "run collective write transfer 1 as a=b,c=d");
  operation.file = FileKind::kReplicated;
  operation.synced = operation.cold = true;
  operation.timed = Timed::kTyped;
  EXPECT_EQ(run_command(operation, 1, false), "run collective write typed 1 asryc a=b,c=d");
}

TEST(MpiJob, UnknownMpiIsNotFound) {
  MpiPool pool;
  const auto job = pool.job({"nosuch", "ROMIO", 2}, false);
  ASSERT_FALSE(job);
  EXPECT_EQ(job.error().code, base::Code::kNotFound);
}

// Every library on two ranks. Runs where the peer was built, that is where the MPI's compiler is
// installed, and for ours where our library was.
struct Library {
  const char* title;
  JobKind kind;
};

class MpiJobTest : public testing::TestWithParam<Library> {
 protected:
  // Small versions of every workload that two ranks can run.
  static std::vector<Workload> small_workloads() {
    return {{"block3d", {10, 0, 0}},      {"flash", {2, 0, 0}},         {"flash", {2, 1, 0}},
            {"column", {64, 20, 1}},      {"contiguous", {640, 64, 0}}, {"column", {8, 500, 0}},
            {"column", {256, 20, 0}},     {"matrix", {50, 3, 0}},       {"irregular", {300, 1, 40}},
            {"contiguous", {4096, 0, 0}}, {"halo", {6, 2, 0}}};
  }

  void write_shares(const std::string& name, const std::vector<int64_t>& words) {
    std::ofstream file(pool_.folder().value() + "/" + name, std::ios::binary);
    file.write(reinterpret_cast<const char*>(words.data()),
               static_cast<std::streamsize>(words.size() * sizeof(int64_t)));
  }

  MpiPool pool_;
};

TEST_P(MpiJobTest, MovesTheRightBytesAndMeasures) {
  const JobKind& kind = GetParam().kind;
  const auto started = pool_.job(kind, false);
  if (!started && started.error().code == base::Code::kNotFound) {
    GTEST_SKIP() << started.error().message();
  }
  ASSERT_TRUE(started) << started.error().message();
  for (const Workload& workload : small_workloads()) {
    for (const Access access : {Access::kIndependent, Access::kCollective, Access::kPosix}) {
      for (const Flow flow : {Flow::kWrite, Flow::kRead}) {
        for (const Timed timed : {Timed::kTransfer, Timed::kWhole}) {
          const Operation operation = {workload, access, flow, timed};
          const auto ns = pool_.verify(kind, false, operation);
          ASSERT_TRUE(ns) << workload.name << ": " << ns.error().message();
          EXPECT_GT(*ns, 0);
        }
      }
    }
    Operation fresh = {workload, Access::kIndependent, Flow::kWrite, Timed::kWhole};
    fresh.fresh = fresh.synced = true;
    const auto ns = pool_.verify(kind, false, fresh);
    ASSERT_TRUE(ns) << workload.name << ", a new file: " << ns.error().message();
  }
}

TEST_P(MpiJobTest, GoesOnAfterAWrongCommandAndEndsWithItsFiles) {
  const JobKind& kind = GetParam().kind;
  const auto started = pool_.job(kind, false);
  if (!started && started.error().code == base::Code::kNotFound) {
    GTEST_SKIP() << started.error().message();
  }
  ASSERT_TRUE(started) << started.error().message();
  MpiJob& job = **started;
  EXPECT_FALSE(job.ask("run collective write transfer 1 - -", 20)) << "nothing is prepared";
  EXPECT_FALSE(job.ask("nonsense", 20));
  EXPECT_FALSE(job.prepare({"nosuch", {1, 1, 1}}));
  EXPECT_FALSE(job.prepare({"tile", {0, 0, 0}})) << "two ranks are no square";
  const auto bytes = job.prepare({"contiguous", {1000, 0, 0}});
  ASSERT_TRUE(bytes) << bytes.error().message();
  EXPECT_EQ(*bytes, 2000);
  EXPECT_TRUE(job.ask("run collective write transfer 3 va -", 20));
  const auto memory = job.ask("memory write", 20);
  ASSERT_TRUE(memory) << memory.error().message();
  EXPECT_EQ(memory->size(), 3U);
}

TEST_P(MpiJobTest, AlternatesViewsAndMakesFiles) {
  const JobKind& kind = GetParam().kind;
  const auto started = pool_.job(kind, false);
  if (!started && started.error().code == base::Code::kNotFound) {
    GTEST_SKIP() << started.error().message();
  }
  ASSERT_TRUE(started) << started.error().message();
  MpiJob& job = **started;
  const auto ns = [&job](const std::string& command) {
    const auto answer = job.ask(command, 20);
    EXPECT_TRUE(answer) << answer.error().message();
    return answer ? answer->at(0) : 0;
  };
  EXPECT_GT(ns("alternating 5 a -"), 0);
  EXPECT_GT(ns("files 3 -"), 0);
  if (kind.tessera) {
    EXPECT_GT(ns("files 3 obj:"), 0);
  }
  const std::filesystem::directory_iterator left(job.folder());
  for (const auto& entry : left) {
    EXPECT_FALSE(entry.path().filename().string().starts_with("file.")) << entry.path();
    EXPECT_NE(entry.path().filename(), "alternating");
  }
}

// Two choices of who writes which of ten nodes, and one that leaves nodes out.
TEST_P(MpiJobTest, WritesAMeshByEveryChoiceOfWriters) {
  const JobKind& kind = GetParam().kind;
  const auto started = pool_.job(kind, false);
  if (!started && started.error().code == base::Code::kNotFound) {
    GTEST_SKIP() << started.error().message();
  }
  write_shares("shares.7.0", {2, 10, 4, 0, 3, 1, 3, 4, 0, 4, 9, 1, 9, 10, 0});
  write_shares("shares.7.1", {2, 10, 2, 0, 5, 0, 5, 10, 1});
  write_shares("shares.7.2", {2, 10, 2, 0, 5, 0, 6, 10, 1});
  write_shares("shares.7.3", {3, 10, 2, 0, 5, 0, 5, 10, 1});
  for (const int64_t choice : {0, 1, 0}) {
    for (const Access access : {Access::kIndependent, Access::kCollective, Access::kPosix}) {
      for (const Timed timed : {Timed::kTransfer, Timed::kTyped}) {
        const Operation operation = {{"mesh", {7, 3, choice}}, access, Flow::kWrite, timed};
        const auto ns = pool_.verify(kind, false, operation);
        ASSERT_TRUE(ns) << ns.error().message();
        EXPECT_GT(*ns, 0);
      }
    }
  }
  for (const int64_t choice : {2, 3, 4}) {
    EXPECT_FALSE(pool_.verify(kind, false, {{"mesh", {7, 3, choice}}})) << choice;
  }
  Operation typed = {{"contiguous", {4096, 0, 0}}};
  typed.timed = Timed::kTyped;
  EXPECT_FALSE(pool_.verify(kind, false, typed)) << "its type is made once";
}

TEST_P(MpiJobTest, OverlapIsMeasuredOnOneRank) {
  JobKind kind = GetParam().kind;
  kind.ranks = 1;
  const auto started = pool_.job(kind, false);
  if (!started && started.error().code == base::Code::kNotFound) {
    GTEST_SKIP() << started.error().message();
  }
  ASSERT_TRUE(started) << started.error().message();
  const auto times = (*started)->ask("overlap 1000000 1", 20);
  ASSERT_TRUE(times) << times.error().message();
  ASSERT_EQ(times->size(), 3U);
  for (const double ns : *times) EXPECT_GT(ns, 0);
}

INSTANTIATE_TEST_SUITE_P(
    Libraries, MpiJobTest,
    testing::Values(Library{"OMPIO", {"openmpi", "OMPIO", 2}},
                    Library{"ROMIO", {"openmpi", "ROMIO", 2, {"--mca", "io", "romio321"}}},
                    Library{"MPICH", {"mpich", "ROMIO", 2}},
                    Library{"OursInOpenMpi", {"openmpi", "Tessera", 2, {}, true}},
                    Library{"OursInMpich", {"mpich", "Tessera", 2, {}, true}}),
    [](const auto& library) { return library.param.title; });

// Jobs of ours in Open MPI.
class OwnJobTest : public testing::Test {
 protected:
  // Null where there is nothing to run; the test is skipped.
  MpiJob* start(int ranks, const std::vector<std::string>& arguments = {}) {
    const auto started = pool_.job({"openmpi", "Tessera", ranks, arguments, true}, false);
    if (started) return *started;
    EXPECT_EQ(started.error().code, base::Code::kNotFound) << started.error().message();
    return nullptr;
  }

  MpiPool pool_;
};

TEST_F(OwnJobTest, SixScreensReadAFilmInAtomicMode) {
  if (start(6) == nullptr) GTEST_SKIP() << "Open MPI or our library is missing";
  Operation operation = {{"reader", {3, 0, 0}}, Access::kIndependent, Flow::kRead};
  operation.atomic = true;
  for (const bool slow : {false, true}) {
    operation.slow = slow;
    const JobKind kind = {"openmpi", "Tessera", 6, {}, true};
    const auto verified = pool_.verify(kind, false, operation);
    ASSERT_TRUE(verified) << verified.error().message();
    const auto ns = pool_.measure(kind, false, operation, 5);
    ASSERT_TRUE(ns) << ns.error().message();
    EXPECT_GT(*ns, 0) << "more frames than there are: it begins again";
  }
}

// Of 1,000 overlapping writes no two are mixed in atomic mode.
TEST_F(OwnJobTest, AtomicWritesAreNotMixed) {
  for (const int ranks : {4, 8}) {
    MpiJob* job = start(ranks);
    if (job == nullptr) GTEST_SKIP() << "Open MPI or our library is missing";
    const auto found = job->ask("atomicity 1000 a -", 60);
    ASSERT_TRUE(found) << found.error().message();
    EXPECT_EQ(found->at(0), 0) << "violations";
    EXPECT_EQ(found->at(1), 1000 / ranks * ranks * (ranks - 1) / 2) << "all pairs meet";
  }
}

// On a store where writes take time and the file system has no locks. The control: without locks
// they are mixed, and the check sees it.
TEST_F(OwnJobTest, AtomicWritesAreNotMixedWhereTheFileSystemHasNoLocks) {
  MpiJob* job = start(4, {"-x", "TESSERA_EMULATED_STORE=1ms"});
  if (job == nullptr) GTEST_SKIP() << "Open MPI or our library is missing";
  const auto violations = [&](const std::string& command) {
    const auto found = job->ask("atomicity 40 " + command, 60);
    EXPECT_TRUE(found) << found.error().message();
    return found ? found->at(0) : -1;
  };
  EXPECT_EQ(violations("a tessera_engine=list,tessera_lock=list"), 0);
  EXPECT_EQ(violations("a tessera_engine=list,tessera_lock=range"), 0);
  EXPECT_EQ(violations("a tessera_engine=list,tessera_lock=file"), 0);
  EXPECT_GT(violations("a tessera_engine=list,tessera_lock=none"), 0);
  EXPECT_GT(violations("- tessera_engine=list"), 0);
}

// Stock is never measured under our name.
TEST(MpiJob, StockDoesNotPassForOurs) {
  MpiPool pool;
  JobKind kind = {"openmpi", "Tessera", 1, {"-x", "LD_PRELOAD="}, true};
  const auto job = pool.job(kind, false);
  if (!job && job.error().code == base::Code::kNotFound) GTEST_SKIP() << job.error().message();
  ASSERT_FALSE(job);
  EXPECT_NE(job.error().message().find("stock"), std::string::npos) << job.error().message();
}

}  // namespace
}  // namespace tessera::bench
