#include "tessera/mpiio/types.hpp"

#include <array>
#include <atomic>
#include <string>
#include <utility>
#include <vector>

#include "tessera/base/checked.hpp"
#include "tessera/base/hot.hpp"
#include "tessera/mpiio/named_types.hpp"
#include "tessera/mpiio/recent_types.hpp"
#include "tessera/mpiio/type_contents.hpp"
#include "tessera/mpiio/type_layout.hpp"
#include "tessera/port/guarded.hpp"

namespace tessera::mpiio {

using base::Code;
using base::fail;
using base::Result;
using pattern::Datatype;

namespace {

using TypePtr = std::shared_ptr<const Type>;

// Deeper nesting than any program has; it bounds the recursion.
constexpr int kMaxNesting = 1000;

// What is known of a datatype, one slot for each representation.
struct Known {
  std::array<std::atomic<TypePtr>, 2> slots;

  std::atomic<TypePtr>& slot(Representation representation) {
    return slots[static_cast<size_t>(representation)];
  }
};

extern "C" int tessera_type_copied(MPI_Datatype /*type*/, int /*keyval*/, void* /*extra*/,
                                   void* value, void* copied, int* flag) {
  auto* source = static_cast<Known*>(value);
  auto* duplicate = new Known;
  for (size_t i = 0; i < source->slots.size(); ++i) duplicate->slots[i] = source->slots[i].load();
  *static_cast<void**>(copied) = duplicate;
  *flag = 1;
  return MPI_SUCCESS;
}

extern "C" int tessera_type_deleted(MPI_Datatype /*type*/, int /*keyval*/, void* value,
                                    void* /*extra*/) {
  delete static_cast<Known*>(value);
  return MPI_SUCCESS;
}

// The attribute under which derived types carry what is known of them.
std::atomic<int> keyval{MPI_KEYVAL_INVALID};

// Predefined types live as long as MPI and may not be as free with attributes, so they have a list.
struct Predefined {
  MPI_Datatype type;
  Known known;
  std::atomic<int64_t> dense_bytes;  // dense_size(), once the type was converted
  Predefined* next;
};
std::atomic<Predefined*> predefined{nullptr};

TESSERA_HOT Predefined* find_predefined(MPI_Datatype type) {
  Predefined* each = predefined;
  while (each != nullptr && each->type != type) each = each->next;
  return each;
}

Known* find_known(MPI_Datatype type) {
  if (Predefined* found = find_predefined(type)) return &found->known;
  const int key = keyval;
  if (key == MPI_KEYVAL_INVALID) return nullptr;
  void* value = nullptr;
  int found = 0;
  if (PMPI_Type_get_attr(type, key, static_cast<void*>(&value), &found) != MPI_SUCCESS) {
    return nullptr;
  }
  return found != 0 ? static_cast<Known*>(value) : nullptr;
}

// Adds to what is known, one thread at a time; all others only read.
struct Additions {
  // Null if MPI refuses the attribute; then the type is converted again each time.
  Known* add(MPI_Datatype type);
};
port::Guarded<Additions> additions;

Known* Additions::add(MPI_Datatype type) {
  if (Known* known = find_known(type)) return known;
  if (is_predefined(type)) {
    auto* entry = new Predefined{type, {}, 0, predefined};
    predefined = entry;
    return &entry->known;
  }
  int key = keyval;
  if (key == MPI_KEYVAL_INVALID) {
    if (PMPI_Type_create_keyval(tessera_type_copied, tessera_type_deleted, &key, nullptr) !=
        MPI_SUCCESS) {
      return nullptr;
    }
    keyval = key;
  }
  auto known = std::make_unique<Known>();
  if (PMPI_Type_set_attr(type, key, known.get()) != MPI_SUCCESS) return nullptr;
  return known.release();
}

Result<TypePtr> known_or_built(MPI_Datatype type, Representation representation, int depth);

// MPI decides on the bounds.
Result<Datatype> with_bounds_of(MPI_Datatype type, Datatype layout) {
  MPI_Count lower_bound = 0;
  MPI_Count extent = 0;
  MPI_Count size = 0;
  if (PMPI_Type_get_extent_x(type, &lower_bound, &extent) != MPI_SUCCESS ||
      PMPI_Type_size_x(type, &size) != MPI_SUCCESS) {
    return fail(Code::kFailed, "MPI does not tell the bounds of a datatype");
  }
  if (size != layout.size()) {
    return fail(Code::kFailed, "a datatype has " + std::to_string(size) + " bytes in MPI and " +
                                   std::to_string(layout.size()) + " as a pattern");
  }
  if (layout.lower_bound == lower_bound && layout.extent == extent) return layout;
  return pattern::resized(layout, lower_bound, extent);
}

Result<Type> build_named(MPI_Datatype type, Representation representation) {
  TESSERA_TRY(const std::vector<NamedMember> members, named_members(type));
  std::vector<pattern::Member> blocks;
  std::vector<ElementsPtr> elements;
  for (const NamedMember& member : members) {
    const int64_t size = representation == Representation::kNative ? member.basic.native_size()
                                                                   : member.basic.external_size();
    TESSERA_TRY(Datatype basic, pattern::basic(size));
    blocks.push_back({1, member.displacement, std::move(basic)});
    elements.push_back(element(member.basic));
  }
  TESSERA_TRY(Datatype layout, pattern::structure(blocks));
  return Type{std::move(layout), 0, sequence(elements)};
}

// What a derived type is made of: one for each of contents.types().
Result<std::vector<TypePtr>> children_of(const TypeContents& contents,
                                         Representation representation, int depth) {
  std::vector<TypePtr> children;
  children.reserve(contents.types().size());
  for (size_t i = 0; i < contents.types().size(); ++i) {
    const bool again = i > 0 && contents.types()[i] == contents.types()[i - 1];
    if (again) {
      children.push_back(children.back());
      continue;
    }
    TESSERA_TRY(TypePtr child, known_or_built(contents.types()[i], representation, depth + 1));
    children.push_back(std::move(child));
  }
  return children;
}

Result<TypePtr> finished(MPI_Datatype type, Representation representation, Type built) {
  if (representation == Representation::kNative) {
    TESSERA_TRY(built.layout, with_bounds_of(type, std::move(built.layout)));
  }
  built.basic_size = built.elements->basic_size;
  return std::make_shared<const Type>(std::move(built));
}

RecentTypes& recent_types() {
  static auto& recent = *new RecentTypes;
  return recent;
}

Result<TypePtr> build_derived(MPI_Datatype type, Representation representation, int depth) {
  TESSERA_TRY(const TypeContents contents, TypeContents::of(type));
  TESSERA_TRY(const std::vector<TypePtr> children, children_of(contents, representation, depth));
  if (TypePtr found = recent_types().find(contents, children, representation)) return found;
  TESSERA_TRY(Type combined, combine(contents, children));
  TESSERA_TRY(TypePtr built, finished(type, representation, std::move(combined)));
  recent_types().keep(contents, children, representation, built);
  return built;
}

Result<TypePtr> build(MPI_Datatype type, Representation representation, int depth) {
  if (depth > kMaxNesting) {
    return fail(Code::kTooComplex,
                "a datatype is nested more than " + std::to_string(kMaxNesting) + " levels deep");
  }
  if (representation == Representation::kExternal32) {
    TESSERA_TRY(TypePtr native, known_or_built(type, Representation::kNative, depth));
    if (!native->elements->resizes) return native;
  }
  if (!is_predefined(type)) return build_derived(type, representation, depth);
  TESSERA_TRY(Type named, build_named(type, representation));
  return finished(type, representation, std::move(named));
}

Result<TypePtr> known_or_built(MPI_Datatype type, Representation representation, int depth) {
  if (Known* known = find_known(type)) {
    if (TypePtr found = known->slot(representation).load()) return found;
  }
  TESSERA_TRY(TypePtr built, build(type, representation, depth));
  Known* known = additions.with([type](Additions& all) { return all.add(type); });
  if (known != nullptr) known->slot(representation).store(built);
  Predefined* entry = find_predefined(type);
  if (entry != nullptr && representation == Representation::kNative && is_dense(built->layout)) {
    entry->dense_bytes = built->layout.size();
  }
  return built;
}

}  // namespace

Result<TypePtr> convert(MPI_Datatype type, Representation representation) {
  if (type == MPI_DATATYPE_NULL) return fail(Code::kInvalid, "the datatype is MPI_DATATYPE_NULL");
  return known_or_built(type, representation, 0);
}

bool is_dense(const Datatype& layout) {
  return layout.bytes.runs() == 1 && layout.bytes.at()[0] == 0 && layout.lower_bound == 0 &&
         layout.extent == layout.size();
}

TESSERA_HOT int64_t dense_size(MPI_Datatype type) {
  const Predefined* entry = find_predefined(type);
  return entry != nullptr ? entry->dense_bytes.load(std::memory_order_relaxed) : 0;
}

Result<pattern::Pattern> memory_pattern(const Type& type, int64_t count) {
  TESSERA_TRY(Datatype copies, pattern::contiguous(count, type.layout));
  return std::move(copies.bytes);
}

MPI_Datatype keep_type(MPI_Datatype type) {
  if (type == MPI_DATATYPE_NULL || is_predefined(type)) return type;
  MPI_Datatype kept = MPI_DATATYPE_NULL;
  return PMPI_Type_dup(type, &kept) == MPI_SUCCESS ? kept : MPI_DATATYPE_NULL;
}

void drop_type(MPI_Datatype& type) {
  if (type != MPI_DATATYPE_NULL && !is_predefined(type)) PMPI_Type_free(&type);
  type = MPI_DATATYPE_NULL;
}

void end_types() {
  recent_types().clear();
  int key = keyval.exchange(MPI_KEYVAL_INVALID);
  if (key != MPI_KEYVAL_INVALID) PMPI_Type_free_keyval(&key);
  Predefined* each = predefined.exchange(nullptr);
  while (each != nullptr) delete std::exchange(each, each->next);
}

}  // namespace tessera::mpiio
