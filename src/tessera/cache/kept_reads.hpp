// KeptReads: the committed bytes of a container, read through a mapping where that pays.
//
// A program that reads the same part of an open file again finds it in a mapping, and needs no
// system call for it (move/mapping_cache.hpp says when one is made). Bytes are copied out before
// anybody looks at them, so a checksum speaks of what the caller got.
//   (R1) What is read is what the file's own read would have given; where a mapping cannot, the
//        file's read is made, with its errors.
// For bytes that were committed: they stay where they are. For reading only: to write and to
// truncate fails with EBADF.
// Thread safety: reads from any thread.
#pragma once

#include <functional>

#include "tessera/move/experience.hpp"
#include "tessera/pattern/trace.hpp"
#include "tessera/port/plain_file.hpp"

namespace tessera::cache {

class KeptReads final : public port::File {
 public:
  // The file and what was experienced with it must outlive it; that many processes read as much at
  // the same time. A file that is not a plain one is read as it is.
  KeptReads(port::File& file, move::Experience& experience, int companions);

  // What comes next are reads inside this part, the first of them to this memory.
  void expect(pattern::Interval part, std::byte* memory);
  // Whether reads inside the part need no system call.
  [[nodiscard]] bool maps(pattern::Interval part);
  // Calls the body with the part's bytes, as MappingCache::touch() does; whether it could.
  [[nodiscard]] bool touch(pattern::Interval part,
                           const std::function<void(const std::byte*)>& body);

  [[nodiscard]] base::Result<void> truncate(int64_t size) override;
  [[nodiscard]] base::Result<int64_t> size() override { return file_.size(); }
  [[nodiscard]] base::Result<void> sync() override { return file_.sync(); }

 protected:
  Attempt read_some(int64_t offset, std::span<const iovec> memory) override;
  Attempt write_some(int64_t offset, std::span<const iovec> memory) override;
  int64_t read_bulk(std::span<const port::ReadSegment> segments) override;

 private:
  [[nodiscard]] bool has_paid(pattern::Interval part);
  [[nodiscard]] bool would_map(pattern::Interval part, std::byte* memory);
  void map(pattern::Interval part);
  // Answers how many of the bytes the mapping gave.
  int64_t copy(int64_t offset, std::span<const iovec> memory);

  port::File& file_;
  port::PlainFile* const plain_;  // null: nothing can be mapped
  move::Experience& experience_;
  const int companions_;
};

}  // namespace tessera::cache
