// WriteGate: threads of one process that write one file, without waiting for each other.
//
// The system lets one thread at a time write a file, and the others spin meanwhile. Here a thread
// that finds the file taken leaves its piece behind and goes on; whoever has the file writes what
// was left, too. Pieces do not overlap, so their order does not matter.
//   (G1) At most File::writers_at_once() threads write at a time, which is one most of the time:
//        those that took the gate.
//   (G2) A thread that took the gate writes its own piece and those that were left until then;
//        those that are left later are for the next thread, so that none writes for all the others.
//   (G3) Pieces that are left, and memory that is kept for later ones, are never more than so many
//        bytes together; a piece for which there is no room waits, asleep, for room or for the
//        gate.
//   (G4) Once finish() has succeeded, every piece that was written before it is in the file.
//   (G5) After the first failure every later call fails with it, and nothing more is written than
//        what other threads took on before.
// Of a piece that was left, only a later call tells that it failed. Who gives up without finish()
// does not know what is in the file; what is left when the gate goes is not written.
// Thread safety: all functions from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "tessera/base/aligned_bytes.hpp"
#include "tessera/base/result.hpp"
#include "tessera/port/disk.hpp"
#include "tessera/port/monitor.hpp"

namespace tessera::port {

class WriteGate {
 public:
  static constexpr int64_t kLeftBytesMax = int64_t{4} << 20;

  // The number of (G3).
  explicit WriteGate(int64_t left_bytes_max = kLeftBytesMax) : left_bytes_max_(left_bytes_max) {}

  // Writes the first bytes of the memory, or leaves them to be written. Either way the memory has
  // the same size afterwards, and any contents. Requires bytes <= memory.size(), and that the files
  // of all calls are the same one, opened once or several times. Fails as the file does (G5).
  [[nodiscard]] base::Result<void> write(File& file, int64_t offset, base::AlignedBytes& memory,
                                         size_t bytes);

  // What files may choose their ways by, which all threads use then (File::choose_write_ways()).
  [[nodiscard]] SharedWriteChoice& choice() { return choice_; }

  // Waits until (G4) holds; writes what is left where nobody else does.
  [[nodiscard]] base::Result<void> finish(File& file);

 private:
  // A part of the memory that somebody left.
  struct Piece {
    int64_t offset = 0;
    size_t bytes = 0;
    base::AlignedBytes memory;
  };
  struct State {
    int writers = 0;
    std::vector<Piece> left;                // since the gate was taken
    std::vector<base::AlignedBytes> spare;  // of pieces that were written
    int64_t left_bytes = 0;                 // of memory: left, or left earlier and not written yet
    int64_t spare_bytes = 0;
    uint64_t pieces_left = 0;  // ever
    uint64_t pieces_written = 0;
    std::optional<base::Error> failure;

    base::AlignedBytes take_spare();  // empty if there is none
  };

  // Whether the gate was taken for the piece; else it was left, and the memory is any other.
  [[nodiscard]] base::Result<bool> take_or_leave(const File& file, int64_t offset,
                                                 base::AlignedBytes& memory, size_t bytes);
  // Of the thread that took the gate, with the outcome of its own piece: writes what was left, and
  // lets others in.
  [[nodiscard]] base::Result<void> write_left(File& file, base::Result<void> status);
  [[nodiscard]] std::vector<Piece> take_left();
  void keep_memory(base::AlignedBytes memory);
  void open(const base::Result<void>& status);

  const int64_t left_bytes_max_;
  Monitor<State> state_;
  SharedWriteChoice choice_;
};

}  // namespace tessera::port
