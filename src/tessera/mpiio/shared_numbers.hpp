// The numbers that the ranks of a file share: its shared pointer, and the space taken from it.
//
// On one node they are counters in the common memory of the ranks; among several nodes a window of
// MPI on the first rank. Neither leaves a file behind.
// Thread safety: all functions, if MPI was initialised for several threads.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>

#include "tessera/base/result.hpp"
#include "tessera/port/shared_number.hpp"

namespace tessera::port {
class ProcessTeam;
}

namespace tessera::mpiio {

// Of the ranks of one node: a counter of their team, which outlives it.
class TeamNumber final : public port::SharedNumber {
 public:
  TeamNumber(port::ProcessTeam& team, int index) : team_(team), index_(index) {}
  [[nodiscard]] base::Result<int64_t> fetch_add(int64_t by) override;
  [[nodiscard]] base::Result<int64_t> load() override;
  [[nodiscard]] base::Result<void> store(int64_t value) override;

 private:
  port::ProcessTeam& team_;
  const int index_;
};

// Memory of the first rank that all ranks reach.
class NumberWindow {
 public:
  // Collective over the communicator, which outlives it. The numbers are 0.
  [[nodiscard]] static base::Result<std::shared_ptr<NumberWindow>> make(MPI_Comm communicator,
                                                                        int numbers);
  ~NumberWindow();  // collective
  NumberWindow(const NumberWindow&) = delete;
  NumberWindow& operator=(const NumberWindow&) = delete;

  // Answers the value before.
  [[nodiscard]] base::Result<int64_t> apply(int index, int64_t value, MPI_Op operation);

 private:
  NumberWindow() = default;

  MPI_Win window_ = MPI_WIN_NULL;
  int64_t* memory_ = nullptr;
};

// Of ranks on several nodes.
class WindowNumber final : public port::SharedNumber {
 public:
  WindowNumber(std::shared_ptr<NumberWindow> window, int index)
      : window_(std::move(window)), index_(index) {}
  [[nodiscard]] base::Result<int64_t> fetch_add(int64_t by) override;
  [[nodiscard]] base::Result<int64_t> load() override { return fetch_add(0); }
  [[nodiscard]] base::Result<void> store(int64_t value) override;

 private:
  const std::shared_ptr<NumberWindow> window_;
  const int index_;
};

}  // namespace tessera::mpiio
