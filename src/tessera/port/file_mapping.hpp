// FileMapping: a window of a plain file in memory, without the signals.
//
// Stores and loads reach the file's pages without system calls, and a store touches the stored
// bytes only: nothing is read and written back. The price is how errors are told. A page that
// cannot be provided (the disk is full or failed, another program cut the file) is SIGBUS, not an
// errno; touch() turns that into an answer, so that the caller can try again by a system call and
// get the reason. For that it handles SIGBUS in the process, from the first mapping on; faults at
// other addresses go to the handler that was there before, or end the program as they would have.
// Only for files for which PlainFile::is_local() holds: elsewhere a mapping is not coherent.
// Thread safety: different mappings from any threads; touch() of one from several at a time.
#pragma once

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
  // A page, large or not, comes without those that follow it from now on.
  void read_no_further() const;

  // Calls `body`, which may load from and store to the mapping. False if one of its bytes could not
  // be provided: then the body was left where it stood, without unwinding, so it must hold nothing
  // that needs its destructor. Bytes stored before that are in the file.
  [[nodiscard]] bool touch(const std::function<void()>& body) const;

  // Copies bytes of the file at an offset, as touch() would, for those who do so often: whether
  // SIGBUS still comes here is looked up at one of some dozen calls of a thread only. Require that
  // the mapping holds them.
  [[nodiscard]] bool load(int64_t offset, std::span<std::byte> to) const;
  [[nodiscard]] bool store(int64_t offset, std::span<const std::byte> from) const;

 private:
  template <typename Body>
  [[nodiscard]] bool guarded(const Body& body) const;
  [[nodiscard]] std::byte* place(int64_t offset, size_t bytes) const;

  FileMapping(std::byte* pages, size_t length, std::byte* data)
      : pages_(pages), length_(length), data_(data) {}

  std::byte* pages_;
  size_t length_;
  std::byte* data_;
  int64_t begin_ = 0;
  int64_t end_ = 0;
  Access access_ = Access::kRead;
};

}  // namespace tessera::port
