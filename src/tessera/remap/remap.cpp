#include "tessera/remap/remap.hpp"

#include <algorithm>
#include <cerrno>
#include <memory>
#include <optional>

#include "tessera/base/checked.hpp"
#include "tessera/container/container.hpp"
#include "tessera/port/large_pages.hpp"

namespace tessera::remap {

namespace {

using base::Result;
using container::Container;
using container::Contents;

// A file that is made durable by whoever owns it, and not by whoever writes it.
class UnsyncedFile final : public port::File {
 public:
  explicit UnsyncedFile(port::File& inner) : File(inner.path()), inner_(inner) {}

  [[nodiscard]] Result<void> truncate(int64_t size) override {
    // ext4 takes a file that was cut to nothing for one that is replaced, and writes it to the disk
    // when it is closed.
    TESSERA_TRY(const int64_t before, inner_.size());
    return before == size ? Result<void>() : inner_.truncate(size);
  }
  [[nodiscard]] Result<int64_t> size() override { return inner_.size(); }
  [[nodiscard]] Result<void> sync() override { return {}; }

 protected:
  Attempt read_some(int64_t offset, std::span<const iovec> memory) override {
    const iovec& first = memory.front();
    return answer(inner_.read_at(offset, {static_cast<std::byte*>(first.iov_base), first.iov_len}));
  }
  Attempt write_some(int64_t offset, std::span<const iovec> memory) override {
    const iovec& first = memory.front();
    return answer(
        inner_.write_at(offset, {static_cast<const std::byte*>(first.iov_base), first.iov_len}));
  }

 private:
  static Attempt answer(const port::Transfer& transfer) {
    if (transfer) return {transfer.bytes, 0};
    const int number = transfer.status.error().errno_value;
    return {transfer.bytes, number != 0 ? number : EIO};
  }

  port::File& inner_;
};

// The file that is to be, under another name, and the first rank's hold on it. Nobody looks for it
// there, so the order in which its bytes become durable does not matter: one sync before it gets
// its name will do, besides those of other nodes.
class Draft {
 public:
  explicit Draft(const RemapJob& job)
      : job_(job), path_(job.path + ".remap"), first_(job.exchange.rank() == 0) {}

  // Whatever did not become the file is removed.
  ~Draft() {
    container_.reset();
    file_.reset();
    if (first_ && created_) static_cast<void>(job_.disk.remove(path_));
  }
  Draft(const Draft&) = delete;
  Draft& operator=(const Draft&) = delete;

  // Collective. Answers where the first shelf begins.
  Result<int64_t> open(int64_t block_bytes) {
    TESSERA_TRY_VOID(job_.exchange.agree(first_ ? create(block_bytes) : Result<void>()));
    uint64_t begin = 0;
    if (first_) begin = static_cast<uint64_t>(container_->space().end());
    TESSERA_TRY(const uint64_t told, job_.exchange.all_max(begin));
    Result<void> opened;
    if (!first_) {
      auto file = job_.disk.open(path_, port::Access::kReadWrite);
      opened = file ? Result<void>() : Result<void>(base::failure_of(file));
      if (file) file_ = *std::move(file);
    }
    TESSERA_TRY_VOID(job_.exchange.agree(opened));
    return static_cast<int64_t>(told);
  }

  // Collective, before anything is written there. Where there is no room for all shelves, that is
  // told now, if the file system knows.
  Result<void> extend(Interval all) {
    return job_.exchange.agree(first_ ? reserve_or_extend(all) : Result<void>());
  }

  // Collective, once it is extended: has all shelves kept in large pages, for those who will read
  // them from memory.
  Result<void> take_large_pages(Interval all) {
    const Interval share = own_pages(all);
    if (!share.empty()) file_->take_large_pages(share.begin, share.end);
    // Nobody writes where another still takes pages.
    return job_.exchange.agree(Result<void>());
  }

  [[nodiscard]] port::File& file() { return *file_; }

  // Of the first rank: the draft becomes the file.
  Result<void> publish(const Contents& contents, bool durable) {
    TESSERA_TRY_VOID(container_->commit(contents));
    if (durable) TESSERA_TRY_VOID(file_->sync());
    TESSERA_TRY_VOID(job_.disk.rename(path_, job_.path));
    created_ = false;
    if (!durable) return {};
    return job_.disk.sync_directory(port::directory_of(job_.path));
  }

 private:
  Result<void> reserve_or_extend(Interval all) {
    Result<void> reserved = file_->reserve_range(all.begin, all.end);
    const int why = reserved ? 0 : reserved.error().errno_value;
    const bool is_full = why == ENOSPC || why == EDQUOT || why == EFBIG;
    return reserved || is_full ? reserved : file_->truncate(all.end);
  }

  // This rank's part, which is cut at large pages; empty if there are fewer of them than ranks.
  [[nodiscard]] Interval own_pages(Interval all) const {
    const Interval pages = {all.begin / port::kLargePageBytes,
                            base::ceil_div(all.end, port::kLargePageBytes)};
    const Interval own = share_of(pages, job_.exchange.rank(), job_.exchange.size());
    return {std::max(all.begin, own.begin * port::kLargePageBytes),
            std::min(all.end, own.end * port::kLargePageBytes)};
  }

  Result<void> create(int64_t block_bytes) {
    if (const auto removed = job_.disk.remove(path_);
        !removed && removed.error().code != base::Code::kNotFound) {
      return base::failure_of(removed);
    }
    TESSERA_TRY(file_, job_.disk.create(path_));
    created_ = true;
    unsynced_.emplace(*file_);
    TESSERA_TRY(Container made, Container::create(*unsynced_, job_.random, block_bytes));
    container_.emplace(std::move(made));
    return {};
  }

  const RemapJob& job_;
  const std::string path_;
  const bool first_;
  bool created_ = false;
  std::unique_ptr<port::File> file_;
  std::optional<UnsyncedFile> unsynced_;
  std::optional<Container> container_;  // of the first rank
};

Result<Contents> contents_of(const Plan& plan, std::span<const Consumer> consumers,
                             std::vector<container::Allocation> allocations, int64_t block_bytes) {
  constexpr uint64_t kEpoch = 1;
  Contents contents;
  contents.block_bytes = block_bytes;
  contents.size = plan.size;
  TESSERA_TRY(contents.map, map_of(plan, 0, kEpoch));
  contents.allocations = std::move(allocations);
  for (const Consumer& consumer : consumers) {
    if (!consumer.bytes.empty()) contents.views.push_back(writer_view(consumer, plan.size));
  }
  return contents;
}

// Whether a new file of such shelves is kept in large pages.
bool suits(const LargePageOptions& options, const Layout& layout) {
  return !layout.rooms.empty() && layout.hull().length() <= options.stored_bytes_max &&
         layout.hull().length() / std::ssize(layout.rooms) >= options.shelf_bytes_min;
}

// Collective: makes room for the shelves, and answers how they are to be written.
Result<FillOptions> prepare(Draft& draft, const Layout& layout, const RemapOptions& options,
                            port::WriteGate& gate) {
  FillOptions how = options.fill;
  how.gate = &gate;
  if (layout.rooms.empty() || layout.hull().empty()) return how;
  TESSERA_TRY_VOID(draft.extend(layout.hull()));
  if (suits(options.large_pages, layout)) {
    TESSERA_TRY_VOID(draft.take_large_pages(layout.hull()));
    how.piece_bytes_max = std::max(how.piece_bytes_max, kLargePieceBytes);
  } else if (layout.hull().length() > options.large_pages.stored_bytes_max) {
    draft.file().choose_write_ways(gate.choice());
    how.piece_bytes_max = std::max(how.piece_bytes_max, kLargePieceBytes);
  }
  return how;
}

Result<RemapReport> remap_by_plan(const RemapJob& job, std::span<const Consumer> consumers,
                                  const Plan& plan, const RemapOptions& options) {
  port::WriteGate own;
  Draft draft(job);
  TESSERA_TRY(const int64_t begin, draft.open(options.block_bytes));
  const Layout layout = layout_of(plan, begin, options.block_bytes);
  TESSERA_TRY(FillOptions how, prepare(draft, layout, options,
                                       options.fill.gate != nullptr ? *options.fill.gate : own));
  how.syncs = options.durable && how.syncs && job.exchange.rank() != 0;
  auto filled = fill({job.exchange, job.source, draft.file(), plan, layout}, 0, how);
  if (!filled) return base::failure_of(filled);
  Result<void> published;
  if (job.exchange.rank() == 0) {
    const auto contents = contents_of(plan, consumers, *std::move(filled), options.block_bytes);
    published = contents ? draft.publish(*contents, options.durable)
                         : Result<void>(base::failure_of(contents));
  }
  TESSERA_TRY_VOID(job.exchange.agree(published));
  return RemapReport{plan.size, plan.stored_bytes(), plan.extra_bytes(), std::ssize(plan.shelves)};
}

// Collective: all ranks have to plan for the same bytes.
Result<void> agree_on_source(const RemapJob& job) {
  const uint64_t version = job.source.version();
  TESSERA_TRY(const uint64_t largest, job.exchange.all_max(version));
  Result<void> mine;
  if (version != largest) {
    mine = base::fail(base::Code::kRetry, "the source changed while it was opened; try again");
  }
  return job.exchange.agree(mine);
}

}  // namespace

Result<RemapReport> remap(const RemapJob& job, std::span<const Consumer> consumers,
                          const RemapOptions& options) {
  TESSERA_TRY_VOID(agree_on_source(job));
  const auto plan = make_plan(job.source.size(), consumers, options.plan);
  TESSERA_TRY_VOID(
      job.exchange.agree(plan ? Result<void>() : Result<void>(base::failure_of(plan))));
  return remap_by_plan(job, consumers, *plan, options);
}

}  // namespace tessera::remap
