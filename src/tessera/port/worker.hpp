// Worker: one background thread that runs jobs in the order in which they were given.
//
// Nonblocking operations run here while the program computes. The thread starts with the first job
// and is joined when the worker goes, after the jobs that are queued. It takes no signals.
// Where no thread can be had, submit() runs the job itself. So it does in a child of fork(), which
// has no copy of the thread: the jobs that its parent had queued never finish there, and the worker
// goes without waiting for them.
// Thread safety: submit() and Job from any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

namespace tessera::port {

// One job that was submitted.
class Job {
 public:
  virtual ~Job() = default;
  // What the job did is visible to whoever saw true.
  [[nodiscard]] virtual bool done() const = 0;
  virtual void wait() = 0;
  // Waits at most so long; whether it is done.
  virtual bool wait_for(int64_t nanoseconds) = 0;
};

class Worker {
 public:
  Worker();
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  // Requires work that throws nothing. Once the job is done, `work` and what it captured are gone.
  std::shared_ptr<Job> submit(std::function<void()> work);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tessera::port
