#include "tessera/port/emulated_store.hpp"

#include <time.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <string>

#include "tessera/base/assert.hpp"

namespace tessera::port {

namespace {

constexpr int64_t kSecondNs = 1'000'000'000;
constexpr int64_t kServiceNsMax = 10 * kSecondNs;

// Nanoseconds in a unit; 0 if there is no such unit.
int64_t unit_ns(std::string_view unit) {
  if (unit == "us") return 1'000;
  if (unit == "ms") return 1'000'000;
  return unit == "s" ? kSecondNs : 0;
}

}  // namespace

base::Result<EmulatedStore> EmulatedStore::parse(std::string_view service_time) {
  int64_t number = 0;
  const char* end = service_time.data() + service_time.size();
  const auto parsed = std::from_chars(service_time.data(), end, number);
  const int64_t unit = unit_ns({parsed.ptr, static_cast<size_t>(end - parsed.ptr)});
  if (parsed.ec != std::errc() || unit == 0 || number < 1 || number > kServiceNsMax / unit) {
    return base::fail(base::Code::kInvalid,
                      "TESSERA_EMULATED_STORE is '" + std::string(service_time) +
                          "'; it takes the time of a request up to 10 s, for example 2ms");
  }
  EmulatedStore store;
  store.service_ns_ = number * unit;
  return store;
}

base::Result<EmulatedStore> EmulatedStore::from_environment() {
  const char* text = std::getenv("TESSERA_EMULATED_STORE");
  return text == nullptr ? EmulatedStore() : parse(text);
}

void EmulatedStore::serve() const {
  timespec left = {service_ns_ / kSecondNs, service_ns_ % kSecondNs};
  while (::clock_nanosleep(CLOCK_MONOTONIC, 0, &left, &left) == EINTR) {
  }
}

int64_t RequestMeter::admit(int64_t bytes) {
  TESSERA_ASSERT(bytes >= 1);
  const bool full = runs_ == EmulatedStore::kRunsMax || bytes_ == EmulatedStore::kBytesMax;
  if (requests_ == 0 || full) {
    store_.serve();
    ++requests_;
    runs_ = bytes_ = 0;
  }
  const int64_t admitted = std::min(bytes, EmulatedStore::kBytesMax - bytes_);
  ++runs_;
  bytes_ += admitted;
  return admitted;
}

}  // namespace tessera::port
