// Source: the logical bytes of the file that is laid out anew, wherever they are.
//
// A plain file has them one after another; an object file has them where its map says, and verifies
// them. Thread safety: const functions and read() from any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "tessera/base/result.hpp"
#include "tessera/container/contents.hpp"
#include "tessera/port/disk.hpp"

namespace tessera::remap {

class Source {
 public:
  virtual ~Source() = default;

  [[nodiscard]] virtual int64_t size() const = 0;
  // Processes whose sources of one file differ in it have seen different states of the file.
  [[nodiscard]] virtual uint64_t version() const = 0;
  // memory.size() bytes from `offset` on. Requires that they lie below size(). Fails with
  // kIntegrity if they are damaged or no longer there, and as the file does.
  [[nodiscard]] virtual base::Result<void> read(int64_t offset, std::span<std::byte> memory) = 0;
};

// The bytes of a file as it is. The file outlives the source.
class PlainSource final : public Source {
 public:
  [[nodiscard]] static base::Result<std::unique_ptr<PlainSource>> open(port::File& file);

  [[nodiscard]] int64_t size() const override { return size_; }
  [[nodiscard]] uint64_t version() const override { return static_cast<uint64_t>(size_); }
  [[nodiscard]] base::Result<void> read(int64_t offset, std::span<std::byte> memory) override;

 private:
  PlainSource(port::File& file, int64_t size) : file_(file), size_(size) {}

  port::File& file_;
  const int64_t size_;
};

// The bytes of an object file as of the commit that its contents describe. The file outlives the
// source.
class ObjectSource final : public Source {
 public:
  // `sequence` is that of the commit.
  ObjectSource(port::File& file, container::Contents contents, uint64_t sequence)
      : file_(file), contents_(std::move(contents)), sequence_(sequence) {}
  // As of its last commit. Fails as Container::open() and read_contents() do.
  [[nodiscard]] static base::Result<std::unique_ptr<ObjectSource>> open(port::File& file);

  [[nodiscard]] const container::Contents& contents() const { return contents_; }
  [[nodiscard]] int64_t size() const override { return contents_.size; }
  [[nodiscard]] uint64_t version() const override { return sequence_; }
  [[nodiscard]] base::Result<void> read(int64_t offset, std::span<std::byte> memory) override;

 private:
  port::File& file_;
  const container::Contents contents_;
  const uint64_t sequence_;
};

// Whether it is meant to be an object file: it has a superblock, be it damaged or of a newer
// version.
[[nodiscard]] base::Result<bool> is_object_file(port::File& file);

// The source of either kind.
[[nodiscard]] base::Result<std::unique_ptr<Source>> open_source(port::File& file);

}  // namespace tessera::remap
