// Locks: who may touch which bytes of a file now, as its users ask for it.
//
// The interface that the engines see. A lock covers every byte of a set and is granted whole or not
// at all, shared or exclusive; it is held until its Held goes. Whoever grants (ranges of the file
// system here, a service elsewhere) may cover more bytes than asked, never fewer.
//   (L1) Two held locks overlap only if both are shared.
//   (L2) A waiting request holds nothing.
// Thread safety: acquire() from any thread; a Held may be released by another thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "tessera/base/result.hpp"
#include "tessera/pattern/byte_set.hpp"

namespace tessera::lock {

enum class Mode { kShared, kExclusive };

// A lock that is held; gives it back when it goes.
class [[nodiscard]] Held {
 public:
  using Confirm = std::function<base::Result<void>()>;

  Held() = default;
  // `confirm` may be empty: the lock cannot be taken away.
  explicit Held(std::function<void()> release, Confirm confirm = {})
      : release_(std::move(release)), confirm_(std::move(confirm)) {}
  Held(Held&& other) noexcept
      : release_(std::exchange(other.release_, nullptr)), confirm_(std::move(other.confirm_)) {}
  Held& operator=(Held&& other) noexcept {
    if (this != &other) {
      release();
      release_ = std::exchange(other.release_, nullptr);
      confirm_ = std::move(other.confirm_);
    }
    return *this;
  }
  ~Held() { release(); }

  void release() {
    if (release_) std::exchange(release_, nullptr)();
  }
  // Whether it was held all the time until now. Fails with kDenied, and says why, if it was taken
  // away.
  [[nodiscard]] base::Result<void> confirm() const {
    return confirm_ ? confirm_() : base::Result<void>();
  }
  // Whether it can be taken away at all while it is held.
  [[nodiscard]] bool can_be_lost() const { return confirm_ != nullptr; }

 private:
  std::function<void()> release_;
  Confirm confirm_;
};

class Locks {
 public:
  virtual ~Locks() = default;

  // Waits until the lock is granted. An empty set needs none.
  [[nodiscard]] virtual base::Result<Held> acquire(const pattern::ByteSet& bytes, Mode mode) = 0;
};

}  // namespace tessera::lock
