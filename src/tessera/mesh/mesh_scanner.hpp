// MeshScanner: the numbers and words of a mesh file, one after the other, with a bounded buffer.
//
// Files of meshes have gigabytes and come from strangers, so a scanner holds one buffer of at
// most 1 MiB and believes nothing. What is wrong is told once, at the first thing that is wrong:
//   (M1) After a failure nothing moves: ok() is false, numbers are zero, words are empty, and
//        at_end() holds. So a loop over a count that the file claims ends with the file's bytes.
//   (M2) error() names the file, the line (the byte in files with binary numbers), and the section.
// A scanner with an echo hands everything that it passes over to a sink, unchanged but for numbers
// that are replaced: that is how a file is written again with other numbers in it.
// Thread safety: none.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "tessera/base/result.hpp"
#include "tessera/port/disk.hpp"

namespace tessera::mesh {

// Where the bytes of an echo go.
class EchoSink {
 public:
  virtual ~EchoSink() = default;
  virtual void append(std::string_view bytes) = 0;
};

class MeshScanner {
 public:
  // Words and numbers have at most so many bytes.
  static constexpr int64_t kMaxWord = 256;

  // Reads the file from its first byte. The file and the sink must outlive it.
  explicit MeshScanner(port::File& file, EchoSink* echo = nullptr);

  [[nodiscard]] bool ok() const { return !failure_.has_value(); }
  // Requires !ok().
  [[nodiscard]] const base::Error& error() const { return *failure_; }
  // The first failure counts; later ones are ignored. `what` is the end of a sentence.
  void fail(const std::string& what);
  // The same about a line of text that was read before.
  void fail_at(int64_t line, const std::string& what);

  // What messages name besides the line, for example "$Nodes".
  void set_place(std::string_view place) { place_ = place; }
  [[nodiscard]] const std::string& path() const { return file_.path(); }
  // Of text, from 1.
  [[nodiscard]] int64_t line() const { return line_; }
  // As the file system tells it; 0 where it does not.
  [[nodiscard]] int64_t size_bytes();

  // Behind all white space: whether the file ends here.
  [[nodiscard]] bool at_end();
  // Whether there is anything left; does not move.
  [[nodiscard]] bool has_more();
  // Skips blanks: whether the line goes on.
  [[nodiscard]] bool on_line();
  // Passes over the rest of the line, which must be blank, and its end.
  void end_line();
  // Passes over the rest of the line, whatever it is.
  void skip_line();
  // Whether the next bytes are these; does not move. Requires at most kMaxWord bytes.
  [[nodiscard]] bool sees(std::string_view bytes);
  // Passes over lines up to one that begins with these bytes, and over those bytes.
  void skip_behind_line(std::string_view begin);

  // In text, behind white space; `what` is what should be there. A word is valid until the scanner
  // moves again.
  [[nodiscard]] std::string_view word(const char* what);
  [[nodiscard]] int64_t text_integer(const char* what);
  [[nodiscard]] double text_real(const char* what);
  // The same on the line where the scanner stands.
  [[nodiscard]] int64_t line_integer(const char* what);

  // From here on numbers are binary, `size` numbers with so many bytes (4 or 8), in the other byte
  // order than this machine's if `foreign`.
  void set_binary(int size_bytes, bool foreign);
  [[nodiscard]] bool binary() const { return binary_; }

  // The next number of the file's mode: text, or binary with 4 bytes (int), with as many as
  // set_binary() says (size), or a double.
  [[nodiscard]] int64_t integer(const char* what);
  [[nodiscard]] int64_t size(const char* what);
  [[nodiscard]] double real(const char* what);
  // Passes over a real that nobody looks at, whatever its value: also one that is no number, is not
  // finite, or is beyond what a double holds.
  void pass_text_real(const char* what);
  void pass_real(const char* what);
  // A size() or text_integer() that counts something: fails if it is negative.
  [[nodiscard]] int64_t count(const char* what);
  [[nodiscard]] int64_t text_count(const char* what);
  // A count that the caller has read: fails, saying `what`, if it is negative.
  [[nodiscard]] int64_t checked_count(int64_t number, const char* what);

  // Puts another number in the place of the one that was read last. Without an echo, nothing.
  void replace(int64_t number);
  // Hands everything that was passed over to the sink.
  void flush_echo();

 private:
  [[nodiscard]] bool refill();
  void look_ahead(int64_t bytes);
  [[nodiscard]] bool begin_word(const char* what);
  [[nodiscard]] bool end_number(const char* stop, bool understood, const char* what);
  template <typename Word>
  [[nodiscard]] Word binary_word(const char* what);
  [[nodiscard]] int64_t offset() const { return buffer_offset_ + (token_ - buffer_.get()); }

  port::File& file_;
  EchoSink* echo_;
  int64_t capacity_;  // of the buffer
  std::unique_ptr<char[]> buffer_;
  int64_t buffer_offset_ = 0;  // in the file, of the buffer's first byte
  const char* at_;             // what is read next
  const char* end_;            // behind what the buffer holds
  const char* token_;          // the number or word that was read last
  const char* echoed_;         // what goes to the sink next
  bool file_ended_ = false;    // there is nothing behind end_
  bool binary_ = false;
  bool text_token_ = true;  // the last number was text
  bool foreign_ = false;
  int size_width_ = 8;
  int token_width_ = 0;
  int64_t line_ = 1;
  std::string place_;
  std::optional<base::Error> failure_;
};

// A word as messages show it: in quotes, short, and on one line.
[[nodiscard]] std::string quoted(std::string_view word);

}  // namespace tessera::mesh
