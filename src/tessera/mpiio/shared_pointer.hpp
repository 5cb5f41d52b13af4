// The pointer that the ranks of a file share: one number, changed by any rank at any time.
//
// On one node it is a counter in the common memory of the ranks; among several nodes a window of
// MPI on the first rank. Neither leaves a file behind. Counted in etypes.
// Thread safety: all functions, if MPI was initialised for several threads.
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstdint>
#include <memory>

#include "tessera/base/result.hpp"

namespace tessera::port {
class ProcessTeam;
}

namespace tessera::mpiio {

class SharedPointer {
 public:
  virtual ~SharedPointer() = default;
  // Answers the value before.
  [[nodiscard]] virtual base::Result<int64_t> fetch_add(int64_t by) = 0;
  [[nodiscard]] virtual base::Result<int64_t> load() = 0;
  [[nodiscard]] virtual base::Result<void> store(int64_t value) = 0;
};

// Of a rank alone.
class OwnPointer final : public SharedPointer {
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

// Of the ranks of one node: counter 0 of their team, which outlives it.
class TeamPointer final : public SharedPointer {
 public:
  explicit TeamPointer(port::ProcessTeam& team) : team_(team) {}
  [[nodiscard]] base::Result<int64_t> fetch_add(int64_t by) override;
  [[nodiscard]] base::Result<int64_t> load() override;
  [[nodiscard]] base::Result<void> store(int64_t value) override;

 private:
  port::ProcessTeam& team_;
};

// Of ranks on several nodes.
class WindowPointer final : public SharedPointer {
 public:
  // Collective over the communicator, which outlives it.
  [[nodiscard]] static base::Result<std::unique_ptr<WindowPointer>> make(MPI_Comm communicator);
  ~WindowPointer() override;  // collective
  WindowPointer(const WindowPointer&) = delete;
  WindowPointer& operator=(const WindowPointer&) = delete;

  [[nodiscard]] base::Result<int64_t> fetch_add(int64_t by) override;
  [[nodiscard]] base::Result<int64_t> load() override { return fetch_add(0); }
  [[nodiscard]] base::Result<void> store(int64_t value) override;

 private:
  WindowPointer() = default;
  base::Result<int64_t> apply(int64_t value, MPI_Op operation);

  MPI_Win window_ = MPI_WIN_NULL;
  int64_t* memory_ = nullptr;
};

}  // namespace tessera::mpiio
