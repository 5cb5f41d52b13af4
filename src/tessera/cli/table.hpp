// Tables of text: columns as wide as their widest cell.
//
// Thread safety: none; one thread builds one table.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tessera::cli {

class Table {
 public:
  enum class Align { kLeft, kRight };
  struct Column {
    std::string title;
    Align align = Align::kRight;
  };

  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  // Requires one cell for each column.
  void add(std::vector<std::string> cells);

  [[nodiscard]] const std::vector<Column>& columns() const { return columns_; }
  [[nodiscard]] const std::vector<std::vector<std::string>>& rows() const { return rows_; }

  // The title row and all others, each line indented by two and ended, without trailing spaces.
  [[nodiscard]] std::string text() const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

// Characters of UTF-8 text, for widths.
[[nodiscard]] size_t characters(const std::string& text);

// Text of strangers for a terminal: what is no character of UTF-8, or controls the terminal,
// becomes a question mark.
[[nodiscard]] std::string printable(std::string_view text);

// Text made `width` characters wide by spaces before or after it.
[[nodiscard]] std::string padded(const std::string& text, size_t width, Table::Align align);

}  // namespace tessera::cli
