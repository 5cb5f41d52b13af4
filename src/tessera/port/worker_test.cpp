#include "tessera/port/worker.hpp"

#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <future>
#include <thread>
#include <vector>

namespace tessera::port {
namespace {

constexpr int64_t kMillisecond = 1'000'000;

TEST(Worker, JobsRunInOrderElsewhere) {
  std::vector<int> ran;
  std::thread::id where;
  std::vector<std::shared_ptr<Job>> jobs;
  Worker worker;
  for (int i = 0; i < 100; ++i) {
    jobs.push_back(worker.submit([&ran, &where, i] {
      ran.push_back(i);
      where = std::this_thread::get_id();
    }));
  }
  jobs.back()->wait();
  for (const auto& job : jobs) EXPECT_TRUE(job->done());
  ASSERT_EQ(ran.size(), 100U);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(ran[static_cast<size_t>(i)], i);
  EXPECT_NE(where, std::this_thread::get_id());
}

TEST(Worker, WaitForEndsInTime) {
  std::promise<void> gate;
  Worker worker;
  const auto job = worker.submit([&gate] { gate.get_future().wait(); });
  EXPECT_FALSE(job->wait_for(0));
  EXPECT_FALSE(job->wait_for(2 * kMillisecond));
  EXPECT_FALSE(job->done());
  gate.set_value();
  EXPECT_TRUE(job->wait_for(60'000 * kMillisecond));
  EXPECT_TRUE(job->done());
  EXPECT_TRUE(job->wait_for(0));
  job->wait();
}

TEST(Worker, QueuedJobsAreDoneWhenItGoes) {
  std::atomic<int> ran = 0;
  std::shared_ptr<Job> last;
  {
    Worker worker;
    for (int i = 0; i < 50; ++i) last = worker.submit([&ran] { ++ran; });
  }
  EXPECT_EQ(ran, 50);
  EXPECT_TRUE(last->done());
}

TEST(Worker, AWorkerWithoutJobsHasNoThread) {
  const auto threads = [] {
    const std::filesystem::directory_iterator tasks("/proc/self/task");
    return std::distance(begin(tasks), end(tasks));
  };
  const auto before = threads();
  const Worker worker;
  EXPECT_EQ(threads(), before);
}

TEST(Worker, WhatAJobHeldIsGoneWhenItIsDone) {
  auto held = std::make_shared<int>(1);
  const std::weak_ptr<int> watched = held;
  Worker worker;
  const auto job = worker.submit([mine = std::move(held)] { EXPECT_EQ(*mine, 1); });
  job->wait();
  EXPECT_TRUE(watched.expired());
}

TEST(Worker, ManyThreadsSubmitAndWait) {
  std::atomic<int> ran = 0;
  Worker worker;
  const auto submit_many = [&] {
    for (int i = 0; i < 100; ++i) {
      int result = 0;
      worker.submit([&] { result = ++ran; })->wait();
      EXPECT_GT(result, 0);
    }
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back(submit_many);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(ran, 400);
}

TEST(Worker, ItsThreadTakesNoSignals) {
  sigset_t blocked;
  Worker worker;
  worker.submit([&blocked] { ::pthread_sigmask(SIG_SETMASK, nullptr, &blocked); })->wait();
  for (const int signal : {SIGINT, SIGTERM, SIGALRM, SIGUSR1, SIGCHLD, SIGPROF}) {
    EXPECT_EQ(::sigismember(&blocked, signal), 1) << signal;
  }
  for (const int fault : {SIGBUS, SIGSEGV, SIGFPE, SIGILL}) {
    EXPECT_EQ(::sigismember(&blocked, fault), 0) << fault << " would end the program at once";
  }
  sigset_t here;
  ::pthread_sigmask(SIG_SETMASK, nullptr, &here);
  EXPECT_EQ(::sigismember(&here, SIGUSR1), 0);
}

TEST(Worker, AChildProcessGoesOnWithoutTheThread) {
  std::promise<void> gate;
  auto worker = std::make_unique<Worker>();
  const auto blocked = worker->submit([&gate] { gate.get_future().wait(); });
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    bool ran = false;
    const auto job = worker->submit([&ran] { ran = true; });
    const bool right = ran && job->done();
    worker.reset();
    ::_exit(right ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  gate.set_value();
  blocked->wait();
}

}  // namespace
}  // namespace tessera::port
