#include "tessera/remap/remap.hpp"

#include <algorithm>
#include <cerrno>
#include <memory>
#include <optional>

#include "tessera/container/container.hpp"
#include "tessera/port/fresh_file.hpp"

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

// The file that is to be, and the first rank's hold on it. Nobody looks for it yet, so the order in
// which its bytes become durable does not matter: one sync before it gets its name will do, besides
// those of other nodes.
class Draft {
 public:
  explicit Draft(const RemapJob& job) : job_(job), first_(job.exchange.rank() == 0) {}
  Draft(const Draft&) = delete;
  Draft& operator=(const Draft&) = delete;

  // Collective. Answers where the first shelf begins.
  Result<int64_t> open(const RemapOptions& options) {
    TESSERA_TRY_VOID(job_.exchange.agree(first_ ? create(options.block_bytes) : Result<void>()));
    uint64_t begin = 0;
    if (first_) begin = static_cast<uint64_t>(container_->space().end());
    TESSERA_TRY(const uint64_t told, job_.exchange.all_max(begin));
    TESSERA_TRY(const std::string reach, port::reach_together(job_.exchange, fresh_.get()));
    TESSERA_TRY_VOID(job_.exchange.agree(open_at(reach, options.direct)));
    return static_cast<int64_t>(told);
  }

  // Collective, before anything is written there. Where there is no room for all shelves, that is
  // told now, if the file system knows.
  Result<void> extend(Interval all) {
    return job_.exchange.agree(first_ ? reserve_or_extend(all) : Result<void>());
  }

  [[nodiscard]] port::File& file() { return first_ ? fresh_->file() : *file_; }
  [[nodiscard]] port::File* direct() { return direct_.get(); }

  // Of the first rank: the draft becomes the file.
  Result<void> publish(const Contents& contents, const RemapOptions& options) {
    TESSERA_TRY_VOID(container_->commit(contents));
    if (options.durable) TESSERA_TRY_VOID(file().sync());
    TESSERA_TRY_VOID(job_.publish ? job_.publish(*fresh_) : fresh_->publish(options.existing));
    if (!options.durable) return {};
    return job_.disk.sync_directory(port::directory_of(job_.path));
  }

 private:
  Result<void> reserve_or_extend(Interval all) {
    Result<void> reserved = file().reserve_range(all.begin, all.end);
    const int why = reserved ? 0 : reserved.error().errno_value;
    const bool is_full = why == ENOSPC || why == EDQUOT || why == EFBIG;
    return reserved || is_full ? reserved : file().truncate(all.end);
  }

  Result<void> create(int64_t block_bytes) {
    TESSERA_TRY(fresh_, job_.disk.make_fresh(job_.path));
    unsynced_.emplace(fresh_->file());
    TESSERA_TRY(Container made, Container::create(*unsynced_, job_.random, block_bytes));
    container_.emplace(std::move(made));
    return {};
  }

  Result<void> open_at(const std::string& reach, bool direct) {
    using port::Access;
    if (!first_) {
      TESSERA_TRY(file_, job_.disk.open_fresh(reach, job_.path, Access::kReadWrite));
    }
    if (!direct) return {};
    auto opened = job_.disk.open_fresh(reach, job_.path, Access::kDirectWrite);
    if (!opened && opened.error().errno_value == EINVAL) {
      return base::fail(base::Code::kInvalid,
                        "the file system of " + job_.path + " has no direct I/O");
    }
    TESSERA_TRY(direct_, std::move(opened));
    return {};
  }

  const RemapJob& job_;
  const bool first_;
  std::unique_ptr<port::FreshFile> fresh_;  // of the first rank
  std::unique_ptr<port::File> file_;        // of the others
  std::unique_ptr<port::File> direct_;
  std::optional<UnsyncedFile> unsynced_;  // these two of the first rank
  std::optional<Container> container_;
};

Result<Contents> contents_of(const Plan& plan, std::span<const Consumer> consumers,
                             std::vector<container::Allocation> allocations, int64_t block_bytes) {
  constexpr uint64_t kEpoch = 1;
  Contents contents;
  contents.block_bytes = block_bytes;
  contents.size = plan.size;
  TESSERA_TRY(contents.map, map_of(plan, 0, kEpoch));
  contents.allocations = std::move(allocations);
  record_views(consumers, plan.size, contents);
  return contents;
}

int64_t piece_bytes(const Layout& layout, const RemapOptions& options) {
  if (options.direct) return kLargePieceBytes;
  const int64_t bytes = layout.hull().length();
  if (bytes > options.pieces.small_file_bytes) return kSmallPieceBytes;
  const bool large_shelves = bytes / std::ssize(layout.rooms) >= options.pieces.large_shelf_bytes;
  return large_shelves ? kLargePieceBytes : options.fill.piece_bytes_max;
}

// Collective: makes room for the shelves, and answers how they are to be written.
Result<FillOptions> prepare(Draft& draft, const Layout& layout, const RemapOptions& options) {
  FillOptions how = options.fill;
  how.direct = draft.direct();
  if (layout.rooms.empty() || layout.hull().empty()) return how;
  TESSERA_TRY_VOID(draft.extend(layout.hull()));
  how.piece_bytes_max = std::max(piece_bytes(layout, options), options.block_bytes);
  return how;
}

Result<RemapReport> remap_by_plan(const RemapJob& job, std::span<const Consumer> consumers,
                                  const Plan& plan, const RemapOptions& options) {
  Draft draft(job);
  TESSERA_TRY(const int64_t begin, draft.open(options));
  const Layout layout = layout_of(plan, begin, options.block_bytes);
  TESSERA_TRY(FillOptions how, prepare(draft, layout, options));
  how.syncs = options.durable && how.syncs && job.exchange.rank() != 0;
  auto filled = fill({job.exchange, job.source, draft.file(), plan, layout}, 0, how);
  if (!filled) return base::failure_of(filled);
  Result<void> published;
  if (job.exchange.rank() == 0) {
    const auto contents = contents_of(plan, consumers, *std::move(filled), options.block_bytes);
    published =
        contents ? draft.publish(*contents, options) : Result<void>(base::failure_of(contents));
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
