// ContentsRoom: space on the disk that is kept for the contents of the next commit.
//
// A commit writes the contents (map, checksums, views) before it is one. On a disk that has become
// full meanwhile it could not, and bytes that were written without an error would be stuck. So room
// for them is reserved before bytes are written, by whoever writes; all ranks that learn of it use
// it. How long the contents will be follows from what was written since the last commit: exactly
// for checksums, by the length of its changes for the map.
//
// Ranks write at the same time, and none knows what the others are writing. So there is one count
// of all ranks (Numbers::contents): before a rank writes it counts in what that adds, and reserves
// room for all that was counted in before. A rank counts in ahead, so most writes need no count.
//   (ROOM-1) Room that is there is as long as need() was when it was reserved.
//   (ROOM-2) What a rank holds and has used is counted in, but for what a write used beyond what it
//            held, which comes with the next one.
// By (ROOM-2) whoever counted in last reserved room for all that are writing.
// Thread safety: none.
#pragma once

#include <algorithm>
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

  // A write begins that adds so many bytes; each is released when it ends. Answers by how much the
  // count of all ranks has to grow first, which count_in() says; mostly 0.
  [[nodiscard]] int64_t hold(int64_t added_bytes) {
    ahead_ -= added_bytes;
    return ahead_ >= 0 ? 0 : std::max(-ahead_, counted_ / kAheadPart);
  }
  void count_in(int64_t bytes) {
    ahead_ += bytes;
    counted_ += bytes;
  }
  void release(int64_t added_bytes) { ahead_ += added_bytes; }
  // So many bytes are part of the contents now.
  void use(int64_t added_bytes) { ahead_ -= added_bytes; }

  // Of contents where all ranks have counted in so many bytes.
  [[nodiscard]] int64_t need(int64_t counted_bytes) const {
    return contents_bytes_ + counted_bytes;
  }
  [[nodiscard]] bool fits(int64_t need) const { return need <= room_.length(); }
  [[nodiscard]] pattern::Interval room() const { return room_; }
  // Room that was reserved, here or elsewhere; what is longer counts.
  void take(pattern::Interval room) {
    if (reserved_ && room.length() < room_.length()) return;
    room_ = room;
    reserved_ = true;
  }

 private:
  // Of what a rank has counted in, how much it counts in ahead.
  static constexpr int64_t kAheadPart = 8;
  static constexpr int64_t kChecksumBytes = 8;
  static constexpr int64_t kItemBytes = 24;   // of a run or a stride, encoded, at most
  static constexpr int64_t kEntryBytes = 32;  // of a part that a piece is split into, an allocation

  pattern::Interval room_;
  bool reserved_ = false;
  int64_t contents_bytes_ = 0;  // of the last commit
  int64_t counted_ = 0;         // by this rank since then
  int64_t ahead_ = 0;           // of these, neither held nor used yet
};

}  // namespace tessera::cache
