// Container: an object file on disk, and how a commit changes it from one whole state to the next.
//
// One process (rank 0 of a job) commits; any number read, also while it does. A commit first has
// the encoded contents written where neither the old nor the new state has anything, then replaces
// the superblock copies one after the other:
//
//   blob, mark -> sync -> copy 0, page 0 -> sync -> copy 1   (the next commit's sync covers copy 1)
//
// The mark (kPageInFlux, in copy 1) is made only where page 0 changes.
//
// Copy 1 says that copy 0 was durable then (kSettled), so whoever finds both need not sync first.
//
// A new file is written without a sync, for a file that nobody synced promises nothing: its first
// commit makes it durable.
//
//   (K1) What the newest good superblock describes is durable as a whole: its blob and all blocks.
//   (K2) Before a copy is overwritten the other one is known to be durable at the current state,
//        if anything of the file ever was.
//   (K3) Nothing that a durable superblock describes is overwritten, until a newer superblock is
//        durable.
//   (K4) After a commit that failed the current state is the one before it, on disk as well. If
//        even that could not be written the container is doubtful(): nobody may write bytes until
//        begin_writing() or commit(), which then write it first, has succeeded.
//   (K5) A sequence is never used for two states.
//   (K6) Where both copies have the same state and none is marked, page 0 has it too, durably; else
//        it may have any bytes. Nobody reads it here but to learn whether it has to be written.
//
//   read-only --begin_writing()--> clean --commit()--> clean
//                                    |  failed at copy 0, and so did its repair
//                                    +-----------------> doubtful --commit(), begin_writing()-->
//                                    clean
//
// Callers keep the rest of (K1): the bytes of the new contents' allocations are written, with whole
// last blocks, before commit(), and synced too where a sync of this file would not cover them;
// after a commit that failed, what was not synced before is written again. And of (K3): between
// commits they write only where space() says. What they wrote there and do not name in the contents
// is lost with the commit.
// Thread safety: none; the file may be shared.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tessera/base/bytes.hpp"
#include "tessera/base/result.hpp"
#include "tessera/container/contents.hpp"
#include "tessera/container/space.hpp"
#include "tessera/container/superblock.hpp"
#include "tessera/port/disk.hpp"
#include "tessera/port/random.hpp"

namespace tessera::container {

class Container {
 public:
  Container(Container&&) = default;
  Container& operator=(Container&&) = default;
  Container(const Container&) = delete;
  Container& operator=(const Container&) = delete;

  // Makes an empty object file of a file, whose bytes are lost. Not durable before the first commit
  // (its name is the caller's to sync). Ready to commit. Requires valid_block_bytes(). Fails as the
  // file does.
  static base::Result<Container> create(port::File& file, port::Random& random,
                                        int64_t block_bytes = kBlockBytes);
  // As create(), for a file that takes the place of another: same id, next sequence.
  static base::Result<Container> create_successor(port::File& file, const Superblock& of);

  // Reads the superblocks only. Fails as choose_superblock() does, with kIntegrity if the file is
  // shorter than it should be, and as the file does. The file must outlive the container.
  static base::Result<Container> open(port::File& file);

  [[nodiscard]] const Superblock& superblock() const { return current_; }
  // A sentence for each superblock copy that was found bad; the file can be used nevertheless.
  [[nodiscard]] const std::vector<std::string>& complaints() const { return complaints_; }

  // Looks for a newer commit of another process; true if there is one, which is then the current.
  [[nodiscard]] base::Result<bool> refresh();

  // The encoded contents of the current commit, their checksum verified: what one rank reads and
  // sends to the others. If another process committed meanwhile, those of its commit, which is then
  // the current. Fails with kIntegrity if they are damaged.
  [[nodiscard]] base::Result<base::Bytes> read_blob();
  // What is in such a blob. Fails as decode_contents() does, and with kIntegrity if the superblock
  // says otherwise: who believed one of the two would read behind the other.
  [[nodiscard]] base::Result<Contents> contents_of(base::ByteView blob) const;
  // Both at once.
  [[nodiscard]] base::Result<Contents> read_contents();

  // Makes sure that the current state is durable and stands in both copies, and learns the free
  // space. Before anybody writes bytes. O(blob).
  [[nodiscard]] base::Result<void> begin_writing();
  // See (K4).
  [[nodiscard]] bool doubtful() const { return !abandoned_.empty(); }
  // Requires begin_writing() or create(). Until the next commit.
  [[nodiscard]] Space space(int64_t gap_bytes_min = kGapBytesMin) const;

  // Where the contents of the next commit could go, if they do not grow by more than a half; empty
  // if a container has no room for them. What keeps it free for them gives it to commit().
  // Requires begin_writing() or create().
  [[nodiscard]] Interval contents_room() const;

  // Others may still read older states: until the next commit nothing is written below the end of
  // the file, which it answers. Requires begin_writing() or create().
  [[nodiscard]] base::Result<int64_t> spare_all();

  // Makes the contents the current state. Requires begin_writing() or create(), contents.check(),
  // the block size of the container, and what the head of this file says of the caller. Fails as
  // the file does, with kInvalid if allocations lie behind the end of the file or on the blob of
  // the current state, and with kDenied if another process committed since begin_writing(); see
  // (K4). The contents go to `room`, whole blocks that space() has, if it holds them.
  [[nodiscard]] base::Result<void> commit(const Contents& contents, Interval room = {});

 private:
  enum class Copy {
    kDurable,   // holds the current state, synced
    kWritten,   // holds it, not yet synced
    kDoubtful,  // holds anything
  };

  Container(port::File& file, const Superblock& current)
      : file_(&file), current_(current), last_sequence_(current.sequence) {}

  static base::Result<Container> start(port::File& file, const Superblock& before);
  static base::Result<Container> write_first(port::File& file, const Superblock& before);
  [[nodiscard]] base::Result<ChosenSuperblock> read_superblock();
  [[nodiscard]] base::Result<void> adopt(const ChosenSuperblock& chosen);
  [[nodiscard]] base::Result<void> make_durable(const ChosenSuperblock& chosen);
  [[nodiscard]] base::Result<void> take_page(const ChosenSuperblock& chosen, base::ByteView blob);
  [[nodiscard]] std::optional<base::Bytes> page_of(const Contents& contents) const;
  [[nodiscard]] base::Result<void> write_copy(size_t copy, const Superblock& superblock);
  [[nodiscard]] base::Result<void> write_page(base::ByteView page);
  [[nodiscard]] base::Result<void> mark_page();
  [[nodiscard]] base::Result<void> rewrite_doubtful();
  [[nodiscard]] base::Result<void> sync();
  [[nodiscard]] std::vector<Interval> taken(const std::vector<Allocation>& allocations) const;
  [[nodiscard]] base::Result<Superblock> write_blob(const Contents& contents, Interval room);
  [[nodiscard]] base::Result<void> replace_copies(const Superblock& next,
                                                  std::optional<base::Bytes> page);
  [[nodiscard]] base::Result<void> check_unchanged();
  [[nodiscard]] base::Result<void> check_places(const std::vector<Allocation>& allocations) const;
  [[nodiscard]] base::Result<void> commit_in_steps(const Contents& contents, Interval room);

  port::File* file_;
  Superblock current_;
  uint64_t last_sequence_;  // also of commits that failed
  std::vector<std::string> complaints_;
  bool writing_ = false;  // begin_writing() succeeded
  bool fresh_ = false;    // made by create(), and no sync has succeeded since
  std::array<Copy, kSuperblockCopies> copies_{Copy::kDoubtful, Copy::kDoubtful};
  base::Bytes page_;  // page 0 of the current state, if writing_; empty: there is none
  Copy page_state_ = Copy::kDurable;
  bool page_in_flux_ = false;   // copy 1 is written with the mark
  std::vector<Interval> used_;  // by the current state, ascending; if writing_
  Interval abandoned_;          // blob of a failed commit that copy 0 may still name
};

}  // namespace tessera::container
