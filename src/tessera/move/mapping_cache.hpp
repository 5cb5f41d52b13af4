// MappingCache: the last mapping of an open file, cached for the next access.
//
// Setting a mapping up costs a fault for each page again. Programs that access the same strided
// part of an open file repeatedly find its pages mapped. Whether they will repeat it nobody knows;
// so a part is mapped for its own sake once what a mapping would have saved, had it been there the
// last times, is what it costs to set up. Then at most twice as much is paid as by whoever had
// known.
//   (K1) A mapping is taken by one move at a time, and put back afterwards; while it stays, any
//        number of threads may touch it, and keep it alive for a while after it was taken or has
//        gone.
//   (K2) One is cached for each open file, of one window's size; it goes when the file is closed.
// Writes through a mapping first have the file hold the bytes, by a system call, each time; reads
// of a plain file ask for its size. Reads of committed bytes of a container, which stay where they
// are, do neither (touch()).
// Thread safety: all functions from any thread.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "tessera/move/move.hpp"
#include "tessera/port/file_mapping.hpp"
#include "tessera/port/guarded.hpp"

namespace tessera::move {

[[nodiscard]] inline port::Access access_for(Direction direction) {
  return direction == Direction::kRead ? port::Access::kRead : port::Access::kReadWrite;
}

class MappingCache {
 public:
  using Mapping = std::shared_ptr<const port::FileMapping>;

  // The mapping, if it holds the part and allows the direction; else null.
  [[nodiscard]] Mapping take(Interval part, Direction direction);
  // Whether take() would give one.
  [[nodiscard]] bool holds(Interval part, Direction direction);
  // Puts it back, or in place of another.
  void keep(Mapping mapping);
  // To be called at every sync of a file that others may change: a file of a container's lower
  // layer may have been copied to where it can be written, and a mapping for reading shows the
  // original.
  void drop_for_reading();

  // What a mapping would have saved those who moved this part the last times, one after the other.
  [[nodiscard]] double missed_ns(Interval part, Direction direction);
  // Somebody has moved the part without a mapping, which would have saved so much.
  void note_missed(Interval part, Direction direction, double ns);

  // Of committed bytes: those before `end` lie in the file.
  void note_committed(int64_t end);
  // Whether touch() reaches the part: the mapping holds it, and it is committed.
  [[nodiscard]] bool reaches(Interval part);
  // Calls the body with the bytes of this part if it reaches them; whether it could, as
  // FileMapping::touch() says, which also says what the body may do.
  [[nodiscard]] bool touch(Interval part, const std::function<void(const std::byte*)>& body);

 private:
  struct State {
    Mapping mapping;
    int64_t committed_end = 0;
    // For each direction: the part that was missed last, and how much in all.
    std::array<Interval, 2> missed = {};
    std::array<double, 2> missed_ns = {};

    [[nodiscard]] bool holds(Interval part, Direction direction) const;
    [[nodiscard]] bool reaches(Interval part) const;
  };

  port::Guarded<State> state_;
};

}  // namespace tessera::move
