#include "tessera/cli/table.hpp"

#include <algorithm>

#include "tessera/base/assert.hpp"
#include "tessera/base/utf8.hpp"

namespace tessera::cli {

size_t characters(const std::string& text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) != 0x80;  // not inside a character
  }));
}

std::string printable(std::string_view text) {
  std::string shown;
  while (!text.empty()) {
    const size_t length = base::utf8_length(text);
    const std::string_view character = text.substr(0, std::max<size_t>(length, 1));
    text.remove_prefix(character.size());
    const auto first = static_cast<unsigned char>(character.front());
    // The second group of control characters begins with U+0080, the bytes C2 80.
    const bool control = first < 0x20 || first == 0x7F ||
                         (first == 0xC2 && static_cast<unsigned char>(character.back()) < 0xA0);
    shown += length == 0 || control ? "?" : character;
  }
  return shown;
}

std::string padded(const std::string& text, size_t width, Table::Align align) {
  const size_t have = characters(text);
  const std::string space(width > have ? width - have : 0, ' ');
  return align == Table::Align::kLeft ? text + space : space + text;
}

void Table::add(std::vector<std::string> cells) {
  TESSERA_ASSERT(cells.size() == columns_.size());
  rows_.push_back(std::move(cells));
}

std::string Table::text() const {
  std::vector<std::string> titles;
  std::vector<size_t> widths;
  for (const Column& column : columns_) {
    titles.push_back(column.title);
    widths.push_back(characters(column.title));
  }
  for (const auto& row : rows_) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], characters(row[i]));
  }
  const auto line = [&](const std::vector<std::string>& cells) {
    std::string text;
    for (size_t i = 0; i < cells.size(); ++i) {
      text += "  " + padded(cells[i], widths[i], columns_[i].align);
    }
    text.erase(text.find_last_not_of(' ') + 1);
    return text + "\n";
  };
  std::string text = line(titles);
  for (const auto& row : rows_) text += line(row);
  return text;
}

}  // namespace tessera::cli
