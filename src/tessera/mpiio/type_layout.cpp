#include "tessera/mpiio/type_layout.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "tessera/base/assert.hpp"
#include "tessera/base/checked.hpp"
#include "tessera/pattern/darray.hpp"

namespace tessera::mpiio {

using base::Code;
using base::fail;
using base::Result;
using pattern::Datatype;

namespace {

using TypePtr = std::shared_ptr<const Type>;
using Arguments = std::span<const int64_t>;

pattern::Blocks regular_blocks(Arguments arguments) {
  return {arguments[0], arguments[1], arguments[2]};
}

std::vector<pattern::Block> listed_blocks(Arguments arguments) {
  const auto count = base::exact_cast<size_t>(arguments[0]);
  TESSERA_ASSERT(arguments.size() == 1 + 2 * count);
  std::vector<pattern::Block> blocks(count);
  for (size_t i = 0; i < count; ++i) {
    blocks[i] = {arguments[1 + i], arguments[1 + count + i]};
  }
  return blocks;
}

pattern::Order order_of(int64_t order) {
  return order == MPI_ORDER_FORTRAN ? pattern::Order::kFortran : pattern::Order::kC;
}

Result<Datatype> subarray(Arguments arguments, const Datatype& type) {
  const auto dimensions = base::exact_cast<size_t>(arguments[0]);
  TESSERA_ASSERT(arguments.size() == 2 + 3 * dimensions);
  std::vector<pattern::Slice> slices(dimensions);
  for (size_t i = 0; i < dimensions; ++i) {
    slices[i] = {arguments[1 + i], arguments[1 + dimensions + i],
                 arguments[1 + 2 * dimensions + i]};
  }
  return pattern::subarray(slices, order_of(arguments.back()), type);
}

Result<pattern::Distribution> distribution_of(int64_t distribution) {
  switch (distribution) {
    case MPI_DISTRIBUTE_BLOCK:
      return pattern::Distribution::kBlock;
    case MPI_DISTRIBUTE_CYCLIC:
      return pattern::Distribution::kCyclic;
    case MPI_DISTRIBUTE_NONE:
      return pattern::Distribution::kNone;
    default:
      return fail(Code::kInvalid,
                  "darray: distribution " + std::to_string(distribution) + " is not known");
  }
}

Result<Datatype> darray(Arguments arguments, const Datatype& type) {
  const auto dimensions = base::exact_cast<size_t>(arguments[2]);
  TESSERA_ASSERT(arguments.size() == 4 + 4 * dimensions);
  std::vector<pattern::Axis> axes(dimensions);
  for (size_t i = 0; i < dimensions; ++i) {
    pattern::Axis& axis = axes[i];
    const size_t first = 3 + i;
    axis.size = arguments[first];
    TESSERA_TRY(axis.distribution, distribution_of(arguments[first + dimensions]));
    const int64_t argument = arguments[first + 2 * dimensions];
    axis.argument = argument == MPI_DISTRIBUTE_DFLT_DARG ? pattern::kDefaultArg : argument;
    axis.processes = arguments[first + 3 * dimensions];
  }
  return pattern::darray({arguments[0], arguments[1]}, axes, order_of(arguments.back()), type);
}

// Of every constructor that takes one type.
Result<Datatype> layout_of(Constructor constructor, Arguments arguments, const Datatype& type) {
  switch (constructor) {
    case Constructor::kDup:
      return type;
    case Constructor::kContiguous:
      return pattern::contiguous(arguments[0], type);
    case Constructor::kVector:
      return pattern::vector(regular_blocks(arguments), type);
    case Constructor::kHvector:
      return pattern::hvector(regular_blocks(arguments), type);
    case Constructor::kIndexed:
      return pattern::indexed(listed_blocks(arguments), type);
    case Constructor::kHindexed:
      return pattern::hindexed(listed_blocks(arguments), type);
    case Constructor::kIndexedBlock:
      return pattern::indexed_block(arguments[1], arguments.subspan(2), type);
    case Constructor::kHindexedBlock:
      return pattern::hindexed_block(arguments[1], arguments.subspan(2), type);
    case Constructor::kSubarray:
      return subarray(arguments, type);
    case Constructor::kDarray:
      return darray(arguments, type);
    case Constructor::kResized:
      return pattern::resized(type, arguments[0], arguments[1]);
    case Constructor::kNamed:
    case Constructor::kParametric:
    case Constructor::kStruct:
      break;
  }
  return fail(Code::kFailed, "a constructor that does not take one type");
}

// Of a constructor that takes one type, or a struct whose members all have the same.
Result<Type> combine_one(Constructor constructor, Arguments arguments, const Type& child) {
  TESSERA_TRY(Datatype layout, layout_of(constructor, arguments, child.layout));
  const int64_t size = child.layout.size();
  const int64_t copies = size > 0 ? layout.size() / size : 0;
  return Type{std::move(layout), 0, repeated(child.elements, copies)};
}

Result<Type> combine_members(Arguments arguments, std::span<const TypePtr> children) {
  const std::vector<pattern::Block> blocks = listed_blocks(arguments);
  std::vector<pattern::Member> members;
  std::vector<ElementsPtr> elements;
  members.reserve(blocks.size());
  elements.reserve(blocks.size());
  for (size_t i = 0; i < blocks.size(); ++i) {
    members.push_back({blocks[i].blocklength, blocks[i].displacement, children[i]->layout});
    elements.push_back(repeated(children[i]->elements, blocks[i].blocklength));
  }
  TESSERA_TRY(Datatype layout, pattern::structure(members));
  return Type{std::move(layout), 0, sequence(elements)};
}

}  // namespace

Result<Type> combine(const TypeContents& contents, std::span<const TypePtr> children) {
  TESSERA_ASSERT(children.size() == contents.types().size());
  if (contents.constructor() != Constructor::kStruct) {
    return combine_one(contents.constructor(), contents.arguments(), *children[0]);
  }
  const bool uniform = !children.empty() && std::all_of(children.begin(), children.end(),
                                                        [&children](const TypePtr& child) {
                                                          return child == children.front();
                                                        });
  if (uniform) return combine_one(Constructor::kHindexed, contents.arguments(), *children[0]);
  return combine_members(contents.arguments(), children);
}

}  // namespace tessera::mpiio
