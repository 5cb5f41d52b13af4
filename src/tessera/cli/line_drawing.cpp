#include "tessera/cli/line_drawing.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <vector>

#include "tessera/base/checked.hpp"
#include "tessera/cli/table.hpp"

namespace tessera::cli {

using object::Object;
using pattern::Interval;

namespace {

constexpr int64_t kColumnsMax = 90;
constexpr size_t kProcessesMax = 24;

// How a range of bytes lies on columns of text.
struct Scale {
  Interval range;
  int64_t bytes_per_column = 1;

  [[nodiscard]] int64_t columns() const { return base::ceil_div(range.length(), bytes_per_column); }
  [[nodiscard]] Interval bytes_of(int64_t column) const {
    const int64_t begin = range.begin + column * bytes_per_column;
    return {begin, begin + std::min(bytes_per_column, range.end - begin)};
  }
  [[nodiscard]] int64_t column_of(int64_t byte) const {
    return (byte - range.begin) / bytes_per_column;
  }
};

Scale scale_of(Interval range) { return {range, base::ceil_div(range.length(), kColumnsMax)}; }

std::string blank(const Scale& scale, char fill) {
  return std::string(static_cast<size_t>(scale.columns()), fill);
}

// Puts text at a column if it does not touch what is there already.
void put(std::string& row, int64_t column, const std::string& text) {
  const auto at = static_cast<size_t>(column);
  if (at + text.size() > row.size()) row.resize(at + text.size(), ' ');
  if (at > 0 && row[at - 1] != ' ') return;
  row.replace(at, text.size(), text);
}

std::string ruler(const Scale& scale) {
  std::string row = blank(scale, ' ');
  for (int64_t column = 0; column < scale.columns(); column += 10) {
    put(row, column, std::to_string(scale.bytes_of(column).begin));
  }
  return row;
}

char mark(int64_t held, int64_t of) {
  if (held == 0) return '.';
  return held == of ? '#' : ':';
}

// For each column, how many of its bytes lie in the given objects.
std::string coverage(const Scale& scale, const std::vector<Interval>& objects) {
  std::string row;
  for (int64_t column = 0; column < scale.columns(); ++column) {
    const Interval bytes = scale.bytes_of(column);
    int64_t held = 0;
    for (const Interval object : objects) {
      held += std::max<int64_t>(0, common(object, bytes).length());
    }
    row += mark(held, bytes.length());
  }
  return row;
}

std::vector<Interval> held_by(const Shown& shown, const std::vector<Object>& objects,
                              object::Process process) {
  std::vector<Interval> held;
  for (const Object& object : objects) {
    const auto sharers = shown.objects.sharers(object.sharers);
    if (std::binary_search(sharers.begin(), sharers.end(), process)) held.push_back(object.bytes);
  }
  return held;
}

// "|0        |1        |2": each object's number where it begins, as far as there is room.
std::string object_row(const Scale& scale, const std::vector<Object>& objects) {
  std::string row = blank(scale, ' ');
  for (size_t i = 0; i < objects.size(); ++i) {
    const auto begin = static_cast<size_t>(scale.column_of(objects[i].bytes.begin));
    const auto last = static_cast<size_t>(scale.column_of(objects[i].bytes.end - 1));
    const std::string number = std::to_string(i);
    row[begin] = '|';
    if (begin + number.size() <= last) row.replace(begin + 1, number.size(), number);
  }
  return row;
}

std::string labelled(const std::string& label, size_t width, std::string row) {
  row.erase(row.find_last_not_of(' ') + 1);
  return "  " + padded(label, width, Table::Align::kLeft) + "  " + row + "\n";
}

std::string scale_note(const Scale& scale) {
  if (scale.bytes_per_column == 1) return "";
  return fmt::format("  (one column is {} bytes)\n", scale.bytes_per_column);
}

}  // namespace

std::string draw_objects(const Shown& shown) {
  const std::vector<Object> objects = shown.objects.meeting(shown.objects.range());
  const Scale scale = scale_of(shown.objects.range());
  const std::vector<object::Process> processes = shown.objects.processes();
  size_t width = std::string("objects").size();
  for (const object::Process process : processes) {
    width = std::max(width, characters(name_of(shown, process)));
  }
  std::string text = labelled("bytes", width, ruler(scale));
  for (size_t i = 0; i < std::min(processes.size(), kProcessesMax); ++i) {
    text += labelled(name_of(shown, processes[i]), width,
                     coverage(scale, held_by(shown, objects, processes[i])));
  }
  if (processes.size() > kProcessesMax) {
    text += fmt::format("  ... and {} more\n", processes.size() - kProcessesMax);
  }
  return text + labelled("objects", width, object_row(scale, objects)) + scale_note(scale);
}

std::string draw_sharing(const Shown& shown) {
  const Scale scale = scale_of(shown.objects.range());
  std::string row;
  for (int64_t column = 0; column < scale.columns(); ++column) {
    size_t most = 0;
    int64_t looked_at = 0;
    shown.objects.for_each_meeting(scale.bytes_of(column), [&](const Object& object) {
      most = std::max(most, shown.objects.sharers(object.sharers).size());
      return ++looked_at < kLookedAtMax;
    });
    row += most == 0 ? '.' : (most < 10 ? static_cast<char>('0' + most) : '+');
  }
  constexpr size_t kWidth = 7;
  return labelled("bytes", kWidth, ruler(scale)) + labelled("sharers", kWidth, row) +
         scale_note(scale);
}

}  // namespace tessera::cli
