#include "tessera/port/frame_assembler.hpp"

#include <algorithm>
#include <utility>

#include "tessera/base/checked.hpp"
#include "tessera/port/transport_failures.hpp"

namespace tessera::port {

std::array<std::byte, kFrameHeaderBytes> frame_header(size_t frame_bytes) {
  std::array<std::byte, kFrameHeaderBytes> header;
  base::store_le<uint32_t>(header, base::exact_cast<uint32_t>(frame_bytes));
  return header;
}

base::ByteView FrameAssembler::take(base::ByteView& piece, size_t count_max) {
  const base::ByteView taken = piece.first(std::min(piece.size(), count_max));
  piece = piece.subspan(taken.size());
  return taken;
}

base::Result<void> FrameAssembler::feed(base::ByteView piece, std::vector<base::Bytes>& frames) {
  while (!piece.empty()) {
    const base::ByteView header = take(piece, kFrameHeaderBytes - header_filled_);
    std::copy(header.begin(), header.end(), header_.begin() + header_filled_);
    header_filled_ += header.size();
    if (header_filled_ < kFrameHeaderBytes) break;

    const size_t frame_bytes = base::load_le<uint32_t>(header_);
    if (frame_bytes > frame_bytes_max_) {
      return announced_too_long(frame_bytes, frame_bytes_max_);
    }
    const base::ByteView content = take(piece, frame_bytes - frame_.size());
    frame_.insert(frame_.end(), content.begin(), content.end());
    if (frame_.size() < frame_bytes) break;
    frames.push_back(std::exchange(frame_, {}));
    header_filled_ = 0;
  }
  return {};
}

}  // namespace tessera::port
