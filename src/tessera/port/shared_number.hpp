// SharedNumber: one number that every rank may change at any time, without the others.
//
// The pointer that the ranks of a file share is one, and so is the space that they take from a
// container. Thread safety: as each kind says.
#pragma once

#include <atomic>
#include <cstdint>

#include "tessera/base/result.hpp"

namespace tessera::port {

class SharedNumber {
 public:
  virtual ~SharedNumber() = default;
  // Answers the value before.
  [[nodiscard]] virtual base::Result<int64_t> fetch_add(int64_t by) = 0;
  [[nodiscard]] virtual base::Result<int64_t> load() = 0;
  [[nodiscard]] virtual base::Result<void> store(int64_t value) = 0;
};

// Of one process: a rank alone, or ranks that are threads. From any thread.
class OwnNumber final : public SharedNumber {
 public:
  [[nodiscard]] base::Result<int64_t> fetch_add(int64_t by) override {
    return value_.fetch_add(by);
  }
  [[nodiscard]] base::Result<int64_t> load() override { return value_.load(); }
  [[nodiscard]] base::Result<void> store(int64_t value) override {
    value_ = value;
    return {};
  }

 private:
  std::atomic<int64_t> value_{0};
};

}  // namespace tessera::port
