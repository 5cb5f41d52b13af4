// Pages: self-contained HTML that looks well in light and dark, on paper and on screens.
//
// One file without scripts, fonts or addresses of others, so that it can be mailed and kept.
// Thread safety: values and pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tessera/cli/table.hpp"

namespace tessera::cli {

// Text as HTML content or attribute value. Bytes that are not UTF-8 become U+FFFD.
[[nodiscard]] std::string escaped(std::string_view text);

class Page {
 public:
  // A headline and the paragraph below it, as plain text.
  Page(std::string title, std::string_view introduction);

  void heading(std::string_view text);
  void paragraph(std::string_view text);
  // Figures that catch the eye: (number, what it is).
  void facts(const std::vector<std::pair<std::string, std::string>>& facts);
  // A picture (SVG text) and the sentence below it.
  void figure(const std::string& svg, std::string_view caption);
  void table(const Table& table);
  // What the colours of shared bytes mean, for the given numbers of sharers.
  void legend(const std::vector<int64_t>& sharers);

  // The whole document.
  [[nodiscard]] std::string html() const;

 private:
  std::string title_;
  std::string body_;
};

// Whether a file that begins and ends with these bytes, or is these bytes, is a page of ours.
[[nodiscard]] bool is_page(std::string_view begin, std::string_view end);

// The CSS class that colours something by how many processes share it: "s1" to "s5", "s0" for none.
[[nodiscard]] std::string sharing_class(int64_t sharers);

}  // namespace tessera::cli
