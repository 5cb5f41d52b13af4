// KeptMapping: the last mapping of a file, kept for the next move.
//
// Setting a mapping up costs a fault for each page again. Programs that move to and from the same
// part of an open file again and again find its pages where they left them, and need no system call
// for them. Whether they will come again nobody knows; so a part is mapped for its own sake once
// what a mapping would have saved, had it been there the last times, is what it costs to set up.
// Then at most twice as much is paid as by whoever had known.
//   (K1) A mapping is taken by one move at a time, and put back afterwards; while it stays, it is
//        copied from and to by one thread at a time, and touched by any number, who may keep it
//        alive for a while after it was taken or has gone.
//   (K2) One is kept for each open file, of one window's size; it goes when the file is closed.
//   (K3) Bytes that settle() has not named are reached only by whoever takes the mapping, and
//        stores to them only after a system call that has the file hold them. (A touch that began
//        before unsettle() goes on.)
// Stores that fault no more do not change the time of the file's last change; that system call
// does. What is stored without one is remembered, to be marked before others may look (unmarked()).
// Thread safety: all functions from any thread.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <utility>

#include "tessera/move/move.hpp"
#include "tessera/port/file_mapping.hpp"
#include "tessera/port/guarded.hpp"

namespace tessera::move {

[[nodiscard]] inline port::Access access_for(Direction direction) {
  return direction == Direction::kRead ? port::Access::kRead : port::Access::kReadWrite;
}

class KeptMapping {
 public:
  using Mapping = std::shared_ptr<const port::FileMapping>;

  // The mapping, if it holds the part and allows the direction; else null.
  [[nodiscard]] Mapping take(Interval part, Direction direction);
  // Whether take() would give one.
  [[nodiscard]] bool holds(Interval part, Direction direction);
  // Puts it back, or in place of another.
  void keep(Mapping mapping);

  // What a mapping would have saved those who moved this part the last times, one after the other.
  [[nodiscard]] double missed_ns(Interval part, Direction direction);
  // Somebody has moved the part without a mapping, which would have saved so much.
  void note_missed(Interval part, Direction direction, double ns);

  // A run between the file and memory, as copy() moves it.
  struct Run {
    Direction direction = Direction::kRead;
    int64_t offset = 0;
    std::span<std::byte> memory;  // not written through where the direction is kWrite

    [[nodiscard]] Interval part() const { return {offset, offset + std::ssize(memory)}; }
  };
  // What a run saves through a mapping, and what setting one up for it costs.
  struct Gain {
    double saved_ns = 0;
    double price_ns = 0;
  };

  // Whether copy() would move a run in this part, as far as can be known.
  [[nodiscard]] bool reaches(Interval part, Direction direction);

  // Copies the run, if the mapping holds it and it is settled; whether it did.
  [[nodiscard]] bool copy(const Run& run);
  // Calls the body with the bytes of this part, if the mapping holds them and they are settled;
  // whether it could, as FileMapping::touch() says. The body has the same duties.
  [[nodiscard]] bool touch(Interval part, const std::function<void(const std::byte*)>& body);
  // After it did not: notes what was missed, and says whether it pays to set a mapping up for this
  // part, or to settle it in the one that holds it.
  [[nodiscard]] bool wants(Interval part, Direction direction, const Gain& gain);

  // Whether a move that takes the mapping may store in this part without a system call: it holds
  // it, and the bytes are settled. That something is stored is remembered then.
  [[nodiscard]] bool stores_in(Interval part);

  // The bytes before `end` lie in the file; for writes, nobody who extended it so far is still at
  // it.
  void settle(int64_t end, Direction direction);
  // To be called whenever the file may have been cut: what lies behind its end in its last page
  // could be loaded and stored all the same. A mapping for reading goes: in a container, the file
  // may have been copied to where it can be written, and the mapping shows the original.
  void unsettle();

  // Whether copy() has stored something since this was last asked.
  [[nodiscard]] bool unmarked();

 private:
  struct State {
    Mapping mapping;
    bool stored = false;
    // For each direction: the end of the settled bytes, the part that was missed last, and how much
    // in all.
    std::array<int64_t, 2> settled_end = {};
    std::array<Interval, 2> missed = {};
    std::array<double, 2> missed_ns = {};

    [[nodiscard]] bool holds(Interval part, Direction direction) const;
    [[nodiscard]] bool reaches(Interval part, Direction direction) const;
    void add_missed(Interval part, Direction direction, double ns);
  };

  port::Guarded<State> state_;
};

}  // namespace tessera::move
