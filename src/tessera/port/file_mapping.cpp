#include "tessera/port/file_mapping.hpp"

#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <mutex>

#include "tessera/base/assert.hpp"
#include "tessera/base/checked.hpp"
#include "tessera/base/hot.hpp"

namespace tessera::port {

namespace {

// What a thread touches now, and where to go if it cannot.
struct Guard {
  sigjmp_buf escape;
  const std::byte* begin;
  const std::byte* end;
};

thread_local std::atomic<Guard*> t_guard = nullptr;

std::mutex g_install_mutex;
// The handler to which other faults go; written before ours is installed.
struct sigaction g_other {};

void pass_on(int number, siginfo_t* info, void* context) {
  if ((g_other.sa_flags & SA_SIGINFO) != 0) {
    g_other.sa_sigaction(number, info, context);
  } else if (g_other.sa_handler != SIG_DFL && g_other.sa_handler != SIG_IGN) {
    g_other.sa_handler(number);
  } else {
    // The fault occurs again on return, and ends the program.
    ::signal(number, SIG_DFL);
  }
}

void on_fault(int number, siginfo_t* info, void* context) {
  Guard* guard = t_guard.load(std::memory_order_relaxed);
  const auto* at = static_cast<const std::byte*>(info->si_addr);
  if (guard == nullptr || at < guard->begin || at >= guard->end) {
    pass_on(number, info, context);
    return;
  }
  // Whoever stands between the kernel and us (a sanitizer does) may have blocked signals.
  ::pthread_sigmask(SIG_SETMASK, &static_cast<const ucontext_t*>(context)->uc_sigmask, nullptr);
  ::siglongjmp(guard->escape, 1);
}

// Programs may set a handler of their own at any time; then ours goes before it again.
void handle_faults() {
  struct sigaction current {};
  ::sigaction(SIGBUS, nullptr, &current);
  const auto is_ours = [](const struct sigaction& action) {
    return (action.sa_flags & SA_SIGINFO) != 0 && action.sa_sigaction == on_fault;
  };
  if (is_ours(current)) return;
  const std::lock_guard lock(g_install_mutex);
  ::sigaction(SIGBUS, nullptr, &current);
  if (is_ours(current)) return;
  g_other = current;
  struct sigaction ours {};
  ours.sa_sigaction = on_fault;
  // The kernel has no mask to change on the way in, nor to restore on the way out.
  ours.sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK;
  sigemptyset(&ours.sa_mask);
  ::sigaction(SIGBUS, &ours, nullptr);
}

TESSERA_HOT void handle_faults_now_and_then() {
  constexpr uint32_t kCallsBetween = 64;
  thread_local uint32_t t_calls = 0;
  if (t_calls++ % kCallsBetween == 0) handle_faults();
}

}  // namespace

base::Result<FileMapping> FileMapping::map(const PlainFile& file, int64_t begin, int64_t end,
                                           Access access) {
  TESSERA_ASSERT(0 <= begin && begin < end);
  static const int64_t page_bytes = ::sysconf(_SC_PAGESIZE);
  const int64_t skipped = begin % page_bytes;
  const auto length = base::exact_cast<size_t>(end - begin + skipped);
  const int protection = access == Access::kRead ? PROT_READ : PROT_READ | PROT_WRITE;
  void* pages = ::mmap(nullptr, length, protection, MAP_SHARED, file.descriptor(), begin - skipped);
  if (pages == MAP_FAILED) return base::fail_errno(errno, "map " + file.path());
  auto* first = static_cast<std::byte*>(pages);
  FileMapping mapping(first, length, first + skipped);
  mapping.begin_ = begin;
  mapping.end_ = end;
  mapping.access_ = access;
  return mapping;
}

FileMapping::FileMapping(FileMapping&& other) noexcept
    : pages_(std::exchange(other.pages_, nullptr)),
      length_(other.length_),
      data_(other.data_),
      begin_(other.begin_),
      end_(other.end_),
      access_(other.access_) {}

FileMapping::~FileMapping() {
  if (pages_ != nullptr) ::munmap(pages_, length_);
}

void FileMapping::prefer_large_pages() const { ::madvise(pages_, length_, MADV_HUGEPAGE); }

void FileMapping::read_no_further() const { ::madvise(pages_, length_, MADV_RANDOM); }

template <typename Body>
TESSERA_HOT bool FileMapping::guarded(const Body& body) const {
  Guard guard;
  guard.begin = pages_;
  guard.end = pages_ + length_;
  TESSERA_ASSERT(t_guard.load(std::memory_order_relaxed) == nullptr);
  const bool escaped = sigsetjmp(guard.escape, 0) != 0;
  if (!escaped) {
    t_guard.store(&guard, std::memory_order_relaxed);
    std::atomic_signal_fence(std::memory_order_seq_cst);
    body();
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  t_guard.store(nullptr, std::memory_order_relaxed);
  return !escaped;
}

bool FileMapping::touch(const std::function<void()>& body) const {
  handle_faults();
  return guarded(body);
}

TESSERA_HOT std::byte* FileMapping::place(int64_t offset, size_t bytes) const {
  TESSERA_ASSERT(begin_ <= offset && bytes <= static_cast<size_t>(end_ - offset));
  return data_ + (offset - begin_);
}

TESSERA_HOT bool FileMapping::load(int64_t offset, std::span<std::byte> to) const {
  const std::byte* from = place(offset, to.size());
  handle_faults_now_and_then();
  return guarded([&] { std::memcpy(to.data(), from, to.size()); });
}

TESSERA_HOT bool FileMapping::store(int64_t offset, std::span<const std::byte> from) const {
  std::byte* to = place(offset, from.size());
  handle_faults_now_and_then();
  return guarded([&] { std::memcpy(to, from.data(), from.size()); });
}

}  // namespace tessera::port
