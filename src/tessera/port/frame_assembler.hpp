// FrameAssembler: whole frames out of a stream that arrives in arbitrary pieces.
//
// On a stream a frame is its length, four bytes little-endian, and that many bytes. What a peer
// announces allocates nothing; memory grows only with what it really sent.
// Thread safety: as for any value type.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "tessera/base/bytes.hpp"
#include "tessera/base/result.hpp"

namespace tessera::port {

inline constexpr size_t kFrameHeaderBytes = 4;

[[nodiscard]] std::array<std::byte, kFrameHeaderBytes> frame_header(size_t frame_bytes);

class FrameAssembler {
 public:
  explicit FrameAssembler(size_t frame_bytes_max) : frame_bytes_max_(frame_bytes_max) {}

  // Holds for frames that are not whole yet.
  void set_frame_bytes_max(size_t frame_bytes_max) { frame_bytes_max_ = frame_bytes_max; }

  // Takes the next piece of the stream and appends the frames that it completes. Fails with
  // kIntegrity on a frame over the limit; the stream is useless from then on.
  [[nodiscard]] base::Result<void> feed(base::ByteView piece, std::vector<base::Bytes>& frames);

  // Whether the stream stands inside a frame, so that its end here is a truncation.
  [[nodiscard]] bool inside_frame() const { return header_filled_ > 0; }

 private:
  base::ByteView take(base::ByteView& piece, size_t count_max);

  size_t frame_bytes_max_;
  std::array<std::byte, kFrameHeaderBytes> header_{};
  size_t header_filled_ = 0;
  base::Bytes frame_;
};

}  // namespace tessera::port
