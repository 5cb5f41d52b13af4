// Memory that does something when it is read, for tests of what others do in the middle of a copy.
//
// Its middle is a page of a file that is not there: the fault goes to the program's handler,
// which acts and provides the page. Thread safety: one at a time, in one thread.
#pragma once

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "tessera/base/assert.hpp"
#include "tessera/port/plain_file.hpp"

namespace tessera::port {

class InterruptedMemory {
 public:
  static constexpr int64_t kPage = 4096;

  // Three pages, all of them `fill`; reading the middle one calls the function once. `path` is for
  // a file of ours.
  InterruptedMemory(const std::string& path, std::byte fill, std::function<void()> act)
      : fill_(fill), act_(std::move(act)) {
    const auto file = PlainFile::open(path, {.read = true, .write = true, .create = true}).value();
    constexpr int kAccess = PROT_READ | PROT_WRITE;
    void* memory = ::mmap(nullptr, 3 * kPage, kAccess, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    TESSERA_ASSERT(memory != MAP_FAILED);
    memory_ = static_cast<std::byte*>(memory);
    std::fill_n(memory_, 3 * kPage, fill);
    // The file is empty.
    void* middle =
        ::mmap(memory_ + kPage, kPage, kAccess, MAP_SHARED | MAP_FIXED, file->descriptor(), 0);
    TESSERA_ASSERT(middle != MAP_FAILED);
    current() = this;
    struct sigaction action {};
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO;
    ::sigaction(SIGBUS, &action, &before_);
  }
  ~InterruptedMemory() {
    ::sigaction(SIGBUS, &before_, nullptr);
    ::munmap(memory_, 3 * kPage);
  }
  InterruptedMemory(const InterruptedMemory&) = delete;
  InterruptedMemory& operator=(const InterruptedMemory&) = delete;

  [[nodiscard]] std::byte* data() const { return memory_; }
  [[nodiscard]] int interruptions() const { return interruptions_; }

 private:
  static InterruptedMemory*& current() {
    static InterruptedMemory* one = nullptr;
    return one;
  }
  static void on_fault(int /*number*/, siginfo_t* info, void* /*context*/) {
    InterruptedMemory& mine = *current();
    std::byte* page = mine.memory_ + kPage;
    const auto* at = static_cast<const std::byte*>(info->si_addr);
    if (at < page || at >= page + kPage) ::_exit(99);
    ::mmap(page, kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    std::fill_n(page, kPage, mine.fill_);
    ++mine.interruptions_;
    mine.act_();
  }

  std::byte fill_;
  std::function<void()> act_;
  std::byte* memory_ = nullptr;
  struct sigaction before_ {};
  int interruptions_ = 0;
};

}  // namespace tessera::port
