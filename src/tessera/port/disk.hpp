// Disk and File: the only way to reach stored bytes.
//
// Code above sees whole transfers, honest counts and explicit durability; PosixDisk and SimDisk
// keep the same contract, which one conformance suite holds them to.
//   (D1) A transfer's byte count is what really moved, also when it failed; the bytes moved are the
//        first ones of the request.
//   (D2) Interrupted and short system calls are continued inside; they never reach the caller.
//   (D3) Written bytes and sizes survive a power loss once sync() of that file succeeded. After a
//        sync() that failed, bytes written before it may be lost although a later one succeeds.
//   (D4) Names (created, renamed, removed) survive once sync_directory() of the directories that
//        hold them succeeded; until then each such change may be lost by itself.
//   (D5) rename() is atomic: after a power loss the file has its old or its new name.
// Thread safety: all functions of Disk and File from any thread; concurrent transfers on one file
// are not ordered. Neither takes locks on files.
#pragma once

#include <sys/uio.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tessera/base/bytes.hpp"
#include "tessera/base/result.hpp"

namespace tessera::port {

// What a transfer did. A read that succeeded with fewer bytes than asked met the end of the file;
// a write that succeeded moved all of them.
struct [[nodiscard]] Transfer {
  int64_t bytes = 0;
  base::Result<void> status;

  explicit operator bool() const { return status.has_value(); }
};

struct ReadSegment {
  int64_t offset;
  std::span<std::byte> memory;
};

struct WriteSegment {
  int64_t offset;
  base::ByteView memory;
};

// Memory for bytes from the offset on, as segments of at most so many. Requires piece_bytes > 0.
[[nodiscard]] std::vector<ReadSegment> in_pieces(int64_t offset, std::span<std::byte> memory,
                                                 int64_t piece_bytes);

class File {
 public:
  virtual ~File() = default;
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  // Requires offset >= 0. Memory behind the bytes moved is unchanged.
  Transfer read_at(int64_t offset, std::span<std::byte> memory);
  // Requires offset >= 0. Writing behind the end extends the file; the gap reads as zeros.
  Transfer write_at(int64_t offset, base::ByteView memory);

  // The segments in the order given, as one transfer; runs of segments that follow each other in
  // the file share a system call. A read ends at the first segment that meets the end of the file.
  // After a failure, some bytes behind those counted may have moved too. Requires all offsets >= 0.
  // O(segments) besides the transfer.
  Transfer read_list(std::span<const ReadSegment> segments);
  Transfer write_list(std::span<const WriteSegment> segments);
  // As read_list(), with a request for each segment, under way together where the system can: for
  // files whose transfers wait for another machine.
  Transfer read_together(std::span<const ReadSegment> segments);

  // Cuts the file, or extends it with zeros. Requires size >= 0.
  [[nodiscard]] virtual base::Result<void> truncate(int64_t size) = 0;
  [[nodiscard]] virtual base::Result<int64_t> size() = 0;
  // Makes bytes and size durable (D3), not the file's name (D4).
  [[nodiscard]] virtual base::Result<void> sync() = 0;
  // Sends what was written there on its way to the disk, so that a later sync() has less to do.
  // Promises nothing. Requires offset >= 0.
  virtual void begin_write_back(int64_t /*offset*/, int64_t /*size_bytes*/) {}
  // Space for [begin, end), at once or not at all, extending the file if it ends before. Fails with
  // EOPNOTSUPP where that is not to be had. Requires 0 <= begin < end.
  [[nodiscard]] virtual base::Result<void> reserve_range(int64_t begin, int64_t end);

  [[nodiscard]] const std::string& path() const { return path_; }

 protected:
  // What one system call answered: bytes moved, or the errno if there was an error.
  struct Attempt {
    int64_t bytes = 0;
    int errno_value = 0;
  };

  explicit File(std::string path) : path_(std::move(path)) {}

  // One try, as preadv and pwritev: may move less than asked; a read of 0 bytes is the end.
  virtual Attempt read_some(int64_t offset, std::span<const iovec> memory) = 0;
  virtual Attempt write_some(int64_t offset, std::span<const iovec> memory) = 0;

  // Moves the first segments of a long list by a quicker way, if there is one, and answers how many
  // bytes that were. The rest goes through read_some() and write_some(), which also find out why it
  // stopped there.
  virtual int64_t read_bulk(std::span<const ReadSegment> /*segments*/) { return 0; }
  virtual int64_t write_bulk(std::span<const WriteSegment> /*segments*/) { return 0; }
  // The same for segments that are to be under way together.
  virtual int64_t read_apart(std::span<const ReadSegment> /*segments*/) { return 0; }

 private:
  template <typename Segment>
  Transfer transfer_rest(std::span<const Segment> segments, int64_t moved);

  const std::string path_;
};

// kDirectWrite: writing only, past the memory in which the system keeps files (O_DIRECT), so that
// offsets, sizes and memory of all writes are multiples of a page. Opening fails with EINVAL where
// the file system cannot.
enum class Access { kRead, kReadWrite, kDirectWrite };

// What becomes of a file that has the name already.
enum class Existing { kKeep, kReplace };

// A file that gets its name when it is complete (fresh_file.hpp).
class FreshFile {
 public:
  FreshFile() = default;
  FreshFile(const FreshFile&) = delete;
  FreshFile& operator=(const FreshFile&) = delete;
  // What was not published is gone.
  virtual ~FreshFile() = default;

  [[nodiscard]] virtual File& file() = 0;
  // Where this process, and others of this machine and user, can open it meanwhile. Lasts as long
  // as the object, and until it is published.
  [[nodiscard]] virtual std::string reach() const = 0;
  // The same for other machines; may change reach().
  [[nodiscard]] virtual base::Result<void> show() { return {}; }
  // Gives it its name; the last call. Does not make the file or its name durable. With kKeep it
  // fails with kInvalid and EEXIST if the name leads to anything by now.
  [[nodiscard]] virtual base::Result<void> publish(Existing existing) = 0;
};

// Paths have '/' between their parts. All functions fail as the system call they are named after;
// the error names the path.
class Disk {
 public:
  virtual ~Disk() = default;

  // An existing file.
  [[nodiscard]] virtual base::Result<std::unique_ptr<File>> open(const std::string& path,
                                                                 Access access) = 0;
  // What somebody makes, at its reach(); errors name `path`, which it is going to have.
  [[nodiscard]] virtual base::Result<std::unique_ptr<File>> open_fresh(const std::string& reach,
                                                                       const std::string& path,
                                                                       Access access) = 0;
  // A new, empty file, readable and writable by its owner only. Fails with EEXIST if it is there.
  [[nodiscard]] virtual base::Result<std::unique_ptr<File>> create(const std::string& path) = 0;
  // The same, without that name until it is complete.
  [[nodiscard]] virtual base::Result<std::unique_ptr<FreshFile>> make_fresh(
      const std::string& path) = 0;
  // Files only. A file that is open stays usable until it is closed.
  [[nodiscard]] virtual base::Result<void> remove(const std::string& path) = 0;
  // Files only. A file that is called `to` already is replaced.
  [[nodiscard]] virtual base::Result<void> rename(const std::string& from,
                                                  const std::string& to) = 0;
  // For its owner only. Fails with EEXIST if there is anything of that name.
  [[nodiscard]] virtual base::Result<void> make_directory(const std::string& path) = 0;
  // The names in a directory, files and directories, sorted.
  [[nodiscard]] virtual base::Result<std::vector<std::string>> list(
      const std::string& directory) = 0;
  // Makes the names in a directory durable (D4).
  [[nodiscard]] virtual base::Result<void> sync_directory(const std::string& directory) = 0;
};

// The directory that holds a name, for sync_directory().
[[nodiscard]] std::string directory_of(const std::string& path);

}  // namespace tessera::port
