// Guarded: a value that one thread at a time may use.
//
// The mutex and the value are one thing, so that the value cannot be reached without the mutex.
// Thread safety: with() from any thread, not from within itself; try_with()
// from anywhere.
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

  // The same where nobody has the value, also not the caller itself; else nothing.
  template <typename Function>
  void try_with(Function&& function) {
    const std::unique_lock<std::mutex> hold(mutex_, std::try_to_lock);
    if (hold) std::forward<Function>(function)(value_);
  }

 private:
  std::mutex mutex_;
  T value_{};
};

}  // namespace tessera::port
