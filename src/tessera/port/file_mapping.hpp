// FileMapping: a window of a plain file in memory, without the signals.
//
// Stores and loads reach the file's pages without system calls, and a store touches the stored
// bytes only: nothing is read and written back. The price is how errors are told. A page that
// cannot be provided (the disk is full or failed, another program cut the file) is SIGBUS, not an
// errno; touch() turns that into an answer, so that the caller can try again by a system call and
// get the reason (bus_guard.hpp says what becomes of the program's own handling of SIGBUS).
// And what is stored behind the end of the file in its last page is no fault and nowhere: where
// others may have cut the file, whoever has stored asks for its size afterwards, and stores once
// more by a system call if it has become too short.
// Only for files for which PlainFile::is_local() holds: elsewhere a mapping is not coherent.
// Thread safety: different mappings from any threads; touch() of one from several at a time.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>

#include "tessera/base/result.hpp"
#include "tessera/port/plain_file.hpp"

namespace tessera::port {

class FileMapping {
 public:
  // Maps [begin, end) of the file; bytes behind the file's end cannot be touched. Fails with EACCES
  // if the file is not open for reading, or for writing where the access asks for it. Requires
  // 0 <= begin < end.
  [[nodiscard]] static base::Result<FileMapping> map(const PlainFile& file, int64_t begin,
                                                     int64_t end, Access access);
  FileMapping(FileMapping&& other) noexcept;
  FileMapping& operator=(FileMapping&&) = delete;
  ~FileMapping();

  // Byte p of the file is at data()[p - begin()]. Not to be dereferenced outside of touch().
  [[nodiscard]] std::byte* data() const { return data_; }
  [[nodiscard]] int64_t begin() const { return begin_; }
  [[nodiscard]] int64_t end() const { return end_; }
  [[nodiscard]] Access access() const { return access_; }

  // Pages that the system does not hold yet come as large as it can make them from now on: quicker
  // for those who use most of them, but gaps then take memory, and where something is stored, space
  // on the disk, too. Without effect where the system has no large pages.
  void prefer_large_pages() const;

  // Calls `body`, which may load from and store to the mapping, and own what it likes. False if one
  // of the mapping's bytes could not be provided, now or ever before: the mapping is of no use any
  // more. What the body stored may be in the file or not, and what it loaded be zeros instead. The
  // body touches no other mapping. Four system calls besides.
  [[nodiscard]] bool touch(const std::function<void()>& body) const;
  // Whether touch() answered false once, or does so in another thread.
  [[nodiscard]] bool is_lost() const { return lost_.load(); }

  // Copies bytes of the file at an offset, as touch() would. Require that the mapping holds them.
  [[nodiscard]] bool load(int64_t offset, std::span<std::byte> to) const;
  [[nodiscard]] bool store(int64_t offset, std::span<const std::byte> from) const;

 private:
  [[nodiscard]] std::byte* place(int64_t offset, size_t bytes) const;

  FileMapping(std::byte* pages, size_t length, std::byte* data)
      : pages_(pages), length_(length), data_(data) {}

  std::byte* pages_;
  size_t length_;
  std::byte* data_;
  int64_t begin_ = 0;
  int64_t end_ = 0;
  Access access_ = Access::kRead;
  mutable std::atomic<bool> lost_ = false;
};

}  // namespace tessera::port
