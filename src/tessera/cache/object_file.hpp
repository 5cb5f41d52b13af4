// ObjectFile: an object file that the ranks of a job have open together.
//
// A rank appends what it writes, packed, to space of the container that is its own, and maps the
// bytes there; so a write is one large transfer whatever the view, and nobody waits for anybody.
// What ranks need of each other is the map: ranks of one node hear of each other's writes at once
// (news.hpp), others when they meet, or at once too in atomic mode. Bytes that were committed are
// never overwritten, so the file can be read as of its last commit whoever dies when.
//   (O1) A rank sees its own writes at once, those of ranks of its node that it can hear at once,
//        and those of all ranks after a collective call.
//   (O2) Of two writes of a byte the one whose writer knew of the other is the newer; of two that
//        did not know of each other all ranks take the same.
//   (O3) After a commit all ranks have the same contents, which are those of the container.
//   (O4) A commit is made of everything that all ranks wrote before, or fails on all of them, and
//        then the file is as it was, and what was written can be committed later.
//   (O5) A write that fails is not part of the file, and its space is free again; over bytes that
//        are not committed yet it may leave some of its own. Room on the disk for the contents of
//        the next commit is reserved before a write succeeds, and space above the limit of file
//        sizes is given to none, so neither a full disk nor a limit keeps writes that succeeded
//        from being committed.
//   (O6) A write under a lock that can be taken away is published only while the lock is held, and
//        ordered by when the lock was granted: it never replaces bytes of whoever had the lock
//        after it, wherever its rank was stopped.
// The same, without a container's format, is a cache in front of a plain file: what the ranks wrote
// waits in a file without a name until a commit writes it to the plain one, in large requests in
// the order of the file, each rank a share. There (O4) promises less: a plain file that a commit
// failed to write may hold part of it.
// Thread safety: write() and read() from any thread; the others in the thread that makes the rank's
// collective calls, while no write runs. Collective calls say so.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "tessera/base/result.hpp"
#include "tessera/cache/change.hpp"
#include "tessera/cache/contents_room.hpp"
#include "tessera/cache/kept_contents.hpp"
#include "tessera/cache/news.hpp"
#include "tessera/cache/regions.hpp"
#include "tessera/container/container.hpp"
#include "tessera/move/experience.hpp"
#include "tessera/move/move.hpp"
#include "tessera/owner/manager.hpp"
#include "tessera/port/guarded.hpp"
#include "tessera/port/random.hpp"
#include "tessera/port/shared_number.hpp"
#include "tessera/port/team.hpp"

namespace tessera::cache {

// What the ranks of an open file count together.
struct Numbers {
  port::SharedNumber& space;     // blocks that all have taken
  port::SharedNumber& contents;  // bytes that all have counted in (contents_room.hpp)
  port::SharedNumber& room;      // the length of the room that is reserved for them
  port::SharedNumber& turn;      // who is reserving: nobody while it is 0
};

// Of ranks that are one process.
class OwnNumbers {
 public:
  operator Numbers() { return {space_, contents_, room_, turn_}; }  // NOLINT: stands for them

 private:
  port::OwnNumber space_;
  port::OwnNumber contents_;
  port::OwnNumber room_;
  port::OwnNumber turn_;
};

// How the ranks of an open file reach the container and each other; all outlive the object file.
struct Ranks {
  port::Exchange& exchange;
  port::Team* team = nullptr;  // the same ranks, if all are on one node
  Numbers numbers;
  bool leads_node = true;  // makes what its node wrote durable
  // What the first rank asks: whether others read the file, perhaps as of an older commit; and
  // whether it has a name yet. Without a name nobody will read what a commit writes.
  std::function<bool()> has_readers = {};
  std::function<bool()> has_name = {};
  // Gives space of the file that nothing is in back to the file system; promises nothing.
  std::function<void(Interval)> free_space = {};
  // Makes the name of a new file durable; the first rank calls it before the first commit.
  std::function<base::Result<void>()> sync_name = {};
};

struct ObjectFileOptions {
  bool write = false;
  bool create = false;  // the file is new and empty
  // Of a cache in front of a plain file: where bytes that the ranks have not written come from, and
  // where a commit writes theirs. The file itself is then new, nameless and without a format.
  port::File* below = nullptr;
  bool verify = true;  // reads check blocks
  // Where bytes go that are written again before they are committed.
  owner::SharedWrites shared_writes = owner::SharedWrites::kAutomatic;
};

// The bytes of one reader to come, in file order, each at its place in one allocation.
struct Shelf {
  int32_t manager = 0;
  pattern::ByteSet bytes;
};

// Numbers for those who want to know what was done.
struct ObjectFileCounts {
  int64_t appended_bytes = 0;
  int64_t rewritten_bytes = 0;  // in their place
  int64_t migrated_bytes = 0;   // to new space of their writer, although they could stay
  int64_t parts_read = 0;       // of the map; one for each read that found all in one run
  int64_t reads = 0;
};

class ObjectFile {
 public:
  // Collective. Fails on all ranks alike: as Container::open() does, and where the ranks cannot
  // agree on what they opened.
  [[nodiscard]] static base::Result<std::unique_ptr<ObjectFile>> open(port::File& file,
                                                                      const Ranks& ranks,
                                                                      port::Random& random,
                                                                      ObjectFileOptions options);

  ~ObjectFile();
  ObjectFile(const ObjectFile&) = delete;
  ObjectFile& operator=(const ObjectFile&) = delete;

  // Gives bytes their places before they are written: those of each shelf together, as the map
  // says, whose allocation i is shelf i. Bytes on several shelves are written to all of them. Holds
  // until the next commit; bytes that nobody writes until then are zeros. Requires a new file.
  // Collective, the same on all ranks.
  [[nodiscard]] base::Result<void> lay_out(std::vector<Shelf> shelves, map::FileMap map);

  // Where a write will go. A write that some other thread makes is placed before, in the thread of
  // collective calls. What is placed is written, or given back.
  struct Placed {
    std::vector<Extent> extents = {};
    int64_t contents_bytes = 0;  // held for it
  };
  [[nodiscard]] base::Result<Placed> place(const move::Move& move);
  void give_back(const Placed& placed);

  struct WriteTerms {
    const Placed* placed = nullptr;  // where place() has put it, if it has
    // Of a write under a lock that can be taken away: whether it is held yet. Called by the writing
    // thread, with the state of this object locked.
    std::function<base::Result<void>()> confirm = {};
  };
  // Requires a move whose file pattern ascends. Answers how many bytes, from the first on, are part
  // of the file now: all, or those that could be published before it failed, mostly none.
  [[nodiscard]] port::Transfer write(const move::Move& move, const WriteTerms& terms);
  [[nodiscard]] port::Transfer write(const move::Move& move) { return write(move, {}); }
  // As PlainFile's, of this object. Thread safety: any thread.
  void forget_limit() { allowed_end_.store(0, std::memory_order_relaxed); }
  // Bytes that nobody wrote are zero; the read ends where the file does.
  [[nodiscard]] port::Transfer read(const move::Move& move);

  // Of the file, with all writes that this rank knows of.
  [[nodiscard]] base::Result<int64_t> size();

  // Collective: tells all ranks what each of them wrote, and gives all the verdict.
  [[nodiscard]] base::Result<void> meet(const base::Result<void>& mine);
  // Collective, the same size on all ranks.
  [[nodiscard]] base::Result<void> set_size(int64_t size);
  [[nodiscard]] base::Result<void> extend(int64_t size);  // never cuts
  // Collective: makes all that was written durable, as one state of the file. Fails with kNotFound
  // if the file was written since it was opened and has no name any more.
  [[nodiscard]] base::Result<void> commit();
  // Collective: commits, and gives back most of what the file has behind its last byte.
  [[nodiscard]] base::Result<void> close();

  // The view through which this rank writes; stored with the next commit.
  void set_view(container::WriterView view);
  // From now on; no access may run meanwhile.
  void set_hints(bool verify, owner::SharedWrites shared_writes) {
    options_.verify = verify;
    options_.shared_writes = shared_writes;
  }
  // Whether ranks shall hear of each other's writes without meeting, as atomic mode needs it; on
  // one node they always do. Collective, the same on all ranks.
  [[nodiscard]] base::Result<void> set_coherent(bool coherent);
  // Whether writes that another thread makes have to be placed before.
  [[nodiscard]] bool places_before() const { return ranks_.team == nullptr; }
  [[nodiscard]] ObjectFileCounts counts();

 private:
  using Allocations = std::vector<container::Allocation>;

  // An epoch is a stamp, which grows with what a rank has heard of, and the rank: (O2).
  static constexpr uint64_t kEpochsPerStamp = uint64_t{1} << 20;

  // A shelf that has its place.
  struct Placement {
    pattern::ByteSet bytes;
    map::AllocationId allocation = 0;
  };

  // A request, and where its bytes are.
  struct Searched {
    pattern::Pattern request;
    map::Found found;
  };

  struct State {
    explicit State(int64_t block_bytes) : regions(block_bytes) {}

    // With all changes since the last commit that are known; allocations where it is written.
    container::Contents contents;
    // What the last commit has; shared with reads under way.
    std::shared_ptr<const Allocations> committed;
    // Where allocations since then begin in the container, of all ranks.
    std::unordered_map<map::AllocationId, int64_t> begins;
    container::Space space{{}};
    map::AllocationId first_id = 0;  // of those since the last commit
    std::vector<Placement> shelves;  // until the next commit
    Regions regions;
    bool rewrites = true;             // whether bytes are written again in their place
    bool doubtful = false;            // a commit failed: it may be on the disk, its bytes need not
    std::unique_ptr<News> news;       // null: ranks hear of each other when they meet
    uint64_t stamp = 1;               // see epoch()
    std::vector<base::Bytes> untold;  // changes that others hear of when they meet
    bool changed = false;             // by this rank, since the last commit
    ContentsRoom contents_room;       // until then
    int64_t chunk_bytes = 0;          // of space taken at a time
    owner::ManagerChoice choice;      // of this rank, since the last commit
    int64_t migrated_bytes = 0;       // since then
    ObjectFileCounts counts;
    std::optional<Searched> last;  // of a file that is only read
  };

  // One part of a read: where the bytes are and where they go.
  struct Fetch {
    std::shared_ptr<const Allocations> keeps;
    container::Allocation unchecked;                    // of an allocation that is not committed
    const container::Allocation* allocation = nullptr;  // of a committed one, which is kept
    move::Move move;  // file positions are places of the allocation
  };
  struct Search {
    std::vector<Fetch> fetches;
    std::optional<move::Move> missing;  // what nobody has written
    int64_t bytes = 0;
  };
  // Bytes to be written again in their place.
  struct Rewrite {
    map::AllocationId allocation = 0;
    Interval places;
    move::Move move;  // file positions are those of the container
  };
  // Bytes that are in their places, on their way into the map.
  struct Written {
    std::span<const Extent> extents;
    std::vector<std::vector<BlockSum>> sums;  // of each extent
    std::optional<uint64_t> stamp;            // (O6); else as it is when they are published
  };
  // What the ranks of a commit have found together.
  struct Gathered {
    bool changed = false;   // by any of them, since the last commit
    bool nameless = false;  // the file
  };

  // What the first rank found, for all of them.
  struct Found {
    container::Superblock superblock;
    int64_t spared_end = 0;  // nothing is written before it, since others still read there
    Interval room;           // kept for the contents of the next commit
    base::Bytes blob;
    std::optional<container::Contents> contents;  // what is in the blob, at the first rank
  };

  ObjectFile(port::File& file, const Ranks& ranks, ObjectFileOptions options, int64_t block_bytes)
      : file_(file),
        ranks_(ranks),
        options_(options),
        block_bytes_(block_bytes),
        state_(State(block_bytes)) {}

  [[nodiscard]] static base::Result<Found> open_container(
      port::File& file, port::Random& random, ObjectFileOptions options,
      std::optional<container::Container>& opened);
  [[nodiscard]] static base::Result<Found> begin_anew(const Ranks& ranks,
                                                      container::Container& container, Found found);
  [[nodiscard]] static base::Result<Found> share(const Ranks& ranks, base::Result<Found> mine);
  [[nodiscard]] static base::Bytes encode_found(Found& found);
  [[nodiscard]] static base::Result<Found> decode_found(base::Bytes heard);
  [[nodiscard]] base::Result<void> start(Found& found);
  [[nodiscard]] static base::Result<std::unique_ptr<ObjectFile>> open_cache(
      port::File& file, const Ranks& ranks, ObjectFileOptions options);
  [[nodiscard]] base::Result<void> begin_common_news();
  [[nodiscard]] base::Result<void> begin_file_news();
  [[nodiscard]] base::Result<void> replace_news(std::unique_ptr<News> news);
  [[nodiscard]] base::Result<void> adopt(const Found& found);
  void begin_epoch(const std::vector<Interval>& used);

  [[nodiscard]] base::Result<int64_t> take_shelf_space(const std::vector<Shelf>& shelves);
  void place_shelves(State& state, std::vector<Shelf> shelves, int64_t first);
  static void leave_shelves(State& state);
  [[nodiscard]] base::Result<std::vector<move::Move>> find_shelves(State& state,
                                                                   const move::Move& move);
  [[nodiscard]] port::Transfer write_to_shelves(const std::vector<move::Move>& parts,
                                                const move::Move& move);

  [[nodiscard]] base::Result<void> take_space(int64_t bytes);
  [[nodiscard]] base::Result<Interval> take_whole_space(int64_t bytes);
  [[nodiscard]] base::Result<std::vector<Extent>> take_places(int64_t bytes);
  void give_back_space(std::span<const Extent> extents);
  [[nodiscard]] base::Result<void> hold_contents(int64_t added_bytes);
  void release_contents(int64_t added_bytes);
  [[nodiscard]] base::Result<void> keep_room(int64_t counted_bytes);
  [[nodiscard]] base::Result<bool> has_room(int64_t need) const;
  [[nodiscard]] base::Result<void> reserve_room();
  [[nodiscard]] base::Result<void> check_limit(int64_t end);
  [[nodiscard]] base::Result<void> check_limit(const move::Move& move, const Placed& placed);
  [[nodiscard]] base::Result<void> reserve(Interval room);
  [[nodiscard]] base::Result<std::vector<Rewrite>> find_rewrites(State& state,
                                                                 const move::Move& move);
  [[nodiscard]] bool migrates(State& state, const std::vector<Rewrite>& rewrites,
                              const move::Move& move) const;
  [[nodiscard]] base::Result<void> note_rewrite(State& state, const Rewrite& rewrite);
  [[nodiscard]] port::Transfer rewrite(const std::vector<Rewrite>& rewrites, int64_t bytes);
  [[nodiscard]] port::Transfer write_anew(const move::Move& move, const Placed& placed,
                                          const WriteTerms& terms);
  [[nodiscard]] base::Result<std::optional<uint64_t>> take_stamp(const WriteTerms& terms);
  [[nodiscard]] base::Result<void> write_bytes(const move::Move& move, Written& written);
  [[nodiscard]] port::Transfer publish(State& state, const move::Move& move, const Written& written,
                                       const WriteTerms& terms);
  [[nodiscard]] base::Result<void> map_extent(State& state, const Extent& extent,
                                              const std::vector<BlockSum>& sums,
                                              const Change& change, int64_t record_bytes);
  [[nodiscard]] std::vector<Extent> find_own(State& state, const pattern::ByteSet& bytes) const;
  static void give_back_hidden(State& state, const Extent& by, const pattern::ByteSet& bytes,
                               const std::vector<Extent>& own);
  [[nodiscard]] base::Result<void> tell(State& state, const Change& change);
  [[nodiscard]] base::Result<void> tell(State& state, base::Bytes record);
  [[nodiscard]] base::Result<void> hear(State& state);
  [[nodiscard]] base::Result<void> apply(State& state, int from, base::ByteView record);
  [[nodiscard]] base::Result<Gathered> apply_share(int from, base::ByteView told);
  [[nodiscard]] uint64_t epoch(uint64_t stamp) const;

  [[nodiscard]] base::Result<Search> search(State& state, const move::Move& whole);
  [[nodiscard]] base::Result<map::Found> find(State& state, const pattern::ByteSet& request) const;
  [[nodiscard]] base::Result<void> add_fetch(State& state, const move::Move& move,
                                             const map::Part& part, Search& search) const;

  [[nodiscard]] base::Result<void> read_missing(const move::Move& missing) const;
  [[nodiscard]] base::Result<void> read_committed(const Fetch& fetch);

  [[nodiscard]] base::Result<void> commit(bool durable);
  [[nodiscard]] base::Result<Gathered> gather_changes(bool commits);
  [[nodiscard]] base::Result<void> gather_allocations();
  [[nodiscard]] base::Result<Found> commit_changes();
  [[nodiscard]] base::Result<Found> commit_container();
  [[nodiscard]] base::Result<void> reach_last_block(const Allocations& allocations);
  [[nodiscard]] base::Result<void> settle(const Found& committed);
  [[nodiscard]] base::Result<void> clear_news();
  [[nodiscard]] base::Result<void> trim();
  [[nodiscard]] base::Result<void> write_below(bool durable);
  [[nodiscard]] base::Result<void> write_share(const pattern::ByteSet& bytes);
  [[nodiscard]] base::Result<void> settle_below();

  port::File& file_;
  Ranks ranks_;
  ObjectFileOptions options_;
  const int64_t block_bytes_;
  move::Experience experience_;                    // of reading what is committed
  bool coherent_ = false;                          // by the program's wish
  bool wrote_ = false;                             // any rank, since it was opened
  std::optional<container::Container> container_;  // of the first rank
  int64_t size_before_ = 0;                        // of the container when it was opened
  std::optional<KeptContents::Origin> origin_;     // of contents that are only read, to be kept
  std::optional<container::WriterView> view_;
  int64_t view_bytes_max_ = 0;  // in the contents, of those that were set
  // Of the container, or the file below: the limit of file sizes was found to lie behind it.
  std::atomic<int64_t> allowed_end_ = 0;
  port::Guarded<State> state_;
};

}  // namespace tessera::cache
