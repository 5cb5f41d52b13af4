// The numbers that the ranks of a file share: its shared pointer, and the space taken from it.
//
// On one node they are counters in the common memory of the ranks; among several nodes a thread of
// the first rank has them (docs/decisions/0019-numbers-without-windows.md). Neither leaves a file
// behind.
// Thread safety: the numbers, all functions.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "tessera/base/bytes.hpp"
#include "tessera/base/result.hpp"
#include "tessera/port/exchange.hpp"
#include "tessera/port/number_host.hpp"
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

// Of ranks on several nodes: numbers of the first rank, which are there as long as its object.
// Where that rank cannot be reached by others, the numbers say so when they are used.
class HostedNumbers {
 public:
  // Collective. The numbers are 0.
  [[nodiscard]] static base::Result<std::unique_ptr<HostedNumbers>> make(port::Exchange& ranks,
                                                                         int count);
  ~HostedNumbers();
  HostedNumbers(const HostedNumbers&) = delete;
  HostedNumbers& operator=(const HostedNumbers&) = delete;

  // Once each.
  [[nodiscard]] std::unique_ptr<port::SharedNumber> take(int index) {
    return std::move(numbers_[static_cast<size_t>(index)]);
  }

 private:
  HostedNumbers() = default;
  [[nodiscard]] base::Result<base::Bytes> host(int count);

  std::shared_ptr<port::NumberHost> host_;  // on the first rank
  std::vector<port::NumberPlace> hosted_;
  std::vector<std::unique_ptr<port::SharedNumber>> numbers_;
};

}  // namespace tessera::mpiio
