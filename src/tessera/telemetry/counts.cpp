#include "tessera/telemetry/counts.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <type_traits>
#include <utility>

#include "tessera/pattern/cursor.hpp"
#include "tessera/port/size_limit.hpp"
#include "tessera/port/system_call.hpp"

namespace tessera::telemetry {

using base::Code;
using base::Result;

namespace {

// The digit is the number of the layout, to be raised when fields change their meaning but not
// their size. From layout 2 on the magic is followed by the version of the library.
constexpr std::array<char, 16> kMagic = {'t', 'e', 's', 's', 'e', 'r', 'a', '-',
                                         'c', 'o', 'u', 'n', 't', 's', '2', 0};
constexpr size_t kLayoutAt = 14;
constexpr int64_t kHeaderBytes = 8192;
constexpr int64_t kPageBytes = 4096;
constexpr int64_t kFileBytes =
    (static_cast<int64_t>(sizeof(FileCounts)) + kPageBytes - 1) / kPageBytes * kPageBytes;
constexpr int64_t kContentMax = kHeaderBytes + static_cast<int64_t>(kSavedFiles) * kFileBytes;
constexpr int64_t kCountMax = int64_t{1} << 62;  // as in a log
constexpr int64_t kRanksMax = int64_t{1} << 31;

static_assert(std::is_trivially_copyable_v<FileCounts>);

template <size_t N>
void put(std::array<char, N>& place, const std::string& text) {
  const size_t size = std::min(text.size(), N - 1);
  std::copy_n(text.data(), size, place.data());
  place[size] = 0;
}

template <size_t N>
std::string text_of(const std::array<char, N>& place) {
  return {place.data(), ::strnlen(place.data(), N)};
}

// Whether all bytes of a value are in the file now.
template <typename T>
bool put_in(int fd, int64_t offset, const T& value) {
  constexpr auto kBytes = static_cast<ssize_t>(sizeof(T));
  return port::uninterrupted([&] { return ::pwrite(fd, &value, sizeof(T), offset); }) == kBytes;
}

}  // namespace

struct RankHeader {
  std::array<char, 16> magic{};
  std::array<char, 64> library{};
  int64_t header_bytes = sizeof(RankHeader);
  int64_t file_bytes = sizeof(FileCounts);
  std::array<char, 64> mpi{};
  std::array<char, 4096> program{};
  int64_t ranks = 0;
  int64_t rank = 0;
  int64_t started = 0;
  int64_t elapsed_ns = 0;
  int64_t files = 0;       // those with counts behind the header
  int64_t files_lost = 0;  // in memory only
};
static_assert(std::is_trivially_copyable_v<RankHeader>);
static_assert(sizeof(RankHeader) <= kHeaderBytes);

namespace {

// A value and zeros behind it.
template <typename T, int64_t kBytes>
struct Padded {
  T value{};
  std::array<std::byte, static_cast<size_t>(kBytes) - sizeof(T)> rest{};
};

// Looks at so many stripes of a pattern at most, so that counting stays cheap.
constexpr int kStripesMax = 1000;

// Requires a run that is not empty.
size_t class_of(int64_t length) {
  return static_cast<size_t>(std::bit_width(static_cast<uint64_t>(length))) - 1;
}

}  // namespace

void count_runs(const pattern::Pattern& file, RunSizes& run_sizes) {
  if (file.empty()) return;
  if (file.runs() == 1) {
    ++run_sizes[class_of(file.size())];
    return;
  }
  RunSizes seen{};
  int64_t runs = 0;
  int64_t bytes = 0;
  pattern::Cursor<1> cursor(file);
  pattern::Stripe<1> stripe;
  for (int i = 0; i < kStripesMax && cursor.next(stripe); ++i) {
    seen[class_of(stripe.length)] += stripe.count;
    runs += stripe.count;
    bytes += stripe.length * stripe.count;
  }
  double scale = 1;
  if (runs < file.runs()) {
    const int64_t mean = bytes / runs;
    const int64_t mean_left = (file.size() - bytes) / (file.runs() - runs);
    if (mean_left <= 2 * mean && mean <= 2 * mean_left) {
      scale = static_cast<double>(file.size()) / static_cast<double>(bytes);
    } else {
      seen[class_of(mean_left)] += file.runs() - runs;
    }
  }
  for (size_t i = 0; i < kRunClasses; ++i) {
    run_sizes[i] += std::llround(static_cast<double>(seen[i]) * scale);
  }
}

RankCounts::~RankCounts() {
  if (fd_ >= 0) ::close(fd_);
}

void RankCounts::keep_in(const std::string& folder, int64_t rank, const JobFacts& job) {
  TESSERA_ASSERT(files_.empty());
  folder_ = folder;
  rank_ = rank;
  job_ = job;
}

bool RankCounts::open_file() {
  if (fd_ >= 0) return true;
  if (folder_.empty()) return false;
  std::error_code ignored;
  std::filesystem::create_directories(folder_, ignored);
  path_ = folder_ + "/rank-" + std::to_string(rank_);
  fd_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (fd_ >= 0 && save_header(0)) return true;
  close_file();
  folder_.clear();  // not tried again
  return false;
}

// Only a file that this process made is removed.
void RankCounts::close_file() {
  if (fd_ < 0) return;
  ::unlink(path_.c_str());
  ::close(fd_);
  fd_ = -1;
}

bool RankCounts::save_header(int64_t elapsed_ns) {
  Padded<RankHeader, kHeaderBytes> block;
  RankHeader& header = block.value;
  header.magic = kMagic;
  put(header.library, job_.library);
  put(header.mpi, job_.mpi);
  put(header.program, job_.program);
  header.ranks = job_.ranks;
  header.rank = rank_;
  header.started = job_.started;
  header.elapsed_ns = elapsed_ns;
  header.files = saved_files_;
  header.files_lost = std::ssize(files_) - saved_files_;
  return put_in(fd_, 0, block);
}

bool RankCounts::save_record(Record& record) {
  const int64_t place = record.place >= 0 ? record.place : saved_files_;
  if (place == static_cast<int64_t>(kSavedFiles)) return true;  // stays in memory
  Padded<FileCounts, kFileBytes> block;
  block.value = record.counts;
  if (!put_in(fd_, kHeaderBytes + place * kFileBytes, block)) return false;
  if (record.place < 0) ++saved_files_;
  record.place = place;
  return true;
}

FileCounts& RankCounts::of(const std::string& path) {
  const auto [at, fresh] = files_.try_emplace(path);
  Record& record = at->second;
  if (fresh) put(record.counts.path, path);
  if (!record.changed) changed_.push_back(&record);
  record.changed = true;
  return record.counts;
}

// The header comes last: it never counts files that are not there.
void RankCounts::save(int64_t elapsed_ns) {
  saved_at_ns_ = elapsed_ns;
  unsaved_bytes_ = 0;
  saved_calls_ += std::exchange(unsaved_calls_, 0);
  if (changed_.empty()) return;
  const port::WithoutSizeSignal quiet;
  const bool is_open = open_file();
  std::erase_if(changed_, [&](Record* record) {
    record->changed = is_open && !save_record(*record);
    return !record->changed;
  });
  if (is_open) static_cast<void>(save_header(elapsed_ns));
}

void RankCounts::save_if_due(int64_t elapsed_ns, int64_t moved_bytes) {
  unsaved_bytes_ += moved_bytes;
  ++unsaved_calls_;
  if (unsaved_bytes_ >= kSaveBytes || elapsed_ns - saved_at_ns_ >= kSaveNs ||
      unsaved_calls_ >= saved_calls_) {
    save(elapsed_ns);
  }
}

std::vector<const FileCounts*> RankCounts::all() const {
  std::vector<const FileCounts*> counts;
  for (const auto& [path, record] : files_) counts.push_back(&record.counts);
  return counts;
}

void RankCounts::end() {
  close_file();
  // While other ranks have their files the folder stays; a rank that found no room made it, too.
  if (!path_.empty()) ::rmdir(path_.substr(0, path_.rfind('/')).c_str());
  path_.clear();
  folder_.clear();
}

// --- reading

namespace {

// Requires that the content reaches that far.
template <typename T>
T value_at(base::ByteView content, int64_t at) {
  T value;
  std::memcpy(&value, content.data() + at, sizeof(T));
  return value;
}

base::Failure other_library(const RankHeader& header) {
  const std::string named = header.magic[kLayoutAt] == '1' ? "" : text_of(header.library);
  return base::fail(Code::kInvalid, "was written by another build of Tessera" +
                                        (named.empty() ? "" : " (" + named + ")") +
                                        ", whose program reads it");
}

Result<void> check_writer(const RankHeader& header, const std::string& version) {
  if (!std::equal(kMagic.begin(), kMagic.begin() + kLayoutAt, header.magic.begin())) {
    return base::fail(Code::kInvalid, "does not hold the counts of a rank");
  }
  const bool ours = header.magic == kMagic && text_of(header.library) == version &&
                    header.header_bytes == sizeof(RankHeader) &&
                    header.file_bytes == sizeof(FileCounts);
  return ours ? Result<void>() : other_library(header);
}

bool may_be(int64_t count) { return count >= 0 && count <= kCountMax; }

template <typename Counts>
bool all_may_be(const Counts& counts) {
  return std::all_of(counts.begin(), counts.end(), may_be);
}

bool may_be(const RankHeader& header) {
  return header.ranks >= 1 && header.ranks <= kRanksMax && header.rank >= 0 &&
         header.rank < header.ranks && may_be(header.started) && may_be(header.elapsed_ns) &&
         header.files >= 0 && header.files <= static_cast<int64_t>(kSavedFiles) &&
         may_be(header.files_lost);
}

bool may_be(const Traffic& traffic) {
  return may_be(traffic.calls) && may_be(traffic.bytes) && may_be(traffic.ns) &&
         all_may_be(traffic.run_sizes[0]) && all_may_be(traffic.run_sizes[1]);
}

bool may_be(const FileCounts& counts) {
  for (const auto& modes : counts.uses) {
    for (const auto& engines : modes) {
      for (const Use& use : engines) {
        if (!may_be(use.calls) || !may_be(use.bytes) || !may_be(use.ns)) return false;
      }
    }
  }
  return may_be(counts.opens) && may_be(counts.read) && may_be(counts.write) &&
         all_may_be(counts.stage_ns) && may_be(counts.exchange_ns) && may_be(counts.io_ns) &&
         may_be(counts.lock_ns) && may_be(counts.copy_ns);
}

template <size_t N>
void end_text(std::array<char, N>& text) {
  text.back() = 0;
}

void end_texts(FileCounts& counts) {
  end_text(counts.path);
  for (auto& modes : counts.uses) {
    for (auto& engines : modes) {
      for (Use& use : engines) end_text(use.reason);
    }
  }
}

}  // namespace

Result<LeftCounts> decode_counts(base::ByteView content, const std::string& version) {
  const auto size = static_cast<int64_t>(content.size());
  if (size < kHeaderBytes) return base::fail(Code::kInvalid, "does not hold the counts of a rank");
  const auto header = value_at<RankHeader>(content, 0);
  TESSERA_TRY_VOID(check_writer(header, version));
  if (!may_be(header)) return base::fail(Code::kInvalid, "has figures that cannot be");
  if (size < kHeaderBytes + header.files * kFileBytes) {
    return base::fail(Code::kInvalid, "ends before the counts of its files do");
  }
  LeftCounts left;
  left.job = {text_of(header.program), text_of(header.mpi), text_of(header.library), header.ranks,
              header.started};
  left.rank = header.rank;
  left.elapsed_ns = header.elapsed_ns;
  left.files_lost = header.files_lost;
  for (int64_t i = 0; i < header.files; ++i) {
    left.files.push_back(value_at<FileCounts>(content, kHeaderBytes + i * kFileBytes));
    end_texts(left.files.back());
    if (!may_be(left.files.back())) {
      return base::fail(Code::kInvalid, "has figures that cannot be");
    }
  }
  return left;
}

Result<LeftCounts> read_counts(const std::string& path, const std::string& version) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return base::fail_errno(errno, "cannot read " + path);
  base::Bytes content(kContentMax);
  file.read(reinterpret_cast<char*>(content.data()), kContentMax);
  content.resize(static_cast<size_t>(file.gcount()));
  auto left = decode_counts(content, version);
  if (!left) return base::fail(left.error().code, path + " " + left.error().context);
  return left;
}

}  // namespace tessera::telemetry
