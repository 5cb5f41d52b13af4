// Helpers: processes that fill shelves together with a translator.
//
// The first rank of an exchange has the translator (translator.hpp): it looks for commits, plans,
// and commits the second file. The others wait in help() for what it asks of them, and know nothing
// of states: each task comes with the contents of the first file and the plan. So whichever process
// dies, and whenever, the second file is as of its last commit.
//   (H1) What the first rank asks for, all ranks do together, in its order; the last is end().
//   (H2) A task that one rank cannot do fails on all ranks alike.
// Thread safety: none; collective, as the exchange.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "tessera/base/result.hpp"
#include "tessera/container/contents.hpp"
#include "tessera/port/exchange.hpp"
#include "tessera/remap/fill.hpp"
#include "tessera/remap/request.hpp"

namespace tessera::remap {

// What is to be filled.
struct HelpedFill {
  const container::Contents& found;  // of the first file
  uint64_t sequence = 0;             // of that commit
  port::File& in;
  port::File& out;
  const Plan& plan;
  int64_t begin = 0;  // of the rooms in the second file
  int64_t block_bytes = container::kBlockBytes;
};

// The first rank's side.
class Helpers {
 public:
  // `syncs`: this process makes what its node wrote durable. The exchange outlives it.
  Helpers(port::Exchange& exchange, bool syncs) : exchange_(exchange), syncs_(syncs) {}

  // There is nothing to do for now.
  [[nodiscard]] base::Result<void> idle();
  // As fill().
  [[nodiscard]] base::Result<std::vector<container::Allocation>> fill(const HelpedFill& job,
                                                                      map::AllocationId first_id);
  // As run_on_machine(), with the request that help() was given and the second file as source.
  [[nodiscard]] base::Result<RemapReport> lay_out_anew(const Request& request);
  // Nothing more; help() returns the verdict on the others. The last call.
  void end(const base::Result<void>& verdict);

 private:
  port::Exchange& exchange_;
  const bool syncs_;
};

// The request with which the second file of another is laid out anew.
[[nodiscard]] Request anew(const Request& request, bool syncs);

// The side of all other ranks: does what it is asked for until end(), and returns its verdict.
// `pause` is called while there is nothing to do. Fails also as the exchange does.
[[nodiscard]] base::Result<void> help(port::Exchange& exchange, const Request& request, bool syncs,
                                      const std::function<void()>& pause);

}  // namespace tessera::remap
