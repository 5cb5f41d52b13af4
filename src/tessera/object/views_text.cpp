#include "tessera/object/views_text.hpp"

#include <array>
#include <cstdint>

#include "tessera/base/json.hpp"
#include "tessera/base/json_writer.hpp"
#include "tessera/pattern/cursor.hpp"

namespace tessera::object {

using base::Code;
using base::Result;
using pattern::Node;
using pattern::Pattern;
using Shape = pattern::Shape<1>;

namespace {

constexpr base::JsonLimits kLimits;
// The file, its list of views, and a view.
constexpr int kLevelsAround = 3;
// Of a view without its type, and of the file without its views: no more than these.
constexpr int64_t kValuesOfView = 4;
constexpr int64_t kValuesOfFile = 8;

base::Failure too_complex() {
  return base::fail(Code::kTooComplex, "the views are too irregular to be written as a views file");
}

// Items [begin, end) of a sequence that are written alike.
struct Stretch {
  size_t begin = 0;
  size_t end = 0;
  bool alike = true;  // all have the shape of the first
};

Stretch stretch_from(const Node<1>& sequence, size_t begin) {
  const Shape first = sequence.item_shape(begin);
  Stretch stretch{begin, begin + 1};
  for (; stretch.end < sequence.at.size(); ++stretch.end) {
    const Shape next = sequence.item_shape(stretch.end);
    const bool alike = same_shape(first, next);
    if (!alike && !(first.is_run() && next.is_run())) break;
    stretch.alike = stretch.alike && alike;
  }
  return stretch;
}

// Writes the type of one view, and counts what a reader would have to take.
class TypeText {
 public:
  explicit TypeText(int64_t values_max) : values_max_(values_max) {}

  // The bytes as they are built.
  [[nodiscard]] Result<void> add(const Shape& shape, int levels = kLevelsAround);
  // The same run by run.
  [[nodiscard]] Result<void> add_runs(const Pattern& bytes);

  [[nodiscard]] const std::string& text() const { return text_; }
  [[nodiscard]] int64_t values() const { return values_; }

 private:
  [[nodiscard]] Result<void> add_repeat(const Node<1>& repeat, int levels);
  [[nodiscard]] Result<void> add_sequence(const Node<1>& sequence, int levels);
  [[nodiscard]] Result<void> add_stretch(const Node<1>& sequence, const Stretch& stretch,
                                         int levels);
  void add_interval(int64_t begin, int64_t length);
  [[nodiscard]] Result<void> take(int64_t values, int levels);

  TypeText& operator<<(std::string_view text) {
    text_ += text;
    return *this;
  }
  TypeText& operator<<(int64_t number) { return *this << std::to_string(number); }

  int64_t values_max_;
  int64_t values_ = 0;
  std::string text_;
};

// Of what is written next: so many values, inside of each other so deep.
Result<void> TypeText::take(int64_t values, int levels) {
  values_ += values;
  if (values_ > values_max_ || levels > kLimits.depth) return too_complex();
  return {};
}

Result<void> TypeText::add(const Shape& shape, int levels) {
  if (shape.is_repeat()) return add_repeat(*shape.node, levels);
  if (shape.is_sequence()) return add_sequence(*shape.node, levels);
  *this << shape.size;
  return take(1, levels);
}

Result<void> TypeText::add_repeat(const Node<1>& repeat, int levels) {
  TESSERA_TRY_VOID(take(4, levels + 2));
  *this << R"({"vector": {"count": )" << repeat.count << R"(, "stride_bytes": )" << repeat.stride[0]
        << R"(, "of": )";
  TESSERA_TRY_VOID(add(repeat.child, levels + 2));
  *this << "}}";
  return {};
}

Result<void> TypeText::add_sequence(const Node<1>& sequence, int levels) {
  const Stretch first = stretch_from(sequence, 0);
  if (first.end == sequence.at.size()) return add_stretch(sequence, first, levels);
  TESSERA_TRY_VOID(take(2, levels + 2));
  *this << R"({"struct": [)";
  for (Stretch stretch = first;; stretch = stretch_from(sequence, stretch.end)) {
    TESSERA_TRY_VOID(take(2, levels + 3));
    *this << R"({"displacement": )" << sequence.at[stretch.begin][0] << R"(, "of": )";
    TESSERA_TRY_VOID(add_stretch(sequence, stretch, levels + 3));
    *this << "}";
    if (stretch.end == sequence.at.size()) break;
    *this << ", ";
  }
  *this << "]}";
  return {};
}

// Relative to the first byte of the stretch.
Result<void> TypeText::add_stretch(const Node<1>& sequence, const Stretch& stretch, int levels) {
  const Shape first = sequence.item_shape(stretch.begin);
  if (stretch.end == stretch.begin + 1) return add(first, levels);
  TESSERA_TRY_VOID(take(4, levels + 3));
  *this << (stretch.alike ? R"({"indexed": {"displacements_bytes": [)" : R"({"intervals": [)");
  for (size_t i = stretch.begin; i < stretch.end; ++i) {
    const int64_t place = sequence.at[i][0] - sequence.at[stretch.begin][0];
    if (i > stretch.begin) *this << ", ";
    TESSERA_TRY_VOID(take(stretch.alike ? 1 : 3, levels + 3));
    if (stretch.alike) {
      *this << place;
    } else {
      add_interval(place, sequence.item_shape(i).size);
    }
  }
  *this << "]";
  if (stretch.alike) {
    *this << R"(, "of": )";
    TESSERA_TRY_VOID(add(first, levels + 2));
    *this << "}";
  }
  *this << "}";
  return {};
}

Result<void> TypeText::add_runs(const Pattern& bytes) {
  TESSERA_TRY_VOID(take(2, kLevelsAround + 3));
  *this << R"({"intervals": [)";
  pattern::Cursor<1> cursor(bytes);
  std::array<pattern::Piece<1>, 256> batch;
  bool first = true;
  for (size_t count = cursor.next_pieces(batch); count > 0; count = cursor.next_pieces(batch)) {
    TESSERA_TRY_VOID(take(3 * static_cast<int64_t>(count), 0));
    for (size_t i = 0; i < count; ++i) {
      if (!first) *this << ", ";
      first = false;
      add_interval(batch[i].at[0] - bytes.at()[0], batch[i].length);
    }
  }
  *this << "]}";
  return {};
}

void TypeText::add_interval(int64_t begin, int64_t length) {
  *this << "[" << begin << ", " << begin + length << "]";
}

// As it is built; run by run where that takes more values than a text may have, or more levels.
Result<TypeText> type_text(const Pattern& bytes, int64_t values_max) {
  TypeText built(values_max);
  if (built.add(bytes.shape())) return built;
  TypeText runs(values_max);
  TESSERA_TRY_VOID(runs.add_runs(bytes));
  return runs;
}

// Leaves out what parse_views() supplies.
void add_view(std::string& text, const NamedView& view, size_t index, const std::string& type) {
  text += "{";
  if (view.process != static_cast<int64_t>(index)) {
    text += "\"process\": " + std::to_string(view.process) + ", ";
  }
  if (view.name != "P" + std::to_string(view.process)) {
    text += "\"name\": " + base::json_quoted(view.name) + ", ";
  }
  const int64_t displacement = view.bytes.span().begin;
  if (displacement != 0) text += "\"displacement\": " + std::to_string(displacement) + ", ";
  text += "\"type\": " + type + "}";
}

std::string range_text(pattern::Interval range) {
  if (range.begin == 0) return "\"size\": " + std::to_string(range.end);
  return "\"range\": [" + std::to_string(range.begin) + ", " + std::to_string(range.end) + "]";
}

}  // namespace

std::string text_begin(std::string_view comment) {
  if (comment.empty()) return "{\n";
  return "{\n  \"comment\": " + base::json_quoted(comment) + ",\n";
}

Result<std::string> text_of_views(const ViewsFile& file, std::string_view comment) {
  if (file.views.empty()) return base::fail(Code::kInvalid, "there is no view to write");
  if (file.range.empty()) return base::fail(Code::kInvalid, "the views are of a file of no bytes");
  if (file.views.size() > static_cast<size_t>(kMaxViews)) return too_complex();
  std::string text = text_begin(comment) + "  " + range_text(file.range) + ",\n";
  if (file.disjoint) text += "  \"disjoint\": true,\n";
  text += "  \"views\": [\n";
  int64_t values_left = kLimits.values - kValuesOfFile;
  for (size_t i = 0; i < file.views.size(); ++i) {
    if (file.views[i].process < 0) {
      return base::fail(Code::kInvalid, "a views file has no processes with negative numbers");
    }
    values_left -= kValuesOfView;
    TESSERA_TRY(const TypeText type, type_text(file.views[i].bytes.ascending(), values_left));
    values_left -= type.values();
    text += "    ";
    add_view(text, file.views[i], i, type.text());
    text += i + 1 < file.views.size() ? ",\n" : "\n";
    if (text.size() > static_cast<size_t>(kLimits.size_bytes) - 16) return too_complex();
  }
  return text + "  ]\n}\n";
}

}  // namespace tessera::object
