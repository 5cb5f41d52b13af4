#include "tessera/port/worker.hpp"

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <utility>

#include "tessera/port/quiet_thread.hpp"

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

}  // namespace

struct Worker::State {
  // Whether there is a thread to run it.
  bool queue_job(std::shared_ptr<QueuedJob> job) {
    const std::lock_guard lock(mutex);
    if (!thread.running()) thread = QuietThread([this] { run_jobs(); });
    if (!thread.running()) return false;
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
  QuietThread thread;
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
  state_->thread.join();
}

std::shared_ptr<Job> Worker::submit(std::function<void()> work) {
  const auto job = std::make_shared<QueuedJob>(std::move(work));
  if (state_->process != ::getpid() || !state_->queue_job(job)) job->run();
  return job;
}

}  // namespace tessera::port
