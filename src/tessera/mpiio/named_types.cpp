#include "tessera/mpiio/named_types.hpp"

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <optional>
#include <string>

#include "tessera/mpiio/type_contents.hpp"

namespace tessera::mpiio {

using base::Code;
using base::fail;
using base::Result;

namespace {

constexpr int64_t kExternalLong = 4;
constexpr int64_t kExternalWideCharacter = 2;
constexpr int64_t kExternalLongDouble = 16;

bool is_one_of(MPI_Datatype type, std::initializer_list<MPI_Datatype> types) {
  // An optional type that the MPI lacks is MPI_DATATYPE_NULL in the list.
  return std::find(types.begin(), types.end(), type) != types.end();
}

// What MPI's structs of a value and an index look like in C.
template <typename Value>
struct Pair {
  Value value;
  int index;
};

constexpr Basic plain(int64_t bytes, int64_t numbers = 1) {
  return {Coding::kReversed, bytes, bytes, numbers};
}
constexpr Basic kLong{Coding::kSigned, sizeof(long), kExternalLong, 1};
constexpr Basic kLongDouble{Coding::kLongDouble, sizeof(long double), kExternalLongDouble, 1};
constexpr Basic kInt = plain(sizeof(int));

template <typename Value>
std::vector<NamedMember> pair_of(const Basic& value) {
  return {{value, 0}, {kInt, offsetof(Pair<Value>, index)}};
}

std::optional<std::vector<NamedMember>> pair_members(MPI_Datatype type) {
  if (type == MPI_FLOAT_INT) return pair_of<float>(plain(sizeof(float)));
  if (type == MPI_DOUBLE_INT) return pair_of<double>(plain(sizeof(double)));
  if (type == MPI_LONG_INT) return pair_of<long>(kLong);
  if (type == MPI_SHORT_INT) return pair_of<short>(plain(sizeof(short)));
  if (type == MPI_LONG_DOUBLE_INT) return pair_of<long double>(kLongDouble);
  return std::nullopt;
}

// The pairs of equal numbers, which are made of two elements, not one as complex numbers.
bool is_even_pair(MPI_Datatype type) {
  return is_one_of(type, {MPI_2INT, MPI_2INTEGER, MPI_2REAL, MPI_2DOUBLE_PRECISION});
}

#ifdef MPI_2COMPLEX
bool is_complex_pair(MPI_Datatype type) {
  return is_one_of(type, {MPI_2COMPLEX, MPI_2DOUBLE_COMPLEX});
}
#else
bool is_complex_pair(MPI_Datatype /*type*/) { return false; }
#endif

bool is_complex(MPI_Datatype type) {
  return is_one_of(type, {MPI_COMPLEX, MPI_DOUBLE_COMPLEX, MPI_COMPLEX8, MPI_COMPLEX16,
                          MPI_COMPLEX32, MPI_C_FLOAT_COMPLEX, MPI_C_DOUBLE_COMPLEX,
                          MPI_CXX_FLOAT_COMPLEX, MPI_CXX_DOUBLE_COMPLEX});
}

bool is_long_double_complex(MPI_Datatype type) {
  return is_one_of(type, {MPI_C_LONG_DOUBLE_COMPLEX, MPI_CXX_LONG_DOUBLE_COMPLEX});
}

Basic named_basic(MPI_Datatype type, int64_t size) {
  if (type == MPI_LONG) return kLong;
  if (type == MPI_UNSIGNED_LONG) return {Coding::kUnsigned, size, kExternalLong, 1};
  if (type == MPI_WCHAR) return {Coding::kUnsigned, size, kExternalWideCharacter, 1};
  if (type == MPI_LONG_DOUBLE) return kLongDouble;
  if (is_long_double_complex(type)) return {Coding::kLongDouble, size / 2, kExternalLongDouble, 2};
  if (is_complex(type)) return plain(size / 2, 2);
  return plain(size);
}

// A real number of 16 bytes is the machine's long double if that is precise enough.
bool is_long_double(int64_t digits, int64_t bytes) {
  constexpr int64_t kLongDoubleDigits = __LDBL_DIG__;
  return bytes == int64_t{sizeof(long double)} &&
         (digits == MPI_UNDEFINED || digits <= kLongDoubleDigits);
}

Result<Basic> parametric_basic(MPI_Datatype type, int64_t size) {
  int integers = 0;
  int addresses = 0;
  int types = 0;
  int combiner = 0;
  PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
  if (combiner == MPI_COMBINER_F90_INTEGER) return plain(size);
  TESSERA_TRY(const TypeContents contents, TypeContents::of(type));
  const int64_t digits = contents.arguments()[0];
  const int64_t numbers = combiner == MPI_COMBINER_F90_COMPLEX ? 2 : 1;
  Basic basic = plain(size / numbers, numbers);
  if (is_long_double(digits, basic.native_bytes)) basic.coding = Coding::kLongDouble;
  return basic;
}

}  // namespace

Result<std::vector<NamedMember>> named_members(MPI_Datatype type) {
  MPI_Count size = 0;
  if (PMPI_Type_size_x(type, &size) != MPI_SUCCESS) {
    return fail(Code::kFailed, "MPI does not tell the size of a predefined type");
  }
  std::vector<NamedMember> members;
  TESSERA_TRY(const Constructor constructor, constructor_of(type));
  if (constructor == Constructor::kParametric) {
    TESSERA_TRY(const Basic basic, parametric_basic(type, size));
    members = {{basic, 0}};
  } else if (const auto pair = pair_members(type)) {
    members = *pair;
  } else if (is_even_pair(type)) {
    members = {{plain(size / 2), 0}, {plain(size / 2), size / 2}};
  } else if (is_complex_pair(type)) {
    members = {{plain(size / 4, 2), 0}, {plain(size / 4, 2), size / 2}};
  } else if (size > 0) {
    members = {{named_basic(type, size), 0}};
  }
  int64_t bytes = 0;
  for (const NamedMember& member : members) bytes += member.basic.native_size();
  if (bytes != size) {
    return fail(Code::kFailed, "a predefined type of " + std::to_string(size) +
                                   " bytes is made of members of " + std::to_string(bytes));
  }
  return members;
}

}  // namespace tessera::mpiio
