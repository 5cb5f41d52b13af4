// QuietThread: a thread inside somebody else's program.
//
// It takes no signals, which are for the program's own threads, but for its own faults. Where the
// system has no thread left its owner goes on without: running() says so. Thread safety: the object
// belongs to one thread.
#pragma once

#include <functional>
#include <thread>

namespace tessera::port {

class QuietThread {
 public:
  QuietThread() = default;
  // Requires a function that throws nothing, and that ends before join() is to return.
  explicit QuietThread(std::function<void()> main);

  // Whether there is a thread; false where none could be had.
  [[nodiscard]] bool running() const { return thread_.joinable(); }
  // Waits for its end; nothing happens if there is none.
  void join();

 private:
  std::thread thread_;
};

}  // namespace tessera::port
