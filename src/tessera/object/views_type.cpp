#include "tessera/object/views_type.hpp"

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "tessera/base/checked.hpp"
#include "tessera/pattern/darray.hpp"

namespace tessera::object {

using base::Json;
using base::Result;
using pattern::Datatype;

namespace {

// What a constructor made, its error told with the way to its description.
Result<Datatype> at(const Located& value, Result<Datatype> type) {
  if (!type) return wrong(value, type.error());
  return type;
}

// The type that a constructor builds upon: one byte where none is given.
Result<Datatype> element(const Fields& fields) {
  if (!fields.has("of")) return pattern::basic(1);
  return read_type(fields.value().member("of"));
}

Result<Datatype> read_intervals(const Located& value) {
  TESSERA_TRY(const Json::Array* list, to_array(value));
  std::vector<pattern::Block> blocks;
  blocks.reserve(list->size());
  for (size_t i = 0; i < list->size(); ++i) {
    const Json::Array* ends = (*list)[i].array();
    if (ends == nullptr || ends->size() != 2) {
      return wrong(value.item(i), "must be an interval [begin, end]");
    }
    const int64_t* begin = (*ends)[0].integer();
    const int64_t* end = (*ends)[1].integer();
    if (begin == nullptr || end == nullptr) {
      return wrong(value.item(i), "must be an interval of two integers");
    }
    const auto length = base::checked_sub(*end, *begin);
    if (!length || *length < 0) {
      return wrong(value.item(i), "ends at " + std::to_string(*end) + ", before its begin " +
                                      std::to_string(*begin) + " (an interval is [begin, end))");
    }
    blocks.push_back({*length, *begin});
  }
  TESSERA_TRY(const Datatype byte, pattern::basic(1));
  return at(value, pattern::hindexed(blocks, byte));
}

Result<Datatype> read_contiguous(const Located& value) {
  TESSERA_TRY(const Fields fields, Fields::of(value, {"count", "of"}));
  TESSERA_TRY(const int64_t count, fields.integer("count"));
  TESSERA_TRY(const Datatype of, element(fields));
  return at(value, pattern::contiguous(count, of));
}

Result<Datatype> read_vector(const Located& value) {
  TESSERA_TRY(const Fields fields,
              Fields::of(value, {"count", "blocklength", "stride", "stride_bytes", "of"}));
  const bool in_bytes = fields.has("stride_bytes");
  if (in_bytes == fields.has("stride")) {
    return wrong(value, "give one of \"stride\" (in elements) and \"stride_bytes\"");
  }
  pattern::Blocks blocks;
  TESSERA_TRY(blocks.count, fields.integer("count"));
  TESSERA_TRY(blocks.blocklength, fields.integer_or("blocklength", 1));
  TESSERA_TRY(blocks.stride, fields.integer(in_bytes ? "stride_bytes" : "stride"));
  TESSERA_TRY(const Datatype of, element(fields));
  return at(value, in_bytes ? pattern::hvector(blocks, of) : pattern::vector(blocks, of));
}

// "blocklengths" is a list, or one number for all blocks.
Result<std::vector<int64_t>> read_blocklengths(const Fields& fields, size_t count) {
  if (!fields.has("blocklengths")) return std::vector<int64_t>(count, 1);
  const Located given = fields.value().member("blocklengths");
  if (const int64_t* one = given.json->integer()) return std::vector<int64_t>(count, *one);
  TESSERA_TRY(std::vector<int64_t> lengths, to_integers(given));
  if (lengths.size() != count) {
    return wrong(given, "has " + std::to_string(lengths.size()) + " items for " +
                            std::to_string(count) + " displacements");
  }
  return lengths;
}

Result<Datatype> read_indexed(const Located& value) {
  TESSERA_TRY(const Fields fields,
              Fields::of(value, {"blocklengths", "displacements", "displacements_bytes", "of"}));
  const bool in_bytes = fields.has("displacements_bytes");
  if (in_bytes == fields.has("displacements")) {
    return wrong(value, "give one of \"displacements\" (in elements) and \"displacements_bytes\"");
  }
  TESSERA_TRY(const std::vector<int64_t> displacements,
              fields.integers(in_bytes ? "displacements_bytes" : "displacements"));
  TESSERA_TRY(const std::vector<int64_t> lengths, read_blocklengths(fields, displacements.size()));
  std::vector<pattern::Block> blocks;
  blocks.reserve(displacements.size());
  for (size_t i = 0; i < displacements.size(); ++i) {
    blocks.push_back({lengths[i], displacements[i]});
  }
  TESSERA_TRY(const Datatype of, element(fields));
  return at(value, in_bytes ? pattern::hindexed(blocks, of) : pattern::indexed(blocks, of));
}

Result<Datatype> read_struct(const Located& value) {
  TESSERA_TRY(const Json::Array* list, to_array(value));
  std::vector<pattern::Member> members;
  for (size_t i = 0; i < list->size(); ++i) {
    TESSERA_TRY(const Fields fields,
                Fields::of(value.item(i), {"blocklength", "displacement", "of"}));
    pattern::Member member;
    TESSERA_TRY(member.blocklength, fields.integer_or("blocklength", 1));
    TESSERA_TRY(member.displacement, fields.integer("displacement"));
    TESSERA_TRY(member.type, element(fields));
    members.push_back(std::move(member));
  }
  return at(value, pattern::structure(members));
}

Result<Datatype> read_resized(const Located& value) {
  TESSERA_TRY(const Fields fields, Fields::of(value, {"lower_bound", "extent", "of"}));
  TESSERA_TRY(const int64_t lower_bound, fields.integer_or("lower_bound", 0));
  TESSERA_TRY(const int64_t extent, fields.integer("extent"));
  TESSERA_TRY(const Datatype of, element(fields));
  return at(value, pattern::resized(of, lower_bound, extent));
}

Result<pattern::Order> read_order(const Fields& fields) {
  if (!fields.has("order")) return pattern::Order::kC;
  const Located given = fields.value().member("order");
  const std::string* word = given.json->string();
  if (word != nullptr && *word == "C") return pattern::Order::kC;
  if (word != nullptr && *word == "Fortran") return pattern::Order::kFortran;
  return wrong(given, "must be \"C\" or \"Fortran\"");
}

// A list with one item for each dimension.
Result<std::vector<int64_t>> read_dimensions(const Fields& fields, const char* key, size_t rank) {
  TESSERA_TRY(std::vector<int64_t> numbers, fields.integers(key));
  if (numbers.size() == rank) return numbers;
  return wrong(fields.value().member(key), "has " + std::to_string(numbers.size()) +
                                               " items for an array of " + std::to_string(rank) +
                                               " dimensions");
}

Result<Datatype> read_subarray(const Located& value) {
  TESSERA_TRY(const Fields fields,
              Fields::of(value, {"sizes", "subsizes", "starts", "order", "of"}));
  TESSERA_TRY(const std::vector<int64_t> sizes, fields.integers("sizes"));
  TESSERA_TRY(const std::vector<int64_t> subsizes,
              read_dimensions(fields, "subsizes", sizes.size()));
  TESSERA_TRY(const std::vector<int64_t> starts, read_dimensions(fields, "starts", sizes.size()));
  TESSERA_TRY(const pattern::Order order, read_order(fields));
  TESSERA_TRY(const Datatype of, element(fields));
  std::vector<pattern::Slice> slices;
  for (size_t i = 0; i < sizes.size(); ++i) slices.push_back({sizes[i], subsizes[i], starts[i]});
  return at(value, pattern::subarray(slices, order, of));
}

// "block", "cyclic", "none", or {"block": k}, {"cyclic": k}.
Result<void> read_distribution(const Located& value, pattern::Axis& axis) {
  std::string word;
  if (const std::string* plain = value.json->string()) {
    word = *plain;
  } else if (const Json::Object* object = value.json->object(); object && object->size() == 1) {
    word = object->front().key;
    TESSERA_TRY(axis.argument, to_integer(value.member(word)));
    if (axis.argument < 1) return wrong(value, "the block size must be at least 1");
  }
  if (word == "block") {
    axis.distribution = pattern::Distribution::kBlock;
  } else if (word == "cyclic") {
    axis.distribution = pattern::Distribution::kCyclic;
  } else if (word == "none") {
    axis.distribution = pattern::Distribution::kNone;
  } else {
    return wrong(value, R"(must be "block", "cyclic", "none", {"block": k} or {"cyclic": k})");
  }
  return {};
}

Result<std::vector<pattern::Axis>> read_axes(const Fields& fields) {
  TESSERA_TRY(const std::vector<int64_t> sizes, fields.integers("sizes"));
  TESSERA_TRY(const std::vector<int64_t> grid, read_dimensions(fields, "grid", sizes.size()));
  TESSERA_TRY(const Located distributions, fields.required("distributions"));
  TESSERA_TRY(const Json::Array* list, to_array(distributions));
  if (list->size() != sizes.size()) {
    return wrong(distributions, "must have one item for each dimension");
  }
  std::vector<pattern::Axis> axes(sizes.size());
  for (size_t i = 0; i < sizes.size(); ++i) {
    axes[i].size = sizes[i];
    axes[i].processes = grid[i];
    TESSERA_TRY_VOID(read_distribution(distributions.item(i), axes[i]));
  }
  return axes;
}

Result<Datatype> read_darray(const Located& value) {
  TESSERA_TRY(const Fields fields,
              Fields::of(value, {"rank", "sizes", "distributions", "grid", "order", "of"}));
  TESSERA_TRY(const std::vector<pattern::Axis> axes, read_axes(fields));
  pattern::Placement placement;
  TESSERA_TRY(placement.rank, fields.integer("rank"));
  for (const pattern::Axis& axis : axes) {
    const auto size = base::checked_mul(placement.size, axis.processes);
    if (!size || axis.processes < 1) {
      return wrong(value.member("grid"), "must be positive numbers whose product fits in 64 bits");
    }
    placement.size = *size;
  }
  TESSERA_TRY(const pattern::Order order, read_order(fields));
  TESSERA_TRY(const Datatype of, element(fields));
  return at(value, pattern::darray(placement, axes, order, of));
}

struct Form {
  const char* name;
  Result<Datatype> (*read)(const Located& value);
};

constexpr std::array<Form, 8> kForms = {{{"intervals", read_intervals},
                                         {"contiguous", read_contiguous},
                                         {"vector", read_vector},
                                         {"indexed", read_indexed},
                                         {"struct", read_struct},
                                         {"subarray", read_subarray},
                                         {"darray", read_darray},
                                         {"resized", read_resized}}};

}  // namespace

Result<Datatype> read_type(const Located& value) {
  if (const int64_t* bytes = value.json->integer()) return at(value, pattern::basic(*bytes));
  const Json::Object* object = value.json->object();
  if (object != nullptr && object->size() == 1) {
    for (const Form& form : kForms) {
      if (object->front().key == form.name) return form.read(value.member(form.name));
    }
  }
  std::string names;
  for (const Form& form : kForms) names += std::string(names.empty() ? "" : ", ") + form.name;
  return wrong(value, "a type is a number of bytes or an object with one key of: " + names);
}

}  // namespace tessera::object
