#include "tessera/port/start_program.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fstream>

#include "tessera/port/descriptor.hpp"
#include "tessera/port/test_directory.hpp"
#include "tessera/port/test_processes.hpp"
#include "tessera/port/test_refused_calls.hpp"
#include "tessera/port/test_sanitizers.hpp"

namespace tessera::port {
namespace {

// Sanitizers lose track of a child that shares the memory of its parent on a stack of its own.
class StartProgram : public ::testing::Test {
 protected:
  void SetUp() override {
    if (kSanitized) GTEST_SKIP() << "runs in builds without sanitizers";
  }
};

int run_shell(const std::string& script, const std::vector<std::string>& without = {}) {
  return run_program({"/bin/sh", "-c", script}, without).value();
}

TEST_F(StartProgram, AnswersTheExitStatus) {
  EXPECT_EQ(run_shell("exit 0"), 0);
  EXPECT_EQ(run_shell("exit 7"), 7);
}

TEST_F(StartProgram, PassesTheInputAndNothingWithoutOne) {
  const std::vector<std::string> compare = {"/bin/sh", "-c", "test \"$(cat)\" = 'a secret'"};
  EXPECT_EQ(run_program(compare, {}, "a secret").value(), 0);
  EXPECT_EQ(run_program(compare, {}, "another").value(), 1);
  EXPECT_EQ(run_shell("test -z \"$(cat)\""), 0);
}

TEST_F(StartProgram, ReportsWhatCannotBeStartedOrDoesNotEnd) {
  const auto missing = run_program({"/no/such/program"}, {});
  EXPECT_EQ(missing.error().errno_value, ENOENT);
  EXPECT_FALSE(run_program({"/bin/sh", "-c", "kill -9 $$"}, {}));
}

TEST_F(StartProgram, PassesTheEnvironmentButForSomeVariables) {
  ::setenv("TESSERA_TEST_KEPT", "1", 1);
  ::setenv("TESSERA_TEST_GONE", "1", 1);
  EXPECT_EQ(run_shell("test -n \"$TESSERA_TEST_KEPT\" && test -z \"$TESSERA_TEST_GONE\"",
                      {"TESSERA_TEST_GONE"}),
            0);
}

TEST_F(StartProgram, PassesNoDescriptorAndNoSignalMask) {
  const TestDirectory directory;
  const std::ofstream keep(directory.path("open"));
  EXPECT_EQ(run_shell("test -z \"$(ls -l /proc/self/fd | grep '" + directory.path("open") + "')\""),
            0);
  sigset_t terminate;
  ::sigemptyset(&terminate);
  ::sigaddset(&terminate, SIGTERM);
  ::sigprocmask(SIG_BLOCK, &terminate, nullptr);
  EXPECT_FALSE(run_program({"/bin/sh", "-c", "kill -TERM $$; sleep 1"}, {}));
  ::sigprocmask(SIG_UNBLOCK, &terminate, nullptr);
}

// Where the call that closes all of them is refused, one by one; many, so that they are listed in
// parts.
TEST_F(StartProgram, PassesNoDescriptorWhereTheCallIsRefused) {
  const TestDirectory directory;
  const std::string path = directory.path("open");
  std::vector<Descriptor> keep;
  for (int i = 0; i < 300; ++i) keep.emplace_back(::open(path.c_str(), O_RDWR | O_CREAT, 0600));
  for (const int answer : {EPERM, ENOSYS}) {
    run_processes(1, [&](int) {
      // Else execve() closes them, which does not hold for the sockets of an MPI.
      for (const Descriptor& one : keep) ::fcntl(one.number(), F_SETFD, 0);
      ASSERT_TRUE(refuse({SYS_close_range, answer}));
      EXPECT_EQ(run_shell("ls -l /proc/self/fd | grep -q '" + path + "'"), 1);
    });
  }
}

// Else a daemon would keep the standard output of the job that started it.
TEST_F(StartProgram, ReplacesTheStandardStreamsAlsoWhereNoDescriptorIsLeft) {
  run_processes(1, [&](int) {
    constexpr rlim_t kDescriptors = 64;
    const rlimit few = {kDescriptors, kDescriptors};
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
    while (::dup(1) >= 0) {
    }
    ASSERT_EQ(errno, EMFILE);
    for (const char* stream : {"0", "1", "2"}) {
      const std::string link = std::string("/proc/$$/fd/") + stream;
      EXPECT_EQ(run_shell("test \"$(readlink " + link + ")\" = /dev/null"), 0) << stream;
    }
  });
}

volatile sig_atomic_t g_children = 0;
void count_child(int /*number*/) { g_children = g_children + 1; }

TEST_F(StartProgram, TheProgramThatWeAreInNoticesNothing) {
  struct sigaction counting {};
  struct sigaction before {};
  counting.sa_handler = count_child;
  ::sigaction(SIGCHLD, &counting, &before);
  EXPECT_EQ(run_shell("exit 0"), 0);
  EXPECT_EQ(g_children, 0);
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
  ::sigaction(SIGCHLD, &before, nullptr);
}

}  // namespace
}  // namespace tessera::port
