#include "tessera/port/bus_guard.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <thread>
#include <vector>

#include "tessera/port/file_mapping.hpp"
#include "tessera/port/test_directory.hpp"
#include "tessera/port/test_processes.hpp"
#include "tessera/port/test_sanitizers.hpp"

// Sanitizers leave SIGBUS to the tests of this program, which look at who handles it.
// NOLINTBEGIN(readability-identifier-naming): the sanitizers' names.
extern "C" const char* __asan_default_options() { return "handle_sigbus=0"; }
extern "C" const char* __tsan_default_options() { return "handle_sigbus=0"; }
// NOLINTEND(readability-identifier-naming)

namespace tessera::port {
namespace {

constexpr int64_t kPage = 4096;

// What handlers of the program see; shared with the children that run them.
struct Seen {
  std::atomic<int> faults;
  std::atomic<const void*> address;
  std::atomic<int> sent;
};
Seen* g_seen = nullptr;
struct sigaction g_before {};

void repair(const void* address) {
  auto* page = reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(address) / kPage * kPage);
  ::mmap(page, kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}

// A handler that repairs what it is told of.
void on_bus(int /*number*/, siginfo_t* info, void* /*context*/) {
  if (info->si_code <= 0) {
    ++g_seen->sent;
    return;
  }
  ++g_seen->faults;
  g_seen->address = info->si_addr;
  repair(info->si_addr);
}

// Handlers that go on to the one that they replaced, in both styles.
void on_bus_chained(int number, siginfo_t* info, void* context) {
  ++g_seen->faults;
  if ((g_before.sa_flags & SA_SIGINFO) != 0) return g_before.sa_sigaction(number, info, context);
  if (g_before.sa_handler != SIG_DFL) return g_before.sa_handler(number);
  ::signal(number, SIG_DFL);
}

void (*g_old_style)(int) = SIG_DFL;
// As signal() answers a handler of three arguments too, old programs call it so.
#if defined(__clang__)
__attribute__((no_sanitize("function")))
#endif
void on_bus_old_style(int number) {
  ++g_seen->faults;
  if (g_old_style != SIG_DFL) return g_old_style(number);
  ::signal(number, SIG_DFL);
}

void handle(void (*handler)(int, siginfo_t*, void*), int flags = 0) {
  struct sigaction action {};
  action.sa_sigaction = handler;
  action.sa_flags = SA_SIGINFO | flags;
  ::sigaction(SIGBUS, &action, &g_before);
}

sigset_t only_bus() {
  sigset_t set;
  ::sigemptyset(&set);
  ::sigaddset(&set, SIGBUS);
  return set;
}

bool is_blocked() {
  sigset_t mask;
  ::pthread_sigmask(SIG_SETMASK, nullptr, &mask);
  return ::sigismember(&mask, SIGBUS) == 1;
}

// Threads store the same to one byte, which is no race that matters.
#if defined(__clang__)
__attribute__((no_sanitize("thread")))
#endif
void store(std::byte* at) {
  *const_cast<volatile std::byte*>(at) = std::byte{1};
}

class BusGuardTest : public testing::Test {
 protected:
  void SetUp() override {
    g_seen = &*seen_;
    file_ = PlainFile::open(directory_.path("file"), {.read = true, .write = true, .create = true})
                .value();
  }

  // A mapping of two pages, of which the second is gone.
  FileMapping cut_mapping() {
    TESSERA_ASSERT(file_->truncate(2 * kPage));
    auto mapping = FileMapping::map(*file_, 0, 2 * kPage, Access::kReadWrite);
    TESSERA_ASSERT(file_->truncate(kPage));
    return *std::move(mapping);
  }
  // Memory of the program that faults.
  std::byte* cut_memory() {
    TESSERA_ASSERT(file_->truncate(kPage));
    void* memory =
        ::mmap(nullptr, 2 * kPage, PROT_READ | PROT_WRITE, MAP_SHARED, file_->descriptor(), 0);
    TESSERA_ASSERT(memory != MAP_FAILED);
    return static_cast<std::byte*>(memory) + kPage;
  }
  bool touches_end(const FileMapping& mapping) {
    return mapping.touch([&] { store(mapping.data() + kPage); });
  }

  // Runs in a child; the status of its end, 0 where all that it expected is so.
  static int status_of(const std::function<void()>& body) {
    std::fflush(nullptr);
    const pid_t child = ::fork();
    if (child == 0) {
      ::alarm(60);
      body();
      std::fflush(nullptr);
      ::_exit(testing::Test::HasFailure() ? 1 : 0);
    }
    int status = -1;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    return status;
  }
  static bool died_of(int status, int number) {
    return WIFSIGNALED(status) && WTERMSIG(status) == number;
  }

  TestDirectory directory_;
  std::unique_ptr<PlainFile> file_;
  const SharedByChildren<Seen> seen_;
};

TEST_F(BusGuardTest, BUS1TheHandlerIsTheProgramsOutsideOfTouches) {
  EXPECT_EQ(status_of([&] {
              handle(on_bus, SA_NODEFER);
              EXPECT_FALSE(touches_end(cut_mapping()));
              struct sigaction after {};
              ::sigaction(SIGBUS, nullptr, &after);
              EXPECT_EQ(after.sa_sigaction, on_bus);
              EXPECT_EQ(after.sa_flags & (SA_SIGINFO | SA_NODEFER), SA_SIGINFO | SA_NODEFER);
              EXPECT_EQ(g_seen->faults, 0);
            }),
            0);
}

TEST_F(BusGuardTest, BUS2AThreadThatBlocksTheSignalIsSafe) {
  EXPECT_EQ(status_of([&] {
              const sigset_t bus = only_bus();
              ::pthread_sigmask(SIG_BLOCK, &bus, nullptr);
              EXPECT_FALSE(touches_end(cut_mapping()));
              EXPECT_TRUE(is_blocked());
              std::byte byte{};
              EXPECT_FALSE(cut_mapping().load(2 * kPage - 1, {&byte, 1}));
              ::pthread_sigmask(SIG_UNBLOCK, &bus, nullptr);
              EXPECT_FALSE(touches_end(cut_mapping()));
              ::pthread_sigmask(SIG_BLOCK, &bus, nullptr);
              EXPECT_FALSE(touches_end(cut_mapping()));
            }),
            0);
}

TEST_F(BusGuardTest, BUS3AHandlerThatGoesOnToOursEndsWhereItWould) {
  const auto run = [&](const std::function<void()>& install) {
    g_seen->faults = 0;
    return status_of([&] {
      EXPECT_FALSE(touches_end(cut_mapping()));
      install();
      EXPECT_FALSE(touches_end(cut_mapping()));
      store(cut_memory());
    });
  };
  EXPECT_TRUE(died_of(run([] { handle(on_bus_chained); }), SIGBUS));
  EXPECT_EQ(g_seen->faults, 1);
  EXPECT_TRUE(died_of(run([] { g_old_style = ::signal(SIGBUS, on_bus_old_style); }), SIGBUS));
  EXPECT_EQ(g_seen->faults, 1);
}

TEST_F(BusGuardTest, BUS3AFaultOfTheProgramsMemoryReachesItsHandlerOnce) {
  EXPECT_EQ(status_of([&] {
              handle(on_bus);
              const FileMapping mapping = cut_mapping();
              std::byte* theirs = cut_memory();
              EXPECT_TRUE(mapping.touch([&] {
                store(theirs);
                store(mapping.data());
              }));
              EXPECT_EQ(g_seen->faults, 1);
              EXPECT_EQ(g_seen->address, theirs);
              // And what comes later is safe again.
              EXPECT_FALSE(touches_end(cut_mapping()));
              EXPECT_EQ(g_seen->faults, 1);
            }),
            0);
}

TEST_F(BusGuardTest, BUS3WhatWasAskedForWithTheHandlerIsKept) {
  const auto faults_twice = [&](const std::function<void()>& install) {
    g_seen->faults = 0;
    return status_of([&] {
      install();
      const FileMapping mapping = cut_mapping();
      std::byte* first = cut_memory();
      std::byte* second = cut_memory();
      static_cast<void>(mapping.touch([&] {
        store(first);
        store(second);
      }));
    });
  };
  EXPECT_EQ(faults_twice([] { handle(on_bus); }), 0);
  EXPECT_EQ(g_seen->faults, 2);
  EXPECT_TRUE(
      died_of(faults_twice([] { handle(on_bus, static_cast<int>(SA_RESETHAND)); }), SIGBUS));
  EXPECT_EQ(g_seen->faults, 1);
  EXPECT_TRUE(died_of(faults_twice([] { ::signal(SIGBUS, SIG_DFL); }), SIGBUS));
  EXPECT_TRUE(died_of(faults_twice([] { ::signal(SIGBUS, SIG_IGN); }), SIGBUS));
  const auto block = [] {
    handle(on_bus);
    const sigset_t bus = only_bus();
    ::pthread_sigmask(SIG_BLOCK, &bus, nullptr);
  };
  g_seen->faults = 0;
  EXPECT_TRUE(died_of(faults_twice(block), SIGBUS));
  EXPECT_EQ(g_seen->faults, 0);
}

TEST_F(BusGuardTest, BUS4WhatIsSentWaitsAndComesAsItWould) {
  EXPECT_EQ(status_of([&] {
              handle(on_bus);
              const FileMapping mapping = cut_mapping();
              EXPECT_FALSE(mapping.touch([&] {
                ::raise(SIGBUS);
                EXPECT_EQ(g_seen->sent, 0);
                store(mapping.data() + kPage);
              }));
              EXPECT_EQ(g_seen->sent, 1);
              const sigset_t bus = only_bus();
              ::pthread_sigmask(SIG_BLOCK, &bus, nullptr);
              ::raise(SIGBUS);
              EXPECT_FALSE(touches_end(cut_mapping()));
              EXPECT_EQ(g_seen->sent, 1);
              ::pthread_sigmask(SIG_UNBLOCK, &bus, nullptr);
              EXPECT_EQ(g_seen->sent, 2);
              EXPECT_EQ(g_seen->faults, 0);
            }),
            0);
}

TEST_F(BusGuardTest, BUS5AHandlerInstalledMeanwhileDoesNotRecurse) {
  for (const bool in_old_style : {false, true}) {
    g_seen->faults = 0;
    const int status = status_of([&] {
      const FileMapping mapping = cut_mapping();
      // As another thread would.
      EXPECT_TRUE(mapping.touch([&] {
        if (in_old_style) {
          g_old_style = ::signal(SIGBUS, on_bus_old_style);
        } else {
          handle(on_bus_chained);
        }
      }));
      EXPECT_FALSE(touches_end(cut_mapping()));
      EXPECT_EQ(g_seen->faults, 0);
      store(cut_memory());
    });
    EXPECT_TRUE(died_of(status, SIGBUS)) << status;
    EXPECT_EQ(g_seen->faults, 1);
  }
}

TEST_F(BusGuardTest, BUS5AHandlerInstalledMeanwhileSeesAFaultOfThatTimeOnce) {
  EXPECT_EQ(status_of([&] {
              handle(on_bus);
              const FileMapping mapping = cut_mapping();
              std::byte* theirs = cut_memory();
              EXPECT_TRUE(mapping.touch([&] {
                handle(on_bus_chained);
                store(theirs);
              }));
              // Once by the one installed meanwhile, and once by the one below it, which repairs.
              EXPECT_EQ(g_seen->faults, 2);
            }),
            0);
}

TEST_F(BusGuardTest, BUS6OursRestoredAfterTheGuardStandsForWhatItReplaced) {
  for (const bool is_touched_again : {false, true}) {
    g_seen->faults = 0;
    EXPECT_EQ(status_of([&] {
                handle(on_bus);
                const FileMapping mapping = cut_mapping();
                std::byte* theirs = cut_memory();
                // As another thread would: install a handler, save ours, and restore it later.
                EXPECT_TRUE(mapping.touch([&] { handle(on_bus_chained); }));
                ::sigaction(SIGBUS, &g_before, nullptr);
                if (is_touched_again) {
                  EXPECT_TRUE(mapping.touch([&] { store(mapping.data()); }));
                }
                store(theirs);
                EXPECT_EQ(g_seen->faults, 1);
                struct sigaction current {};
                ::sigaction(SIGBUS, nullptr, &current);
                EXPECT_EQ(current.sa_sigaction, on_bus);
              }),
              0);
  }
}

TEST_F(BusGuardTest, NothingIsLeftByAJump) {
  struct Counted {
    int& count;
    std::vector<int> memory = std::vector<int>(1000);
    ~Counted() { ++count; }
  };
  int ended = 0;
  const FileMapping mapping = cut_mapping();
  EXPECT_FALSE(mapping.touch([&] {
    const Counted owned{ended};
    store(mapping.data() + kPage);
  }));
  EXPECT_EQ(ended, 1);
  EXPECT_TRUE(mapping.is_lost());
}

TEST_F(BusGuardTest, ThreadsLoseAMappingTogether) {
  EXPECT_EQ(status_of([&] {
              for (int round = 0; round < 20; ++round) {
                const FileMapping mapping = cut_mapping();
                std::atomic<int> kept = 0;
                std::atomic<int> lost = 0;
                std::vector<std::thread> threads;
                for (int i = 0; i < 4; ++i) {
                  threads.emplace_back([&, i] {
                    const sigset_t bus = only_bus();
                    if (i % 2 == 0) ::pthread_sigmask(SIG_BLOCK, &bus, nullptr);
                    for (int turn = 0; turn < 20; ++turn) ++(touches_end(mapping) ? kept : lost);
                    EXPECT_EQ(is_blocked(), i % 2 == 0);
                  });
                }
                for (std::thread& thread : threads) thread.join();
                EXPECT_EQ(kept, 0);
                EXPECT_EQ(lost, 80);
              }
            }),
            0);
}

// ThreadSanitizer's sigaction() is not atomic as the kernel's is: it answers the handler of one
// action with the flags of another, or half of each address, where two threads change it at once.
TEST_F(BusGuardTest, OtherThreadsFaultsAreTheProgramsMeanwhile) {
  if (kSanitized) GTEST_SKIP() << "runs in builds without sanitizers";
  EXPECT_EQ(status_of([&] {
              handle(on_bus);
              const FileMapping mapping = cut_mapping();
              std::vector<std::byte*> memory;
              for (int i = 0; i < 100; ++i) memory.push_back(cut_memory());
              std::atomic<bool> ended = false;
              std::thread toucher([&] {
                while (!ended) EXPECT_TRUE(mapping.touch([&] { store(mapping.data()); }));
              });
              for (std::byte* at : memory) store(at);
              ended = true;
              toucher.join();
              EXPECT_EQ(g_seen->faults, 100);
            }),
            0);
}

}  // namespace
}  // namespace tessera::port
