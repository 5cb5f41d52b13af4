// FileSink: a file that is written from its first byte to its last, in large pieces.
//
// Thread safety: none.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "tessera/base/result.hpp"
#include "tessera/mesh/mesh_scanner.hpp"
#include "tessera/port/disk.hpp"

namespace tessera::mesh {

class FileSink final : public EchoSink {
 public:
  // The file must outlive it.
  explicit FileSink(port::File& file) : file_(file) {}

  void append(std::string_view bytes) override;
  // Writes what is left and cuts the file behind it. Fails with the first error of all writes.
  [[nodiscard]] base::Result<void> finish();

 private:
  void flush();

  port::File& file_;
  int64_t written_ = 0;
  std::string buffer_;
  base::Result<void> status_;
};

}  // namespace tessera::mesh
