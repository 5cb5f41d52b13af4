// Object files for tests: the simplest writer and reader that keep the container's bargain.
//
// One process, one allocation a write, room taken from the start of the free space, small gaps
// included so that space is used again soon. Thread safety: none.
#pragma once

#include <algorithm>
#include <cerrno>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tessera/base/assert.hpp"
#include "tessera/base/checked.hpp"
#include "tessera/base/checksum.hpp"
#include "tessera/container/allocation_writer.hpp"
#include "tessera/container/block_reader.hpp"
#include "tessera/container/container.hpp"
#include "tessera/pattern/byte_set.hpp"
#include "tessera/pattern/copy.hpp"
#include "tessera/port/disk.hpp"
#include "tessera/port/random.hpp"

namespace tessera::container {

inline constexpr int64_t kTestBlock = 512;

// A file behind another that can be told to forget syncs, or to be gone as if its process had been
// killed.
class TestFile final : public port::File {
 public:
  explicit TestFile(port::File& inner) : File(inner.path()), inner_(inner) {}

  // Leaves out the nth sync from now, counted from 1.
  void skip_sync(int nth) { skip_ = nth; }
  void before_next_sync(std::function<void()> call) { before_sync_ = std::move(call); }
  [[nodiscard]] int syncs() const { return syncs_; }
  // Lets so many operations through, and fails all others.
  void kill_after(int operations) { left_ = operations; }

  base::Result<void> truncate(int64_t size) override {
    if (!alive()) return base::fail_errno(EIO, "killed");
    return inner_.truncate(size);
  }
  base::Result<int64_t> size() override { return inner_.size(); }
  base::Result<void> sync() override {
    if (!alive()) return base::fail_errno(EIO, "killed");
    if (skip_ > 0 && --skip_ == 0) return {};
    ++syncs_;
    if (const auto call = std::exchange(before_sync_, nullptr)) call();
    return inner_.sync();
  }

 protected:
  Attempt read_some(int64_t offset, std::span<const iovec> memory) override {
    if (!alive()) return {0, EIO};
    return answer(inner_.read_at(
        offset, {static_cast<std::byte*>(memory.front().iov_base), memory.front().iov_len}));
  }
  Attempt write_some(int64_t offset, std::span<const iovec> memory) override {
    if (!alive()) return {0, EIO};
    return answer(inner_.write_at(
        offset, {static_cast<const std::byte*>(memory.front().iov_base), memory.front().iov_len}));
  }

 private:
  bool alive() {
    if (!left_) return true;
    if (*left_ == 0) return false;
    --*left_;
    return true;
  }
  static Attempt answer(const port::Transfer& transfer) {
    return {transfer.bytes, transfer ? 0 : transfer.status.error().errno_value};
  }

  port::File& inner_;
  int syncs_ = 0;
  int skip_ = 0;
  std::function<void()> before_sync_;
  std::optional<int> left_;
};

inline pattern::ByteSet test_set(int64_t begin, int64_t length, int64_t count = 1,
                                 int64_t stride = 0) {
  const auto run = pattern::Pattern::run({{begin}}, length).value();
  if (count == 1) return pattern::ByteSet::of_ascending(run);
  return pattern::ByteSet::of(pattern::repeat(run, count, {{stride}}).value()).value();
}

// All bytes of an object file, as a program would read them.
inline base::Result<std::string> read_all(port::File& file, bool verify = true) {
  TESSERA_TRY(Container container, Container::open(file));
  TESSERA_TRY(const Contents contents, container.read_contents());
  std::string text(static_cast<size_t>(contents.size), '\0');
  if (contents.size == 0) return text;
  TESSERA_TRY(const map::Found found, contents.map.find(test_set(0, contents.size)));
  BlockReader reader(file, {contents.block_bytes, verify, {}});
  for (const map::Part& part : found.parts) {
    base::Bytes packed(static_cast<size_t>(part.places.size()));
    TESSERA_TRY_VOID(reader.read_places(*contents.find(part.allocation), part.places, packed));
    pattern::scatter(reinterpret_cast<std::byte*>(text.data()), packed.data(),
                     part.bytes.ascending());
  }
  return text;
}

// An empty object file as programs before page 0 made it: superblocks at 0 and 4,096.
inline void make_version_1(port::File& file) {
  Contents contents;
  contents.block_bytes = kTestBlock;
  base::Bytes blob = encode_contents(contents);
  Superblock root;
  root.version = 1;
  root.file_id.fill(std::byte{7});
  root.sequence = 1;
  root.block_bytes = kTestBlock;
  root.blob = {8192, 8192 + std::ssize(blob)};
  root.blob_checksum = base::checksum(blob);
  root.end = 8192 + kTestBlock;
  blob.resize(static_cast<size_t>(kTestBlock));
  const base::Bytes copy = encode_superblock(root);
  const bool written = file.write_at(0, copy) && file.write_at(4096, copy) &&
                       file.write_at(root.blob.begin, blob) && file.sync();
  TESSERA_ASSERT(written);
}

class TestObjectFile {
 public:
  static base::Result<TestObjectFile> create(port::File& file, port::Random& random) {
    TESSERA_TRY(Container container, Container::create(file, random, kTestBlock));
    TestObjectFile result(file, std::move(container));
    result.contents_.block_bytes = kTestBlock;
    return result;
  }
  static base::Result<TestObjectFile> open(port::File& file) {
    TESSERA_TRY(Container container, Container::open(file));
    TESSERA_TRY_VOID(container.begin_writing());
    TestObjectFile result(file, std::move(container));
    TESSERA_TRY(result.contents_, result.container_.read_contents());
    TESSERA_TRY(result.text_, read_all(file));
    result.epoch_ = result.contents_.map.epoch_max();
    return result;
  }

  // Stores the letters of the set as one packed allocation.
  base::Result<void> write(const pattern::ByteSet& set, port::Random& random, int32_t manager = 0) {
    base::Bytes packed(static_cast<size_t>(set.size()));
    for (std::byte& byte : packed) byte = static_cast<std::byte>('a' + random.uniform(26));
    const int64_t room = base::ceil_div(set.size(), kTestBlock) * kTestBlock;
    // Chunks are whole: what a gap cannot hold in one piece is left over.
    const Space space = container_.space(kTestBlock);
    std::vector<Interval> places = space.physical({next_, next_ + room});
    while (places.size() > 1) {
      next_ += kTestBlock;
      places = space.physical({next_, next_ + room});
    }
    next_ += room;
    unsynced_ = true;
    AllocationWriter writer(*file_, places.front(), kTestBlock);
    TESSERA_TRY_VOID(writer.append(packed));
    TESSERA_TRY_VOID(writer.flush());
    Allocation allocation = writer.allocation();
    allocation.id = contents_.next_id();
    allocation.manager = manager;
    TESSERA_TRY_VOID(contents_.map.add({set, allocation.id, 0, ++epoch_}));
    contents_.add(std::move(allocation));
    contents_.size = std::max(contents_.size, set.span().end);
    text_.resize(static_cast<size_t>(contents_.size), '\0');
    pattern::scatter(reinterpret_cast<std::byte*>(text_.data()), packed.data(), set.ascending());
    return {};
  }

  void truncate(int64_t size) {
    contents_.map.truncate(size).value();
    contents_.size = size;
    text_.resize(static_cast<size_t>(size), '\0');
  }

  // Does nothing if nothing was written since: a sync would cover superblocks as well.
  base::Result<void> sync_data() {
    if (!std::exchange(unsynced_, false)) return {};
    return file_->sync();
  }
  base::Result<void> commit() {
    contents_.drop_unused();
    TESSERA_TRY_VOID(container_.commit(contents_));
    next_ = 0;
    return {};
  }

  [[nodiscard]] const std::string& text() const { return text_; }
  [[nodiscard]] Contents& contents() { return contents_; }
  [[nodiscard]] Container& container() { return container_; }

 private:
  TestObjectFile(port::File& file, Container container)
      : file_(&file), container_(std::move(container)) {}

  port::File* file_;
  Container container_;
  Contents contents_;
  std::string text_;  // what the object file holds
  int64_t next_ = 0;  // virtual bytes taken since the last commit
  bool unsynced_ = false;
  uint64_t epoch_ = 0;
};

}  // namespace tessera::container
