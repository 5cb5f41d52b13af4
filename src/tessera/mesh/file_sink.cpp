#include "tessera/mesh/file_sink.hpp"

#include "tessera/base/bytes.hpp"

namespace tessera::mesh {

namespace {

constexpr size_t kBufferBytes = size_t{1} << 20;

}  // namespace

void FileSink::append(std::string_view bytes) {
  buffer_ += bytes;
  if (buffer_.size() >= kBufferBytes) flush();
}

void FileSink::flush() {
  if (status_) status_ = file_.write_at(written_, base::bytes_of(buffer_)).status;
  written_ += std::ssize(buffer_);
  buffer_.clear();
}

base::Result<void> FileSink::finish() {
  flush();
  if (!status_) return status_;
  return file_.truncate(written_);
}

}  // namespace tessera::mesh
