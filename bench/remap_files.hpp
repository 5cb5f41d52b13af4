// The files of a remap case: a source whose every byte is a function of its offset, the views of
// its readers, and whether a remapped file has what it should.
//
// Thread safety: pure functions on files that nobody else uses.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "bench/scratch_folder.hpp"
#include "tessera/base/result.hpp"
#include "tessera/remap/remap.hpp"
#include "tessera/remap/source.hpp"

namespace tessera::bench {

// The bytes that every source has, from `offset` on.
void fill_content(int64_t offset, std::span<std::byte> memory);

// The same as a file of so many bytes that is nowhere.
class ContentSource final : public remap::Source {
 public:
  explicit ContentSource(int64_t size) : size_(size) {}

  [[nodiscard]] int64_t size() const override { return size_; }
  [[nodiscard]] uint64_t version() const override { return 0; }
  [[nodiscard]] base::Result<void> read(int64_t offset, std::span<std::byte> memory) override {
    fill_content(offset, memory);
    return {};
  }

 private:
  const int64_t size_;
};

// Makes the object file of the content, `size` bytes, laid out for the views of a text; durable, so
// that nothing of it is left to be written while something is measured.
[[nodiscard]] base::Result<void> make_object_file(const std::string& path,
                                                  const std::string& views_text, int64_t size);

// Makes the plain file of the content, durable too, and fails with kIntegrity unless a file is it.
[[nodiscard]] base::Result<void> make_plain_file(const std::string& path, int64_t size);
[[nodiscard]] base::Result<void> check_plain_file(const std::string& path, int64_t size);

// Fails with kIntegrity unless the object file has the content, and the views of the text are each
// in one place and read right through it.
[[nodiscard]] base::Result<void> check_object_file(const std::string& path,
                                                   const std::string& views_text, int64_t size);

// The folder of a case and what is in it.
struct RemapFiles {
  ScratchFolder folder;

  [[nodiscard]] std::string source() const { return folder.path() + "/source"; }
  [[nodiscard]] std::string target() const { return folder.path() + "/target"; }
  [[nodiscard]] std::string views() const { return folder.path() + "/views.json"; }
};

// The source becomes the target, laid out for the views, as `tessera remap` does it; durable if it
// is synced.
[[nodiscard]] base::Result<remap::RemapReport> remap_once(const RemapFiles& files, bool synced);

// Nanoseconds of repetitions, before each of which there is no target.
[[nodiscard]] base::Result<double> time_anew(
    const RemapFiles& files, int64_t repetitions,
    const std::function<base::Result<void>(const RemapFiles&)>& once);

// It need not be there.
[[nodiscard]] base::Result<void> remove_file(const std::string& path);

[[nodiscard]] base::Result<void> write_text(const std::string& path, const std::string& text);

}  // namespace tessera::bench
