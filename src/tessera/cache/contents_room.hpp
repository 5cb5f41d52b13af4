// ContentsRoom: space on the disk that is kept for the contents of the next commit.
//
// A commit writes the contents (map, checksums, views) before it is one. On a disk that has become
// full meanwhile it could not, and bytes that were written without an error would be stuck. So room
// for them is reserved before bytes are written; whoever writes sees to it, and all who hear of it
// need not. How long the contents will be follows from what was written since the last commit, as
// far as it is known here: exactly for checksums, by the length of its changes for the map.
//   (Q1) Once room is there it is as long as need() was when it was reserved.
// Thread safety: none.
#pragma once

#include <cstdint>

#include "tessera/pattern/trace.hpp"

namespace tessera::cache {

class ContentsRoom {
 public:
  ContentsRoom() = default;
  // After a commit whose contents have so many bytes: the next ones are to have this room, of which
  // nothing is reserved yet. Empty where no room was found.
  ContentsRoom(pattern::Interval room, int64_t contents_bytes)
      : room_(room), contents_bytes_(contents_bytes) {}

  // What a change of the map adds to the contents: its record, and the checksums of its blocks.
  [[nodiscard]] static int64_t added(int64_t record_bytes, int64_t blocks) {
    return record_bytes + kEntryBytes + blocks * kChecksumBytes;
  }
  // The same before there is a record.
  [[nodiscard]] static int64_t added_at_most(const pattern::Pattern& bytes, int64_t blocks) {
    return added(kItemBytes * bytes.shape().weight(), blocks);
  }
  void note(int64_t added_bytes) { contents_bytes_ += added_bytes; }

  // Of contents to which so many bytes more are added.
  [[nodiscard]] int64_t need(int64_t added_bytes) const { return contents_bytes_ + added_bytes; }
  [[nodiscard]] bool suffices(int64_t need) const { return reserved_ && fits(need); }
  [[nodiscard]] bool fits(int64_t need) const { return need <= room_.length(); }
  [[nodiscard]] pattern::Interval room() const { return room_; }
  // Room that was reserved, here or elsewhere; what is longer counts.
  void take(pattern::Interval room) {
    if (reserved_ && room.length() < room_.length()) return;
    room_ = room;
    reserved_ = true;
  }

 private:
  static constexpr int64_t kChecksumBytes = 8;
  static constexpr int64_t kItemBytes = 24;   // of a run or a stride, encoded, at most
  static constexpr int64_t kEntryBytes = 32;  // of a part that a piece is split into, an allocation

  pattern::Interval room_;
  bool reserved_ = false;
  int64_t contents_bytes_ = 0;
};

}  // namespace tessera::cache
