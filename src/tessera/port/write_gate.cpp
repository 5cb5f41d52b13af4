#include "tessera/port/write_gate.hpp"

#include <utility>

#include "tessera/base/assert.hpp"

namespace tessera::port {

using base::AlignedBytes;
using base::ByteView;
using base::Result;

namespace {

int64_t size_of(const AlignedBytes& memory) { return static_cast<int64_t>(memory.capacity()); }

}  // namespace

AlignedBytes WriteGate::State::take_spare() {
  if (spare.empty()) return {};
  AlignedBytes memory = std::move(spare.back());
  spare.pop_back();
  spare_bytes -= size_of(memory);
  return memory;
}

Result<void> WriteGate::write(File& file, int64_t offset, AlignedBytes& memory, size_t bytes) {
  const size_t size = memory.size();
  TESSERA_ASSERT(bytes <= size);
  TESSERA_TRY(const bool taken, take_or_leave(file, offset, memory, bytes));
  if (taken) return write_left(file, file.write_at(offset, ByteView(memory).first(bytes)).status);
  // New memory takes time, for which nobody has to wait.
  memory.resize(size);
  return {};
}

Result<void> WriteGate::finish(File& file) {
  {
    auto state = state_.enter();
    const uint64_t pieces = state->pieces_left;
    while (state->writers > 0 && !state->failure && state->pieces_written < pieces) state.wait();
    if (state->failure) return base::Failure{*state->failure};
    if (state->pieces_written >= pieces) return {};
    ++state->writers;
  }
  return write_left(file, {});
}

Result<bool> WriteGate::take_or_leave(const File& file, int64_t offset, AlignedBytes& memory,
                                      size_t bytes) {
  const int writers_max = file.writers_at_once();
  auto state = state_.enter();
  const int64_t size = size_of(memory);
  while (state->writers >= writers_max && !state->failure &&
         state->left_bytes + size > left_bytes_max_) {
    state.wait();
  }
  if (state->failure) return base::Failure{*state->failure};
  if (state->writers < writers_max) {
    ++state->writers;
    return true;
  }
  state->left.push_back({offset, bytes, std::exchange(memory, state->take_spare())});
  state->left_bytes += size;
  ++state->pieces_left;
  while (state->left_bytes + state->spare_bytes > left_bytes_max_) state->take_spare();
  return false;
}

Result<void> WriteGate::write_left(File& file, Result<void> status) {
  if (status) {
    for (Piece& piece : take_left()) {
      status = file.write_at(piece.offset, ByteView(piece.memory).first(piece.bytes)).status;
      if (!status) break;
      keep_memory(std::move(piece.memory));
    }
  }
  open(status);
  return status;
}

std::vector<WriteGate::Piece> WriteGate::take_left() {
  auto state = state_.enter();
  return std::exchange(state->left, {});
}

// The piece of the memory was written.
void WriteGate::keep_memory(AlignedBytes memory) {
  auto state = state_.enter();
  const int64_t size = size_of(memory);
  state->left_bytes -= size;
  ++state->pieces_written;
  if (state->left_bytes + state->spare_bytes + size <= left_bytes_max_) {
    state->spare.push_back(std::move(memory));
    state->spare_bytes += size;
  }
  state_.notify_all();
}

void WriteGate::open(const Result<void>& status) {
  auto state = state_.enter();
  --state->writers;
  if (!status) state->failure = status.error();
  state_.notify_all();
}

}  // namespace tessera::port
