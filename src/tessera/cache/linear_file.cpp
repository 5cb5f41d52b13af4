#include "tessera/cache/linear_file.hpp"

#include <cerrno>

#include "tessera/base/checked.hpp"

namespace tessera::cache {

namespace {

// One run of memory as a move; nothing if there is no such position.
base::Result<move::Move> run_of(move::Direction direction, int64_t offset, const iovec& memory) {
  move::Move moved;
  moved.direction = direction;
  moved.base = static_cast<std::byte*>(memory.iov_base);
  const auto bytes = base::exact_cast<int64_t>(memory.iov_len);
  TESSERA_TRY(moved.file, pattern::Pattern::run({{offset}}, bytes));
  TESSERA_TRY(moved.memory, pattern::Pattern::run({{0}}, bytes));
  return moved;
}

int errno_of(const base::Error& error) { return error.errno_value != 0 ? error.errno_value : EIO; }

}  // namespace

port::File::Attempt LinearFile::read_some(int64_t offset, std::span<const iovec> memory) {
  const auto moved = run_of(move::Direction::kRead, offset, memory.front());
  if (!moved) return {0, EINVAL};
  const port::Transfer read = objects_.read(*moved);
  return {read.bytes, read ? 0 : errno_of(read.status.error())};
}

port::File::Attempt LinearFile::write_some(int64_t offset, std::span<const iovec> memory) {
  const auto moved = run_of(move::Direction::kWrite, offset, memory.front());
  if (!moved) return {0, EFBIG};
  const port::Transfer written = objects_.write(*moved);
  return {written.bytes, written ? 0 : errno_of(written.status.error())};
}

}  // namespace tessera::cache
