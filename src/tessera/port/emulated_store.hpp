// EmulatedStore: the service time of a parallel file system, put before the transfers of a file.
//
// A benchmark of locks needs a store on which requests take time and those of different processes
// go on at once; one machine's file system is neither. The bytes still go to the real file; what is
// emulated is that each request waits for its service time first. A request is what ROMIO sends to
// PVFS: a list of at most kRunsMax runs (its list requests), of at most kBytesMax bytes together (a
// strip of the default distribution of PVFS 2, which one server answers for). The requests of one
// call follow each other. Off unless TESSERA_EMULATED_STORE is set.
// Thread safety: a value; a RequestMeter belongs to one call.
#pragma once

#include <cstdint>
#include <string_view>

#include "tessera/base/result.hpp"

namespace tessera::port {

class EmulatedStore {
 public:
  static constexpr int64_t kRunsMax = 64;
  static constexpr int64_t kBytesMax = int64_t{64} << 10;

  // Nothing is emulated.
  EmulatedStore() = default;

  // From the time of a request, for example "2ms": a whole number and us, ms or s, up to 10 s.
  // Fails with kInvalid.
  [[nodiscard]] static base::Result<EmulatedStore> parse(std::string_view service_time);
  // As TESSERA_EMULATED_STORE says.
  [[nodiscard]] static base::Result<EmulatedStore> from_environment();

  [[nodiscard]] bool on() const { return service_ns_ > 0; }
  [[nodiscard]] int64_t service_ns() const { return service_ns_; }
  // Waits as long as one request takes.
  void serve() const;

 private:
  int64_t service_ns_ = 0;
};

// Deals the runs of one call to requests, in order.
class RequestMeter {
 public:
  explicit RequestMeter(const EmulatedStore& store) : store_(store) {}

  // How many of the next run's `bytes` go into the request at hand, at least 1; waits if they begin
  // a new one. The rest of the run is a run of its own. Requires bytes >= 1.
  [[nodiscard]] int64_t admit(int64_t bytes);

  [[nodiscard]] int64_t requests() const { return requests_; }

 private:
  const EmulatedStore& store_;
  int64_t requests_ = 0;
  int64_t runs_ = 0;   // of the request at hand
  int64_t bytes_ = 0;  // likewise
};

}  // namespace tessera::port
