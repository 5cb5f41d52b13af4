#include "tessera/port/worker.hpp"

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <deque>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

namespace tessera::port {

namespace {

class QueuedJob final : public Job {
 public:
  explicit QueuedJob(std::function<void()> work) : work_(std::move(work)) {}

  [[nodiscard]] bool done() const override { return done_.load(std::memory_order_acquire); }

  void wait() override {
    std::unique_lock lock(mutex_);
    finished_.wait(lock, [this] { return done(); });
  }

  bool wait_for(int64_t nanoseconds) override {
    std::unique_lock lock(mutex_);
    return finished_.wait_for(lock, std::chrono::nanoseconds(nanoseconds),
                              [this] { return done(); });
  }

  void run() {
    work_();
    work_ = nullptr;
    const std::lock_guard lock(mutex_);
    done_.store(true, std::memory_order_release);
    finished_.notify_all();
  }

 private:
  std::function<void()> work_;
  std::mutex mutex_;
  std::condition_variable finished_;
  std::atomic<bool> done_ = false;
};

// Starts a thread that takes no signals: they are for the program's own threads. Whether it could.
template <typename Main>
bool start_thread(std::thread& thread, Main main) {
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_BLOCK, &all, &before);
  try {
    thread = std::thread(std::move(main));
  } catch (const std::system_error&) {
    // The limit of processes is reached; thread stays empty.
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return thread.joinable();
}

}  // namespace

struct Worker::State {
  // Whether there is a thread to run it.
  bool queue_job(std::shared_ptr<QueuedJob> job) {
    const std::lock_guard lock(mutex);
    if (!thread.joinable() && !start_thread(thread, [this] { run_jobs(); })) return false;
    queue.push_back(std::move(job));
    changed.notify_one();
    return true;
  }

  void run_jobs() {
    std::unique_lock lock(mutex);
    for (;;) {
      changed.wait(lock, [this] { return stopping || !queue.empty(); });
      if (queue.empty()) return;
      const std::shared_ptr<QueuedJob> job = std::move(queue.front());
      queue.pop_front();
      lock.unlock();
      job->run();
      lock.lock();
    }
  }

  const pid_t process = ::getpid();
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::shared_ptr<QueuedJob>> queue;
  bool stopping = false;
  std::thread thread;
};

Worker::Worker() : state_(std::make_unique<State>()) {}

Worker::~Worker() {
  if (state_->process != ::getpid()) {
    // The thread was not copied into this child, and its mutex may have been held; leave both.
    (void)state_.release();
    return;
  }
  {
    const std::lock_guard lock(state_->mutex);
    state_->stopping = true;
    state_->changed.notify_all();
  }
  if (state_->thread.joinable()) state_->thread.join();
}

std::shared_ptr<Job> Worker::submit(std::function<void()> work) {
  const auto job = std::make_shared<QueuedJob>(std::move(work));
  if (state_->process != ::getpid() || !state_->queue_job(job)) job->run();
  return job;
}

}  // namespace tessera::port
