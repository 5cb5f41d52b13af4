#include "tessera/mpiio/type_contents.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

namespace tessera::mpiio {

using base::Code;
using base::fail;
using base::Result;

namespace {

// How many arguments of each kind MPI holds for a type.
struct Envelope {
  MPI_Count integers = 0;
  MPI_Count addresses = 0;
  MPI_Count counts = 0;  // only for types made by a large-count constructor
  MPI_Count types = 0;
  int combiner = 0;
};

struct Raw {
  std::vector<int> integers;
  std::vector<MPI_Aint> addresses;
  std::vector<MPI_Count> counts;
  std::vector<MPI_Datatype> types;

  explicit Raw(const Envelope& envelope)
      : integers(static_cast<size_t>(envelope.integers)),
        addresses(static_cast<size_t>(envelope.addresses)),
        counts(static_cast<size_t>(envelope.counts)),
        types(static_cast<size_t>(envelope.types)) {}
};

#if MPI_VERSION >= 4

int get_envelope(MPI_Datatype type, Envelope& envelope) {
  return PMPI_Type_get_envelope_c(type, &envelope.integers, &envelope.addresses, &envelope.counts,
                                  &envelope.types, &envelope.combiner);
}

int get_contents(MPI_Datatype type, const Envelope& envelope, Raw& raw) {
  return PMPI_Type_get_contents_c(type, envelope.integers, envelope.addresses, envelope.counts,
                                  envelope.types, raw.integers.data(), raw.addresses.data(),
                                  raw.counts.data(), raw.types.data());
}

#else

int get_envelope(MPI_Datatype type, Envelope& envelope) {
  int integers = 0;
  int addresses = 0;
  int types = 0;
  const int code = PMPI_Type_get_envelope(type, &integers, &addresses, &types, &envelope.combiner);
  envelope.integers = integers;
  envelope.addresses = addresses;
  envelope.types = types;
  return code;
}

int get_contents(MPI_Datatype type, const Envelope& envelope, Raw& raw) {
  return PMPI_Type_get_contents(type, static_cast<int>(envelope.integers),
                                static_cast<int>(envelope.addresses),
                                static_cast<int>(envelope.types), raw.integers.data(),
                                raw.addresses.data(), raw.types.data());
}

#endif

// The combiners *_INTEGER come from constructors of MPI-1 that only Fortran still has; Open MPI
// builds those types by the others.
std::optional<Constructor> constructor_named(int combiner) {
  switch (combiner) {
    case MPI_COMBINER_NAMED:
      return Constructor::kNamed;
    case MPI_COMBINER_F90_REAL:
    case MPI_COMBINER_F90_COMPLEX:
    case MPI_COMBINER_F90_INTEGER:
      return Constructor::kParametric;
    case MPI_COMBINER_DUP:
      return Constructor::kDup;
    case MPI_COMBINER_CONTIGUOUS:
      return Constructor::kContiguous;
    case MPI_COMBINER_VECTOR:
      return Constructor::kVector;
    case MPI_COMBINER_HVECTOR:
      return Constructor::kHvector;
    case MPI_COMBINER_INDEXED:
      return Constructor::kIndexed;
    case MPI_COMBINER_HINDEXED:
      return Constructor::kHindexed;
    case MPI_COMBINER_INDEXED_BLOCK:
      return Constructor::kIndexedBlock;
    case MPI_COMBINER_HINDEXED_BLOCK:
      return Constructor::kHindexedBlock;
    case MPI_COMBINER_STRUCT:
      return Constructor::kStruct;
    case MPI_COMBINER_SUBARRAY:
      return Constructor::kSubarray;
    case MPI_COMBINER_DARRAY:
      return Constructor::kDarray;
    case MPI_COMBINER_RESIZED:
      return Constructor::kResized;
#ifndef OPEN_MPI
    case MPI_COMBINER_HVECTOR_INTEGER:
      return Constructor::kHvector;
    case MPI_COMBINER_HINDEXED_INTEGER:
      return Constructor::kHindexed;
    case MPI_COMBINER_STRUCT_INTEGER:
      return Constructor::kStruct;
#endif
    default:
      return std::nullopt;
  }
}

Result<Constructor> constructor_in(const Envelope& envelope) {
  if (const auto constructor = constructor_named(envelope.combiner)) return *constructor;
  return fail(Code::kInvalid, "a datatype made by combiner " + std::to_string(envelope.combiner) +
                                  ", which is not known");
}

// Where the large counts stand among the integers: before the order of a subarray, after the number
// of dimensions of a darray. All other constructors have one kind of argument if they are large,
// and integers before addresses if they are not.
size_t place_of_counts(Constructor constructor) {
  if (constructor == Constructor::kSubarray) return 1;
  return constructor == Constructor::kDarray ? 3 : 0;
}

std::vector<int64_t> in_order(Constructor constructor, const Raw& raw) {
  std::vector<int64_t> arguments;
  arguments.reserve(raw.integers.size() + raw.counts.size() + raw.addresses.size());
  const size_t before = std::min(place_of_counts(constructor), raw.integers.size());
  const auto middle = raw.integers.begin() + static_cast<std::ptrdiff_t>(before);
  arguments.insert(arguments.end(), raw.integers.begin(), middle);
  arguments.insert(arguments.end(), raw.counts.begin(), raw.counts.end());
  arguments.insert(arguments.end(), middle, raw.integers.end());
  arguments.insert(arguments.end(), raw.addresses.begin(), raw.addresses.end());
  return arguments;
}

}  // namespace

Result<Constructor> constructor_of(MPI_Datatype type) {
  Envelope envelope;
  if (get_envelope(type, envelope) != MPI_SUCCESS) {
    return fail(Code::kInvalid, "MPI does not know the datatype");
  }
  return constructor_in(envelope);
}

bool is_predefined(MPI_Datatype type) {
  const auto constructor = constructor_of(type);
  return constructor &&
         (*constructor == Constructor::kNamed || *constructor == Constructor::kParametric);
}

Result<TypeContents> TypeContents::of(MPI_Datatype type) {
  Envelope envelope;
  if (get_envelope(type, envelope) != MPI_SUCCESS) {
    return fail(Code::kInvalid, "MPI does not know the datatype");
  }
  TypeContents contents;
  TESSERA_TRY(contents.constructor_, constructor_in(envelope));
  Raw raw(envelope);
  if (get_contents(type, envelope, raw) != MPI_SUCCESS) {
    return fail(Code::kFailed, "MPI does not tell what a datatype was made from");
  }
  contents.types_ = std::move(raw.types);
  contents.arguments_ = in_order(contents.constructor_, raw);
  return contents;
}

TypeContents::TypeContents(TypeContents&& other) noexcept
    : constructor_(other.constructor_),
      arguments_(std::move(other.arguments_)),
      types_(std::exchange(other.types_, {})) {}

TypeContents::~TypeContents() {
  for (MPI_Datatype& type : types_) {
    if (!is_predefined(type)) PMPI_Type_free(&type);
  }
}

}  // namespace tessera::mpiio
