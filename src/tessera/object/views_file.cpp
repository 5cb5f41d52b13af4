#include "tessera/object/views_file.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include "tessera/base/checked.hpp"
#include "tessera/base/json.hpp"
#include "tessera/base/json_writer.hpp"
#include "tessera/object/views_fields.hpp"
#include "tessera/object/views_type.hpp"
#include "tessera/pattern/view.hpp"

namespace tessera::object {

using base::Code;
using base::Json;
using base::Result;
using pattern::ByteSet;
using pattern::Interval;

namespace {

// The end of a range: what a line of labels can hold.
constexpr int64_t kMaxEnd = pattern::kMaxLine - 1;

// What all views may cost together, dealt to them evenly: about a minute, whatever the file says.
pattern::Budget budget_of(size_t views) {
  constexpr int64_t kSteps = int64_t{1} << 24;
  constexpr int64_t kRuns = int64_t{1} << 27;
  const auto count = static_cast<int64_t>(views);
  const pattern::Budget most;
  return {std::clamp<int64_t>(kSteps / count, 1 << 11, most.steps),
          std::clamp<int64_t>(kRuns / count, 1 << 16, most.max_runs)};
}

Result<Interval> read_range(const Fields& fields) {
  if (fields.has("size") == fields.has("range")) {
    return wrong(fields.value(), "give one of \"size\": n and \"range\": [begin, end]");
  }
  const Located given = fields.value().member(fields.has("size") ? "size" : "range");
  Interval range;
  if (fields.has("size")) {
    TESSERA_TRY(range.end, to_integer(given));
  } else {
    TESSERA_TRY(const std::vector<int64_t> ends, to_integers(given));
    if (ends.size() != 2) return wrong(given, "must be [begin, end]");
    range = {ends[0], ends[1]};
  }
  if (range.begin < 0 || range.end <= range.begin || range.end > kMaxEnd) {
    return wrong(given,
                 "must be a range of at least one byte between 0 and " + std::to_string(kMaxEnd));
  }
  return range;
}

Result<bool> read_disjoint(const Fields& fields) {
  if (!fields.has("disjoint")) return false;
  const Located given = fields.value().member("disjoint");
  const bool* disjoint = given.json->boolean();
  if (disjoint == nullptr) return wrong(given, "must be true or false");
  return *disjoint;
}

// The key at fault, or the type where the key took its default.
Located blamed(const Fields& fields, const char* key) {
  return fields.value().member(fields.has(key) ? key : "type");
}

// Reads the views of one file.
class ViewReader {
 public:
  ViewReader(Interval range, pattern::Budget budget) : range_(range), budget_(budget) {}

  Result<NamedView> read(const Located& value, int64_t index);

 private:
  [[nodiscard]] Result<NamedView> read_named(const Fields& fields, NamedView view) const;
  [[nodiscard]] Result<ByteSet> read_bytes(const Fields& fields) const;
  [[nodiscard]] Result<ByteSet> all_tiles(const Fields& fields, int64_t displacement,
                                          const pattern::Datatype& type) const;
  [[nodiscard]] Result<ByteSet> counted_tiles(const Fields& fields, int64_t displacement,
                                              const pattern::Datatype& type) const;
  [[nodiscard]] Result<ByteSet> set_of(const pattern::Pattern& bytes) const;

  Interval range_;
  pattern::Budget budget_;  // of each view
  std::set<Process> processes_;
};

Result<NamedView> ViewReader::read(const Located& value, int64_t index) {
  NamedView view;
  // The way to a value is told from its view on, as the view is named before it.
  auto result = [&]() -> Result<NamedView> {
    TESSERA_TRY(const Fields fields,
                Fields::of({value.json, ""}, {"process", "name", "type", "displacement", "tiles"}));
    TESSERA_TRY(const int64_t process, fields.integer_or("process", index));
    if (process < 0 || process > std::numeric_limits<Process>::max()) {
      return wrong(fields.value().member("process"), "must be between 0 and 2147483647");
    }
    view.process = static_cast<Process>(process);
    if (!processes_.insert(view.process).second) {
      return wrong(fields.value(), "process " + std::to_string(process) + " has a view already");
    }
    return read_named(fields, std::move(view));
  }();
  if (result) return result;
  std::string prefix = "view " + std::to_string(index);
  const Json* name = value.json->find("name");
  if (name != nullptr && name->string() != nullptr) {
    prefix += " " + base::json_quoted(std::string_view(*name->string()).substr(0, 40));
  }
  return base::fail(result.error().code, prefix + ": " + result.error().message());
}

Result<NamedView> ViewReader::read_named(const Fields& fields, NamedView view) const {
  view.name = "P" + std::to_string(view.process);
  if (fields.has("name")) {
    const Located given = fields.value().member("name");
    const std::string* name = given.json->string();
    if (name == nullptr || name->empty() || name->size() > 200) {
      return wrong(given, "must be a string of 1 to 200 bytes");
    }
    view.name = *name;
  }
  TESSERA_TRY(view.bytes, read_bytes(fields));
  return view;
}

Result<ByteSet> ViewReader::read_bytes(const Fields& fields) const {
  TESSERA_TRY(const int64_t displacement, fields.integer_or("displacement", 0));
  TESSERA_TRY(const Located given, fields.required("type"));
  TESSERA_TRY(const pattern::Datatype type, read_type(given));
  const Json* tiles = fields.value().json->find("tiles");
  const bool all = tiles != nullptr && tiles->string() != nullptr && *tiles->string() == "all";
  return all ? all_tiles(fields, displacement, type) : counted_tiles(fields, displacement, type);
}

Result<ByteSet> ViewReader::all_tiles(const Fields& fields, int64_t displacement,
                                      const pattern::Datatype& type) const {
  const auto view = pattern::View::make(displacement, type, 1);
  if (!view) return wrong(fields.value().member("type"), view.error());
  auto bytes = view->within(range_);
  if (!bytes) return wrong(fields.value().member("tiles"), bytes.error());
  return bytes;
}

Result<ByteSet> ViewReader::counted_tiles(const Fields& fields, int64_t displacement,
                                          const pattern::Datatype& type) const {
  int64_t count = 1;
  if (fields.has("tiles")) {
    const Located given = fields.value().member("tiles");
    const int64_t* number = given.json->integer();
    if (number == nullptr || *number < 0) {
      return wrong(given, "must be a number of copies, or \"all\"");
    }
    count = *number;
  }
  const auto tiled = pattern::repeat(type.bytes, count, pattern::Point<1>{{type.extent}});
  if (!tiled) return wrong(blamed(fields, "tiles"), tiled.error());
  const auto placed = tiled->shifted(pattern::Point<1>{{displacement}});
  if (!placed) return wrong(blamed(fields, "displacement"), placed.error());
  auto bytes = set_of(*placed);
  if (!bytes) return wrong(fields.value().member("type"), bytes.error());
  return bytes;
}

Result<ByteSet> ViewReader::set_of(const pattern::Pattern& bytes) const {
  if (bytes.span().begin < 0) {
    return base::fail(Code::kInvalid, "reaches byte " + std::to_string(bytes.span().begin) +
                                          "; a file begins at 0");
  }
  if (bytes.ascending()) return ByteSet::of_ascending(bytes.within(range_));
  TESSERA_TRY(const ByteSet set, ByteSet::of(bytes, budget_));
  return set.within(range_);
}

Result<ViewsFile> read_file(const Json& json) {
  TESSERA_TRY(const Fields fields,
              Fields::of({&json, ""}, {"size", "range", "disjoint", "views", "comment"}));
  ViewsFile file;
  TESSERA_TRY(file.range, read_range(fields));
  TESSERA_TRY(file.disjoint, read_disjoint(fields));
  TESSERA_TRY(const Located views, fields.required("views"));
  TESSERA_TRY(const Json::Array* list, to_array(views));
  if (list->empty() || list->size() > static_cast<size_t>(kMaxViews)) {
    return wrong(views, "must hold 1 to " + std::to_string(kMaxViews) + " views");
  }
  ViewReader reader(file.range, budget_of(list->size()));
  for (size_t i = 0; i < list->size(); ++i) {
    TESSERA_TRY(NamedView view, reader.read(views.item(i), static_cast<int64_t>(i)));
    file.views.push_back(std::move(view));
  }
  return file;
}

}  // namespace

Result<ViewsFile> parse_views(std::string_view text) {
  TESSERA_TRY(const Json json, Json::parse(text));
  return read_file(json);
}

Result<ObjectSet> object_set_of(const ViewsFile& file) {
  std::vector<ProcessView> views;
  for (const NamedView& view : file.views) views.push_back({view.process, view.bytes});
  TESSERA_TRY(ObjectSet objects, ObjectSet::of(file.range, views, budget_of(views.size())));
  if (file.disjoint) TESSERA_TRY_VOID(objects.require_disjoint());
  return objects;
}

}  // namespace tessera::object
