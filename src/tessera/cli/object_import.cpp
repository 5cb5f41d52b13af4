#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <optional>
#include <vector>

#include "tessera/base/checked.hpp"
#include "tessera/cli/object_transfer.hpp"
#include "tessera/container/allocation_writer.hpp"
#include "tessera/lock/no_locks.hpp"
#include "tessera/move/independent.hpp"
#include "tessera/object/object_set.hpp"
#include "tessera/pattern/datatype.hpp"
#include "tessera/port/system_random.hpp"

namespace tessera::cli {

namespace {

using base::Result;
using pattern::ByteSet;
using pattern::Interval;

constexpr int64_t kCopyBytes = int64_t{4} << 20;

// What becomes one allocation.
struct Section {
  int32_t process = 0;
  ByteSet bytes;
};

// The bytes that the file system stores; all of them where it does not know of holes.
Result<ByteSet> stored_bytes(const port::PlainFile& file, int64_t size) {
  std::vector<pattern::Block> blocks;
  for (int64_t at = 0; at < size;) {
    const off_t begin = ::lseek(file.descriptor(), at, SEEK_DATA);
    if (begin < 0 && errno == ENXIO) break;  // a hole up to the end
    const off_t end = begin < 0 ? -1 : ::lseek(file.descriptor(), begin, SEEK_HOLE);
    if (end < 0) return ByteSet::of(Interval{0, size});
    blocks.push_back({std::min<int64_t>(end, size) - begin, begin});
    at = end;
  }
  TESSERA_TRY(const pattern::Datatype byte, pattern::basic(1));
  TESSERA_TRY(const pattern::Datatype all, pattern::hindexed(blocks, byte));
  return ByteSet::of(all.bytes);
}

// Each byte of a view at its first sharer, and what is in no view at last.
Result<std::vector<Section>> sections_of(const ByteSet& stored, const object::ViewsFile& views) {
  TESSERA_TRY(const object::ObjectSet objects, object::object_set_of(views));
  std::map<int32_t, ByteSet> owned;
  ByteSet rest = stored;
  for (const object::Family& family : objects.families()) {
    const auto sharers = objects.sharers(family.sharers);
    if (sharers.empty()) continue;
    TESSERA_TRY(const ByteSet bytes, pattern::intersect(family.bytes, stored));
    ByteSet& mine = owned[sharers.front()];
    TESSERA_TRY(mine, pattern::unite(mine, bytes));
    TESSERA_TRY(rest, pattern::subtract(rest, bytes));
  }
  std::vector<Section> sections;
  for (auto& [process, bytes] : owned) sections.push_back({process, std::move(bytes)});
  sections.push_back({0, std::move(rest)});
  return sections;
}

// A view that ends is recorded as one tile that is not repeated inside the file.
std::vector<container::WriterView> recorded(const object::ViewsFile& views, int64_t size) {
  std::vector<container::WriterView> result;
  for (const object::NamedView& view : views.views) {
    if (view.bytes.empty()) continue;
    result.push_back({view.process, 0, 1, std::max({views.range.end, size, view.bytes.span().end}),
                      view.bytes.ascending()});
  }
  return result;
}

class Import {
 public:
  Import(port::PlainFile& from, port::File& to, const ShowProgress& progress)
      : from_(from), to_(to), progress_(progress), memory_(kCopyBytes) {}

  Result<TransferReport> run(const object::ViewsFile* views) {
    TESSERA_TRY(contents_.size, from_.size());
    TESSERA_TRY(ByteSet stored, stored_bytes(from_, contents_.size));
    total_ = stored.size();
    std::vector<Section> sections;
    if (views != nullptr) {
      TESSERA_TRY(sections, sections_of(stored, *views));
      contents_.views = recorded(*views, contents_.size);
      for (const object::NamedView& view : views->views) {
        if (!view.bytes.empty()) container::set_view_name(contents_, view.process, view.name);
      }
    } else {
      sections.push_back({0, std::move(stored)});
    }
    port::SystemRandom random;
    TESSERA_TRY(auto container, container::Container::create(to_, random));
    // The blob of the empty state is in the way.
    int64_t begin = container.space().end();
    for (const Section& section : sections) {
      if (section.bytes.empty()) continue;
      TESSERA_TRY(begin, store(section, begin));
    }
    TESSERA_TRY_VOID(to_.sync());
    TESSERA_TRY_VOID(container.commit(contents_));
    return TransferReport{contents_.size, total_, std::ssize(contents_.allocations)};
  }

 private:
  // Answers where the next section begins.
  Result<int64_t> store(const Section& section, int64_t begin) {
    const int64_t block = contents_.block_bytes;
    const int64_t room = base::ceil_div(section.bytes.size(), block) * block;
    container::AllocationWriter writer(to_, {begin, begin + room}, block);
    const pattern::Pattern& bytes = section.bytes.ascending();
    for (int64_t at = 0; at < bytes.size(); at += kCopyBytes) {
      const Interval stream = {at, std::min(bytes.size(), at + kCopyBytes)};
      const auto window = std::span(memory_).first(static_cast<size_t>(stream.length()));
      TESSERA_TRY_VOID(read(bytes.clip(stream), window));
      TESSERA_TRY_VOID(writer.append(window));
      done_ += stream.length();
      if (progress_) progress_(done_, total_);
    }
    TESSERA_TRY_VOID(writer.flush());
    container::Allocation allocation = writer.allocation();
    allocation.id = contents_.next_id();
    allocation.manager = section.process;
    TESSERA_TRY_VOID(contents_.map.add({section.bytes, allocation.id, 0, 1}));
    contents_.add(std::move(allocation));
    return begin + room;
  }

  Result<void> read(pattern::Pattern bytes, std::span<std::byte> memory) {
    move::Move moved;
    moved.file = std::move(bytes);
    TESSERA_TRY(moved.memory, pattern::Pattern::run({{0}}, std::ssize(memory)));
    moved.base = memory.data();
    move::Context context{.file = from_,
                          .locks = locks_,
                          .hints = hints_,
                          .costs = costs_,
                          .phases = {},
                          .choice = {}};
    port::Transfer transfer = move::execute_independent(moved, context);
    if (!transfer) return std::move(transfer.status);
    if (transfer.bytes == moved.size()) return {};
    return base::fail(base::Code::kRetry, from_.path() + " shrank while it was read; try again");
  }

  port::PlainFile& from_;
  port::File& to_;
  const ShowProgress& progress_;
  base::Bytes memory_;
  container::Contents contents_;
  lock::NoLocks locks_;
  const move::Hints hints_;
  const move::Costs costs_;
  int64_t done_ = 0;
  int64_t total_ = 0;
};

}  // namespace

Result<TransferReport> import_bytes(port::PlainFile& from, port::File& to,
                                    const object::ViewsFile* views, const ShowProgress& progress) {
  return Import(from, to, progress).run(views);
}

}  // namespace tessera::cli
