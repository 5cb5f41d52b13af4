// Monitor: a value that one thread at a time may use, and for which threads can wait.
//
// As Guarded, with a way to sleep inside until another thread has changed something.
// Thread safety: enter() and notify_all() from any thread; a thread enters once at a time.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <utility>

namespace tessera::port {

template <typename T>
class Monitor {
 public:
  template <typename... Arguments>
  explicit Monitor(Arguments&&... arguments) : value_(std::forward<Arguments>(arguments)...) {}
  Monitor(const Monitor&) = delete;
  Monitor& operator=(const Monitor&) = delete;

  // The use of the value by one thread, until it goes.
  class Entry {
   public:
    explicit Entry(Monitor& monitor) : monitor_(monitor), lock_(monitor.mutex_) {}
    T& operator*() { return monitor_.value_; }
    T* operator->() { return &monitor_.value_; }

    // Lets other threads in until notify_all() is called, or for no reason.
    void wait() { monitor_.changed_.wait(lock_); }
    // The same, for at most so long.
    void wait_for(int64_t nanoseconds) {
      monitor_.changed_.wait_for(lock_, std::chrono::nanoseconds(nanoseconds));
    }

   private:
    Monitor& monitor_;
    std::unique_lock<std::mutex> lock_;
  };

  [[nodiscard]] Entry enter() { return Entry(*this); }
  void notify_all() { changed_.notify_all(); }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  T value_;
};

}  // namespace tessera::port
