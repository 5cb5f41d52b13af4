#include "tessera/container/checker.hpp"

#include <algorithm>

#include "tessera/base/checked.hpp"
#include "tessera/base/checksum.hpp"
#include "tessera/container/block_reader.hpp"
#include "tessera/container/container.hpp"
#include "tessera/container/page.hpp"

namespace tessera::container {
namespace {

using base::Result;

// One check of one file. A step that finds the ground for later ones broken ends the check.
class Check {
 public:
  Check(port::File& file, const CheckOptions& options) : file_(file), options_(options) {}

  Result<CheckReport> run() {
    TESSERA_TRY(size_, file_.size());
    TESSERA_TRY(const bool usable, check_header());
    if (!usable) return std::move(report_);
    TESSERA_TRY(const bool decoded, check_contents());
    if (decoded) TESSERA_TRY_VOID(check_page());
    if (decoded && options_.blocks) check_blocks();
    return std::move(report_);
  }

 private:
  void find(const std::string& sentence) {
    ++report_.finding_count;
    if (report_.findings.size() < CheckReport::kFindingsMax) report_.findings.push_back(sentence);
  }

  Result<base::Bytes> read(Interval bytes) {
    base::Bytes memory(static_cast<size_t>(bytes.length()));
    const port::Transfer transfer = file_.read_at(bytes.begin, memory);
    if (!transfer) return base::failure_of(transfer.status);
    memory.resize(static_cast<size_t>(transfer.bytes));
    return memory;
  }

  // Bytes that the format leaves empty.
  Result<void> check_zeros(Interval bytes, const std::string& what) {
    TESSERA_TRY(const base::Bytes memory, read(bytes));
    const auto nonzero =
        std::find_if(memory.begin(), memory.end(), [](std::byte b) { return b != std::byte{0}; });
    if (nonzero != memory.end()) {
      find("byte " + std::to_string(bytes.begin + (nonzero - memory.begin())) + " " + what +
           " should be zero");
    }
    return {};
  }

  Result<bool> check_header() {
    TESSERA_TRY(const base::Bytes header, read({0, kHeaderBytes}));
    const Result<ChosenSuperblock> chosen = choose_superblock(header, file_.path());
    if (!chosen) {
      find(chosen.error().message());
      return false;
    }
    const Superblock& current = chosen->superblock;
    report_.superblock = current;
    check_copies(*chosen);
    TESSERA_TRY_VOID(check_zeros({copy_offset(current.version, kSuperblockCopies),
                                  header_end(current.block_bytes, current.version)},
                                 "of the header"));
    if (size_ < current.end) {
      find(file_.path() + " is cut off: it has " + std::to_string(size_) + " of " +
           std::to_string(current.end) + " bytes");
    }
    return true;
  }

  // What a crash in a commit leaves is no damage; what something else has put there is.
  void check_copies(const ChosenSuperblock& chosen) {
    page_counts_ = chosen.both_current() && !chosen.page_in_flux;
    if (chosen.both_current()) return;
    for (size_t i = 0; i < chosen.copies.size(); ++i) {
      const std::string complaint = chosen.complaint(i);
      if (complaint.empty()) continue;
      if (!chosen.copies[i].torn) return find(complaint);
      report_.repairable.push_back(complaint);
    }
    if (!report_.repairable.empty()) return;
    report_.repairable.push_back("superblock copy " + std::to_string(1 - chosen.copy) +
                                 " is older than the other one, which serves");
  }

  // Programs that look at the container itself believe page 0. A crash in a commit may leave it
  // between two states, and then the superblocks show it.
  Result<void> check_page() {
    if (!has_page(report_.superblock.version)) return {};
    TESSERA_TRY(const base::Bytes found, read({0, kPageBytes}));
    const Result<base::Bytes> expected = read_page(file_, contents_);
    if (!expected || base::equal(found, *expected)) return {};  // damaged blocks are named below
    const auto differs = std::mismatch(found.begin(), found.end(), expected->begin()).first;
    const std::string sentence =
        "page 0, which shows programs without MPI the first bytes of the object file, differs from "
        "them at byte " +
        std::to_string(differs - found.begin());
    if (page_counts_) {
      find(sentence + "; MPI programs are not misled, and their next sync writes it again");
    } else {
      report_.repairable.push_back(sentence);
    }
    return {};
  }

  Result<bool> check_contents() {
    const Superblock& current = report_.superblock;
    const Interval bytes = {current.blob.begin, std::min(current.blob.end, size_)};
    TESSERA_TRY(const base::Bytes blob, read({bytes.begin, std::max(bytes.begin, bytes.end)}));
    if (base::checksum(blob) != current.blob_checksum) {
      find("the contents are damaged, their checksum does not match: where bytes are is not known");
      return false;
    }
    const int64_t block = current.block_bytes;
    TESSERA_TRY_VOID(
        check_zeros({current.blob.end, base::ceil_div(current.blob.end, block) * block},
                    "behind the contents"));
    Result<Contents> contents = decode_contents(blob);
    if (!contents) {
      find("the contents cannot be decoded: " + contents.error().message());
      return false;
    }
    contents_ = *std::move(contents);
    check_agreement();
    return true;
  }

  // What the parts say of each other.
  void check_agreement() {
    const Superblock& current = report_.superblock;
    if (contents_.block_bytes != current.block_bytes || contents_.size != current.logical_size) {
      find("superblock and contents contradict each other");
    }
    const auto used = used_space(current, contents_.allocations);
    if (!used) return find(used.error().message());
    if (used->back().end > current.end) {
      find("allocations reach to byte " + std::to_string(used->back().end) +
           ", behind the end that the superblock tells");
    }
    const Space space(*used, 1);
    report_.free_bytes = space.gap_bytes();
    report_.allocations = static_cast<int64_t>(contents_.allocations.size());
    report_.mappings = contents_.map.piece_count();
    for (const Allocation& allocation : contents_.allocations) {
      total_bytes_ += allocation.place.length();
      report_.dead_bytes += allocation.place.length() - contents_.map.live_bytes(allocation.id);
    }
  }

  void check_blocks() {
    BlockReaderOptions reading;
    reading.block_bytes = contents_.block_bytes;
    reading.logical_bytes = [&](map::AllocationId id, Interval places) {
      return logical_bytes(contents_, id, places);
    };
    BlockReader reader(file_, reading);
    for (const Allocation& allocation : contents_.allocations) check_blocks_of(reader, allocation);
  }

  void check_blocks_of(BlockReader& reader, const Allocation& allocation) {
    const int64_t block = contents_.block_bytes;
    const int64_t step = std::max(block, BlockReader::kWindowBytes);
    memory_.resize(static_cast<size_t>(step));
    for (int64_t at = 0; at < allocation.place.length(); at += step) {
      const int64_t length = std::min(step, allocation.place.length() - at);
      const auto window = std::span(memory_).first(static_cast<size_t>(length));
      if (!reader.read(allocation, at, window))
        find_bad_blocks(reader, allocation, {at, at + length});
      report_.blocks_checked += length / block;
      if (options_.progress) options_.progress(report_.blocks_checked * block, total_bytes_);
    }
  }

  void find_bad_blocks(BlockReader& reader, const Allocation& allocation, Interval places) {
    const auto memory = std::span(memory_).first(static_cast<size_t>(contents_.block_bytes));
    for (int64_t at = places.begin; at < places.end; at += contents_.block_bytes) {
      if (const auto read = reader.read(allocation, at, memory); !read) {
        find(read.error().message());
      }
    }
  }

  port::File& file_;
  const CheckOptions& options_;
  CheckReport report_;
  int64_t size_ = 0;
  bool page_counts_ = false;  // no commit was interrupted
  Contents contents_;
  int64_t total_bytes_ = 0;
  base::Bytes memory_;
};

}  // namespace

Result<CheckReport> check(port::File& file, const CheckOptions& options) {
  return Check(file, options).run();
}

}  // namespace tessera::container
