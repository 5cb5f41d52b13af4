#include "tessera/port/uring_list.hpp"

#include <liburing.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <memory>
#include <type_traits>

#include "tessera/base/assert.hpp"
#include "tessera/base/checked.hpp"

namespace tessera::port {

namespace {

constexpr unsigned kDepth = 256;
// Fewer requests than this are not worth a ring.
constexpr size_t kRequestsMin = 16;
// Above this mean size copying takes all of the time.
constexpr size_t kMeanBytesMax = size_t{32} << 10;
constexpr size_t kRequestBytesMax = size_t{1} << 30;

// Adjacent segments of the list, as one transfer.
struct Request {
  int64_t offset = 0;
  size_t bytes = 0;
  size_t first_memory = 0;  // in Batch::memory
  size_t memory_count = 0;
  int answer = -EIO;  // bytes moved, or an errno below zero

  [[nodiscard]] int64_t end() const { return offset + static_cast<int64_t>(bytes); }
};

// Requests that ascend and do not overlap (R3).
struct Batch {
  size_t segments = 0;  // of the list, empty ones too
  size_t bytes = 0;
  size_t request_count = 0;
  size_t memory_count = 0;
  std::array<Request, kDepth> requests;
  std::array<iovec, kDepth> memory;

  [[nodiscard]] std::span<Request> filled() { return std::span(requests).first(request_count); }
};

// Whether the segment begins where the last request ends.
template <typename Segment>
bool follows(const Batch& batch, const Segment& segment) {
  return batch.request_count > 0 && segment.offset == batch.requests[batch.request_count - 1].end();
}

template <typename Segment>
bool fits(const Batch& batch, const Segment& segment, RingUse use) {
  TESSERA_ASSERT(segment.offset >= 0);
  const size_t bytes = segment.memory.size();
  if (batch.memory_count == kDepth || bytes > kRequestBytesMax) return false;
  if (!base::checked_add(segment.offset, base::exact_cast<int64_t>(bytes))) return false;
  if (batch.request_count == 0) return true;
  const Request& last = batch.requests[batch.request_count - 1];
  if (segment.offset > last.end()) return true;
  return segment.offset == last.end() &&
         (use == RingUse::kApart || last.bytes + bytes <= kRequestBytesMax);
}

template <typename Segment>
void add(Batch& batch, const Segment& segment, RingUse use) {
  if (use == RingUse::kApart || !follows(batch, segment)) {
    batch.requests[batch.request_count++] = {segment.offset, 0, batch.memory_count, 0, -EIO};
  }
  Request& request = batch.requests[batch.request_count - 1];
  // iovec has one form for both directions; a write only reads through it.
  batch.memory[batch.memory_count++] = {const_cast<std::byte*>(segment.memory.data()),
                                        segment.memory.size()};
  ++request.memory_count;
  request.bytes += segment.memory.size();
  batch.bytes += segment.memory.size();
}

template <typename Segment>
void fill(Batch& batch, std::span<const Segment> segments, RingUse use) {
  batch.segments = batch.bytes = batch.request_count = batch.memory_count = 0;
  for (const Segment& segment : segments) {
    if (!segment.memory.empty()) {
      if (!fits(batch, segment, use)) return;
      add(batch, segment, use);
    }
    ++batch.segments;
  }
}

bool is_worthwhile(const Batch& batch, RingUse use) {
  if (use != RingUse::kAutomatic) return batch.request_count > 0;
  return batch.request_count >= kRequestsMin && batch.bytes / batch.request_count <= kMeanBytesMax;
}

// The kernel gives the memory of a ring that ended to the next one, of whichever thread. It orders
// the two, but the language and the tools that watch it know nothing of that; this counter tells.
std::atomic<int> g_rings_alive = 0;

bool is_passing(int error) { return error == -EINTR || error == -EAGAIN || error == -EBUSY; }

class Ring {
 public:
  Ring() {
    io_uring_params parameters{};
    // This thread alone submits and waits, and completions are worked off when it waits.
    parameters.flags = IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN;
    int answer = ::io_uring_queue_init_params(kDepth, &ring_, &parameters);
    if (answer == -EINVAL) {
      parameters = {};
      answer = ::io_uring_queue_init_params(kDepth, &ring_, &parameters);
    }
    usable_ = answer == 0;
    // After its memory was had, and below before it is given back.
    g_rings_alive.fetch_add(1, std::memory_order_acq_rel);
    has_files_ = usable_ && ::io_uring_register_files_sparse(&ring_, 1) == 0;
  }
  ~Ring() {
    g_rings_alive.fetch_sub(1, std::memory_order_acq_rel);
    if (usable_) ::io_uring_queue_exit(&ring_);
  }
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;

  [[nodiscard]] bool usable() const { return usable_; }
  [[nodiscard]] bool is_of_this_process() const { return process_ == ::getpid(); }

  // The file of the next requests. Known to the ring it is not looked up for each of them.
  void take_file(int descriptor) {
    descriptor_ = descriptor;
    is_registered_ = has_files_ && ::io_uring_register_files_update(&ring_, 0, &descriptor, 1) == 1;
  }
  // A file that the ring still knew would stay open after it was closed.
  void drop_file() {
    int none = -1;
    if (usable_ && is_registered_) ::io_uring_register_files_update(&ring_, 0, &none, 1);
    is_registered_ = false;
  }

  // Fills in the answers. Requires usable().
  void run(bool reads, Batch& batch) {
    for (Request& request : batch.filled()) prepare(reads, batch, request);
    size_t submitted = 0;
    size_t completed = 0;
    while (completed < batch.request_count) {
      const auto waited_for = static_cast<unsigned>(batch.request_count - completed);
      const int answer = ::io_uring_submit_and_wait(&ring_, waited_for);
      if (answer > 0) submitted += static_cast<size_t>(answer);
      completed += take_answers();
      if (answer >= 0 || is_passing(answer)) continue;
      // What the kernel did not take stays undone; what it took is waited for (R2).
      while (completed < submitted) completed += wait_for_one();
      ::io_uring_queue_exit(&ring_);
      usable_ = false;
      return;
    }
  }

 private:
  void prepare(bool reads, const Batch& batch, Request& request) {
    io_uring_sqe* entry = ::io_uring_get_sqe(&ring_);
    TESSERA_ASSERT(entry != nullptr);
    const iovec* memory = &batch.memory[request.first_memory];
    const auto count = static_cast<unsigned>(request.memory_count);
    const auto offset = static_cast<uint64_t>(request.offset);
    const auto bytes = static_cast<unsigned>(request.bytes);
    const int file = is_registered_ ? 0 : descriptor_;
    if (count == 1 && reads) {
      ::io_uring_prep_read(entry, file, memory->iov_base, bytes, offset);
    } else if (count == 1) {
      ::io_uring_prep_write(entry, file, memory->iov_base, bytes, offset);
    } else if (reads) {
      ::io_uring_prep_readv(entry, file, memory, count, offset);
    } else {
      ::io_uring_prep_writev(entry, file, memory, count, offset);
    }
    if (is_registered_) ::io_uring_sqe_set_flags(entry, IOSQE_FIXED_FILE);
    ::io_uring_sqe_set_data(entry, &request);
  }

  size_t take_answers() {
    unsigned head = 0;
    unsigned taken = 0;
    io_uring_cqe* answer = nullptr;
    io_uring_for_each_cqe(&ring_, head, answer) {
      static_cast<Request*>(::io_uring_cqe_get_data(answer))->answer = answer->res;
      ++taken;
    }
    ::io_uring_cq_advance(&ring_, taken);
    return taken;
  }

  size_t wait_for_one() {
    io_uring_cqe* answer = nullptr;
    const int waited = ::io_uring_wait_cqe(&ring_, &answer);
    // The memory belongs to the kernel until it answers; there is nothing to go back to.
    TESSERA_ASSERT(waited == 0 || is_passing(waited));
    return take_answers();
  }

  const pid_t process_ = ::getpid();
  io_uring ring_{};
  bool usable_ = false;
  bool has_files_ = false;  // whether it has a place to know a file by
  bool is_registered_ = false;
  int descriptor_ = -1;
};

// The ring of this thread, or nothing.
Ring* thread_ring() {
  static thread_local std::unique_ptr<Ring> ring;
  // What a child of fork() inherits is its parent's: closed here, it stays open there.
  if (!ring || !ring->is_of_this_process()) ring = std::make_unique<Ring>();
  return ring->usable() ? ring.get() : nullptr;
}

template <typename Segment>
int64_t transfer_by_ring(int descriptor, std::span<const Segment> segments, RingUse use) {
  Batch batch;
  fill(batch, segments, use);
  if (!is_worthwhile(batch, use)) return 0;
  Ring* ring = thread_ring();
  if (ring == nullptr) return 0;
  ring->take_file(descriptor);
  int64_t moved = 0;
  for (bool whole = true; whole && ring->usable() && is_worthwhile(batch, use);) {
    ring->run(std::is_same_v<Segment, ReadSegment>, batch);
    for (const Request& request : batch.filled()) {
      whole = request.answer == base::exact_cast<int>(request.bytes);
      if (request.answer > 0) moved += request.answer;
      if (!whole) break;
    }
    segments = segments.subspan(batch.segments);
    fill(batch, segments, use);
  }
  ring->drop_file();
  return moved;
}

}  // namespace

int64_t read_by_ring(int descriptor, std::span<const ReadSegment> segments, RingUse use) {
  if (use == RingUse::kNever) return 0;
  return transfer_by_ring(descriptor, segments, use);
}

int64_t write_by_ring(int descriptor, std::span<const WriteSegment> segments, RingUse use) {
  if (use != RingUse::kAlways) return 0;
  return transfer_by_ring(descriptor, segments, use);
}

bool ring_available() { return thread_ring() != nullptr; }

bool ring_suits_reads(int descriptor) {
  std::byte byte{};
  const iovec memory{&byte, 1};
  return ::preadv2(descriptor, &memory, 1, 0, RWF_NOWAIT) >= 0 || errno == EAGAIN;
}

}  // namespace tessera::port
