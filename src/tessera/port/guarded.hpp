// Guarded: a value that one thread at a time may use.
//
// The mutex and the value are one thing, so that the value cannot be reached without the mutex.
// Thread safety: with() from any thread; not from within itself.
#pragma once

#include <mutex>
#include <utility>

namespace tessera::port {

template <typename T>
class Guarded {
 public:
  Guarded() = default;
  explicit Guarded(T value) : value_(std::move(value)) {}

  // Calls the function with the value while no other thread has it.
  template <typename Function>
  auto with(Function&& function) {
    const std::lock_guard<std::mutex> hold(mutex_);
    return std::forward<Function>(function)(value_);
  }

 private:
  std::mutex mutex_;
  T value_{};
};

}  // namespace tessera::port
