#include "tessera/mesh/mesh_scanner.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

#include "tessera/base/assert.hpp"

namespace tessera::mesh {

namespace {

constexpr int64_t kBufferBytesMin = 4096;
constexpr int64_t kBufferBytesMax = 1 << 20;
static_assert(kBufferBytesMin > MeshScanner::kMaxWord);

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f'; }
bool is_space(char c) { return c == '\n' || is_blank(c); }

uint32_t swapped(uint32_t word) { return __builtin_bswap32(word); }
uint64_t swapped(uint64_t word) { return __builtin_bswap64(word); }

}  // namespace

std::string quoted(std::string_view word) {
  constexpr size_t kShown = 32;
  std::string text = "'";
  for (const char c : word.substr(0, kShown)) text += c >= ' ' && c <= '~' ? c : '?';
  return text + (word.size() > kShown ? "...'" : "'");
}

MeshScanner::MeshScanner(port::File& file, EchoSink* echo)
    : file_(file),
      echo_(echo),
      capacity_(std::clamp(size_bytes(), kBufferBytesMin, kBufferBytesMax)),
      buffer_(std::make_unique_for_overwrite<char[]>(static_cast<size_t>(capacity_))),
      at_(buffer_.get()),
      end_(at_),
      token_(at_),
      echoed_(at_) {}

void MeshScanner::fail(const std::string& what) {
  if (!ok()) return;
  std::string where = file_.path();
  where += binary_ ? ", byte " + std::to_string(offset()) : ", line " + std::to_string(line_);
  if (!place_.empty()) where += " (" + place_ + ")";
  failure_ = base::fail(base::Code::kInvalid, where + ": " + what).error;
  at_ = end_;
  file_ended_ = true;
}

void MeshScanner::fail_at(int64_t line, const std::string& what) {
  if (ok()) line_ = line;
  fail(what);
}

int64_t MeshScanner::size_bytes() {
  const auto size = file_.size();
  return size ? *size : 0;
}

// Keeps what is not read yet; whether there is more than before.
bool MeshScanner::refill() {
  if (file_ended_) return false;
  flush_echo();
  const int64_t kept = end_ - at_;
  TESSERA_ASSERT(kept < capacity_);
  buffer_offset_ += at_ - buffer_.get();
  std::memmove(buffer_.get(), at_, static_cast<size_t>(kept));
  const std::span<char> free(buffer_.get() + kept, static_cast<size_t>(capacity_ - kept));
  const port::Transfer transfer =
      file_.read_at(buffer_offset_ + kept, std::as_writable_bytes(free));
  at_ = token_ = echoed_ = buffer_.get();
  end_ = at_ + kept + transfer.bytes;
  file_ended_ = transfer.bytes < std::ssize(free);
  if (!transfer && ok()) {
    failure_ = transfer.status.error();
    at_ = end_;
    file_ended_ = true;
  }
  return ok() && transfer.bytes > 0;
}

void MeshScanner::look_ahead(int64_t bytes) {
  if (end_ - at_ < bytes && !file_ended_) (void)refill();
}

bool MeshScanner::at_end() {
  do {
    for (; at_ < end_ && is_space(*at_); ++at_) line_ += *at_ == '\n' ? 1 : 0;
  } while (at_ == end_ && refill());
  return at_ == end_;
}

bool MeshScanner::has_more() { return at_ < end_ || refill(); }

bool MeshScanner::on_line() {
  do {
    while (at_ < end_ && is_blank(*at_)) ++at_;
  } while (at_ == end_ && refill());
  return at_ < end_ && *at_ != '\n';
}

void MeshScanner::end_line() {
  if (on_line()) {
    const std::string_view rest = word("the end of the line");
    return fail(quoted(rest) + " where the line should end");
  }
  skip_line();
}

void MeshScanner::skip_line() {
  do {
    const void* found = std::memchr(at_, '\n', static_cast<size_t>(end_ - at_));
    if (found != nullptr) {
      at_ = static_cast<const char*>(found) + 1;
      ++line_;
      return;
    }
    at_ = end_;
  } while (refill());
}

bool MeshScanner::sees(std::string_view bytes) {
  look_ahead(kMaxWord);
  return std::string_view(at_, static_cast<size_t>(end_ - at_)).starts_with(bytes);
}

void MeshScanner::skip_behind_line(std::string_view begin) {
  while (!sees(begin)) {
    if (at_ == end_) {
      token_ = at_;
      return fail("the file ends where " + std::string(begin) + " should be: it is truncated");
    }
    skip_line();
  }
  at_ += begin.size();
}

bool MeshScanner::begin_word(const char* what) {
  text_token_ = true;
  const bool ended = at_end();
  look_ahead(kMaxWord);
  token_ = at_;
  if (ended) fail(std::string("the file ends where ") + what + " should be: it is truncated");
  return !ended;
}

std::string_view MeshScanner::word(const char* what) {
  if (!begin_word(what)) return {};
  const char* const most = at_ + std::min(end_ - at_, static_cast<ptrdiff_t>(kMaxWord));
  at_ = std::find_if(at_, most, is_space);
  const std::string_view found(token_, static_cast<size_t>(at_ - token_));
  if (std::ssize(found) < kMaxWord) return found;
  fail(quoted(found) + " where " + what + " should be");
  return {};
}

bool MeshScanner::end_number(const char* stop, bool understood, const char* what) {
  if (understood && (stop == end_ ? file_ended_ : is_space(*stop))) {
    at_ = stop;
    return true;
  }
  const char* const most = at_ + std::min(end_ - at_, static_cast<ptrdiff_t>(kMaxWord));
  const std::string_view found(at_, static_cast<size_t>(std::find_if(at_, most, is_space) - at_));
  fail(quoted(found) + " where " + what + " should be");
  return false;
}

int64_t MeshScanner::text_integer(const char* what) {
  if (!begin_word(what)) return 0;
  int64_t value = 0;
  const auto [stop, problem] = std::from_chars(at_, end_, value);
  return end_number(stop, problem == std::errc(), what) ? value : 0;
}

double MeshScanner::text_real(const char* what) {
  if (!begin_word(what)) return 0;
  double value = 0;
  const auto [stop, problem] = std::from_chars(at_, end_, value);
  const bool understood = problem == std::errc() && std::isfinite(value);
  return end_number(stop, understood, what) ? value : 0;
}

void MeshScanner::set_binary(int size_bytes, bool foreign) {
  TESSERA_ASSERT(size_bytes == 4 || size_bytes == 8);
  binary_ = true;
  size_width_ = size_bytes;
  foreign_ = foreign;
}

template <typename Word>
Word MeshScanner::binary_word(const char* what) {
  constexpr auto kWidth = static_cast<int64_t>(sizeof(Word));
  if (end_ - at_ < kWidth) look_ahead(kMaxWord);
  token_ = at_;
  text_token_ = false;
  if (end_ - at_ < kWidth) {
    fail(std::string("the file ends where ") + what + " should be: it is truncated");
    return 0;
  }
  Word word;
  std::memcpy(&word, at_, sizeof(Word));
  at_ += kWidth;
  token_width_ = kWidth;
  return foreign_ ? swapped(word) : word;
}

int64_t MeshScanner::integer(const char* what) {
  if (!binary_) return text_integer(what);
  return static_cast<int32_t>(binary_word<uint32_t>(what));
}

int64_t MeshScanner::size(const char* what) {
  if (!binary_) return text_integer(what);
  if (size_width_ == 4) return binary_word<uint32_t>(what);
  return static_cast<int64_t>(binary_word<uint64_t>(what));
}

double MeshScanner::real(const char* what) {
  if (!binary_) return text_real(what);
  const auto value = std::bit_cast<double>(binary_word<uint64_t>(what));
  if (!std::isfinite(value)) fail(std::string("not a number where ") + what + " should be");
  return value;
}

void MeshScanner::pass_text_real(const char* what) {
  if (!begin_word(what)) return;
  double value = 0;
  const auto [stop, problem] = std::from_chars(at_, end_, value);
  (void)end_number(stop, problem != std::errc::invalid_argument, what);
}

void MeshScanner::pass_real(const char* what) {
  if (!binary_) return pass_text_real(what);
  (void)binary_word<uint64_t>(what);
}

int64_t MeshScanner::line_integer(const char* what) {
  if (on_line()) return text_integer(what);
  fail(std::string("the line ends where ") + what + " should be");
  return 0;
}

int64_t MeshScanner::checked_count(int64_t number, const char* what) {
  if (number >= 0) return number;
  fail(std::to_string(number) + " where " + what + " should be");
  return 0;
}

int64_t MeshScanner::count(const char* what) { return checked_count(size(what), what); }

int64_t MeshScanner::text_count(const char* what) {
  return checked_count(text_integer(what), what);
}

void MeshScanner::replace(int64_t number) {
  if (echo_ == nullptr || !ok()) return;
  echo_->append({echoed_, static_cast<size_t>(token_ - echoed_)});
  echoed_ = at_;
  std::array<char, 24> bytes;
  if (text_token_) {
    const char* const stop = std::to_chars(bytes.begin(), bytes.end(), number).ptr;
    return echo_->append({bytes.data(), static_cast<size_t>(stop - bytes.data())});
  }
  auto word = static_cast<uint64_t>(number);
  auto half = static_cast<uint32_t>(word);
  if (foreign_) word = swapped(word), half = swapped(half);
  std::memcpy(bytes.data(), token_width_ == 4 ? static_cast<const void*>(&half) : &word,
              static_cast<size_t>(token_width_));
  echo_->append({bytes.data(), static_cast<size_t>(token_width_)});
}

void MeshScanner::flush_echo() {
  if (echo_ != nullptr) echo_->append({echoed_, static_cast<size_t>(at_ - echoed_)});
  echoed_ = at_;
}

}  // namespace tessera::mesh
