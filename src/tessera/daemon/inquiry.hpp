// Inquiry: a question that other threads ask, answered by one thread when it gets to it.
//
// The thread that answers shares nothing: it makes the text itself, between two of its own events,
// and pays one load of a word while nobody asks. Whoever asks sees to it that it wakes up.
//
//   idle --ask()--> asked --answer()--> idle, and those who waited have the text
//
// Thread safety: ask() from any thread, answer() from one.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

namespace tessera::daemon {

class Inquiry {
 public:
  // A text that was finished after this was called; nothing if that took longer than so long.
  // `wake` is called once the question is there.
  [[nodiscard]] std::optional<std::string> ask(const std::function<void()>& wake, int64_t for_ns) {
    std::unique_lock guard(mutex_);
    const uint64_t before = answers_;
    asked_ = true;
    wake();
    const bool answered = answered_.wait_for(guard, std::chrono::nanoseconds(for_ns),
                                             [&] { return answers_ != before; });
    return answered ? std::optional(text_) : std::nullopt;
  }

  // Calls `make` for the text if somebody has asked.
  template <typename Make>
  void answer(Make make) {
    if (!asked_.load(std::memory_order_relaxed)) return;
    std::string text = make();
    const std::scoped_lock guard(mutex_);
    asked_ = false;
    ++answers_;
    text_ = std::move(text);
    answered_.notify_all();
  }

 private:
  std::atomic<bool> asked_ = false;
  std::mutex mutex_;
  std::condition_variable answered_;
  uint64_t answers_ = 0;
  std::string text_;
};

}  // namespace tessera::daemon
