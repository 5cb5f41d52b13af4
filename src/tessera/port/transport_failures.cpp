#include "tessera/port/transport_failures.hpp"

#include <string>

namespace tessera::port {

base::Failure frame_too_long(size_t frame_bytes, size_t frame_bytes_max) {
  return base::fail(base::Code::kInvalid, "send a frame of " + std::to_string(frame_bytes) +
                                              " bytes, " + std::to_string(frame_bytes_max) +
                                              " are allowed");
}

base::Failure announced_too_long(size_t frame_bytes, size_t frame_bytes_max) {
  return base::fail(base::Code::kIntegrity, "a frame of " + std::to_string(frame_bytes) +
                                                " bytes was announced, " +
                                                std::to_string(frame_bytes_max) + " are allowed");
}

base::Failure too_much_unsent(size_t unsent_bytes) {
  return base::fail(base::Code::kRetry, "the peer takes frames too slowly: " +
                                            std::to_string(unsent_bytes) + " bytes are unsent");
}

base::Failure connection_gone() {
  return base::fail(base::Code::kNotFound, "send on a connection that is gone");
}

}  // namespace tessera::port
