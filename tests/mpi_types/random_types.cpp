#include "random_types.hpp"

#include <algorithm>

namespace tessera::mpiio {

namespace {

constexpr size_t kKept = 24;
constexpr size_t kMaxSize = 3000;
constexpr int64_t kMaxReach = 200'000;

template <typename To, typename From>
std::vector<To> as(const std::vector<From>& values) {
  std::vector<To> result;
  for (const From& value : values) result.push_back(static_cast<To>(value));
  return result;
}

// Whether tests can afford to look at every byte.
bool small(const Sample& sample) {
  MPI_Count lower = 0;
  MPI_Count extent = 0;
  MPI_Type_get_extent_x(sample.type, &lower, &extent);
  const auto near = [](int64_t value) { return -kMaxReach <= value && value <= kMaxReach; };
  return sample.bytes.size() <= kMaxSize && near(lower) && near(extent) &&
         std::all_of(sample.bytes.begin(), sample.bytes.end(), near);
}

void add_parametric(std::vector<NamedType>& types) {
  MPI_Datatype parametric = MPI_DATATYPE_NULL;
  MPI_Type_create_f90_real(6, 30, &parametric);
  types.push_back({parametric, "f90_real(6, 30)"});
  MPI_Type_create_f90_real(15, 300, &parametric);
  types.push_back({parametric, "f90_real(15, 300)"});
  MPI_Type_create_f90_complex(15, 300, &parametric);
  types.push_back({parametric, "f90_complex(15, 300)"});
  MPI_Type_create_f90_integer(9, &parametric);
  types.push_back({parametric, "f90_integer(9)"});
  MPI_Type_create_f90_integer(18, &parametric);
  types.push_back({parametric, "f90_integer(18)"});
}

#define NAMED(type) \
  { type, #type }
std::vector<NamedType> types_of_c() {
  return {NAMED(MPI_CHAR),
          NAMED(MPI_SIGNED_CHAR),
          NAMED(MPI_UNSIGNED_CHAR),
          NAMED(MPI_BYTE),
          NAMED(MPI_PACKED),
          NAMED(MPI_WCHAR),
          NAMED(MPI_SHORT),
          NAMED(MPI_UNSIGNED_SHORT),
          NAMED(MPI_INT),
          NAMED(MPI_UNSIGNED),
          NAMED(MPI_LONG),
          NAMED(MPI_UNSIGNED_LONG),
          NAMED(MPI_LONG_LONG),
          NAMED(MPI_UNSIGNED_LONG_LONG),
          NAMED(MPI_FLOAT),
          NAMED(MPI_DOUBLE),
          NAMED(MPI_LONG_DOUBLE),
          NAMED(MPI_INT8_T),
          NAMED(MPI_INT16_T),
          NAMED(MPI_INT32_T),
          NAMED(MPI_INT64_T),
          NAMED(MPI_UINT8_T),
          NAMED(MPI_UINT16_T),
          NAMED(MPI_UINT32_T),
          NAMED(MPI_UINT64_T),
          NAMED(MPI_AINT),
          NAMED(MPI_OFFSET),
          NAMED(MPI_COUNT),
          NAMED(MPI_C_BOOL),
          NAMED(MPI_C_FLOAT_COMPLEX),
          NAMED(MPI_C_DOUBLE_COMPLEX),
          NAMED(MPI_C_LONG_DOUBLE_COMPLEX),
          NAMED(MPI_CXX_BOOL),
          NAMED(MPI_CXX_FLOAT_COMPLEX),
          NAMED(MPI_CXX_DOUBLE_COMPLEX),
          NAMED(MPI_CXX_LONG_DOUBLE_COMPLEX)};
}

std::vector<NamedType> types_of_fortran_and_pairs() {
  return {NAMED(MPI_CHARACTER),      NAMED(MPI_LOGICAL),          NAMED(MPI_INTEGER),
          NAMED(MPI_REAL),           NAMED(MPI_DOUBLE_PRECISION), NAMED(MPI_COMPLEX),
          NAMED(MPI_DOUBLE_COMPLEX), NAMED(MPI_INTEGER1),         NAMED(MPI_INTEGER2),
          NAMED(MPI_INTEGER4),       NAMED(MPI_INTEGER8),         NAMED(MPI_REAL4),
          NAMED(MPI_REAL8),          NAMED(MPI_REAL16),           NAMED(MPI_COMPLEX8),
          NAMED(MPI_COMPLEX16),      NAMED(MPI_COMPLEX32),        NAMED(MPI_FLOAT_INT),
          NAMED(MPI_DOUBLE_INT),     NAMED(MPI_LONG_INT),         NAMED(MPI_SHORT_INT),
          NAMED(MPI_2INT),           NAMED(MPI_LONG_DOUBLE_INT),  NAMED(MPI_2INTEGER),
          NAMED(MPI_2REAL),          NAMED(MPI_2DOUBLE_PRECISION)};
}
#undef NAMED

}  // namespace

std::vector<NamedType> predefined_types() {
  std::vector<NamedType> types = types_of_c();
  for (const NamedType& named : types_of_fortran_and_pairs()) types.push_back(named);
#ifdef MPI_2COMPLEX
  types.push_back({MPI_2COMPLEX, "MPI_2COMPLEX"});
  types.push_back({MPI_2DOUBLE_COMPLEX, "MPI_2DOUBLE_COMPLEX"});
#endif
  std::erase_if(types, [](const NamedType& named) { return named.type == MPI_DATATYPE_NULL; });
  add_parametric(types);
  return types;
}

int64_t extent_of(MPI_Datatype type) {
  MPI_Count lower = 0;
  MPI_Count extent = 0;
  MPI_Type_get_extent_x(type, &lower, &extent);
  return extent;
}

RandomTypes::RandomTypes(uint64_t seed, std::vector<Sample> basic, Corners corners)
    : random_(seed), corners_(corners), basic_(std::move(basic)) {}

RandomTypes::~RandomTypes() {
  for (Sample& sample : derived_) MPI_Type_free(&sample.type);
}

int64_t RandomTypes::between(int64_t low, int64_t high) {
  return low + static_cast<int64_t>(random_.uniform(static_cast<uint64_t>(high - low + 1)));
}

int RandomTypes::count() { return static_cast<int>(between(corners_ == Corners::kAll ? 0 : 1, 4)); }

std::vector<int> RandomTypes::counts(int number) {
  std::vector<int> values;
  for (int i = 0; i < number; ++i) values.push_back(count());
  return values;
}

std::vector<int> RandomTypes::ints(int number, int64_t low, int64_t high) {
  std::vector<int> values;
  for (int i = 0; i < number; ++i) values.push_back(static_cast<int>(between(low, high)));
  return values;
}

std::vector<MPI_Aint> RandomTypes::addresses(int number) {
  return as<MPI_Aint>(ints(number, -100, 300));
}

bool RandomTypes::large() {
#if MPI_VERSION >= 4
  const bool chosen = random_.chance(1, 3);
#else
  const bool chosen = false;
#endif
  if (chosen) made_.story += " large";
  return chosen;
}

const Sample& RandomTypes::any() {
  const bool nested = !derived_.empty() && random_.chance(2, 3);
  const auto& pool = nested ? derived_ : basic_;
  const Sample& chosen = pool[random_.uniform(pool.size())];
  made_.story += " [" + chosen.story + "]";
  return chosen;
}

void RandomTypes::tell(const char* constructor, const std::vector<int64_t>& arguments) {
  made_.story += std::string(" ") + constructor;
  for (const int64_t argument : arguments) made_.story += " " + std::to_string(argument);
}

void RandomTypes::add(const Sample& from, int64_t copies, int64_t at) {
  const int64_t extent = extent_of(from.type);
  for (int64_t i = 0; i < copies; ++i) {
    for (const int64_t byte : from.bytes) made_.bytes.push_back(at + i * extent + byte);
    made_.widths.insert(made_.widths.end(), from.widths.begin(), from.widths.end());
  }
}

void RandomTypes::add_array(const Sample& from, const std::vector<std::vector<bool>>& chosen,
                            int order) {
  const size_t dimensions = chosen.size();
  size_t total = 1;
  for (const auto& dimension : chosen) total *= dimension.size();
  for (size_t element = 0; element < total; ++element) {
    size_t rest = element;
    bool taken = true;
    for (size_t i = 0; i < dimensions; ++i) {
      const auto& dimension = chosen[order == MPI_ORDER_C ? dimensions - 1 - i : i];
      taken = taken && dimension[rest % dimension.size()];
      rest /= dimension.size();
    }
    if (taken) add(from, 1, static_cast<int64_t>(element) * extent_of(from.type));
  }
}

void RandomTypes::make_regular() {
  const Sample& from = any();
  const int64_t kind = between(0, 3);
  const int blocks = count();
  const int length = count();
  auto stride = static_cast<int>(between(-6, 8));
  MPI_Aint bytes = between(-60, 90);
  int64_t step = kind == 2 ? stride * extent_of(from.type) : bytes;
  if (corners_ == Corners::kOnlySafe && step == -1) {
    stride = 2;
    bytes = 2;
    step = 2;
  }
  tell("dup, contiguous, vector, hvector", {kind, blocks, length, stride, bytes});
  if (kind == 0) add(from, 1, 0);
  if (kind == 1) add(from, blocks, 0);
  for (int i = 0; kind >= 2 && i < blocks; ++i) add(from, length, i * step);
#if MPI_VERSION >= 4
  if (kind > 0 && large()) {
    if (kind == 1) MPI_Type_contiguous_c(blocks, from.type, &made_.type);
    if (kind == 2) MPI_Type_vector_c(blocks, length, stride, from.type, &made_.type);
    if (kind == 3) MPI_Type_create_hvector_c(blocks, length, bytes, from.type, &made_.type);
    return;
  }
#endif
  if (kind == 0) MPI_Type_dup(from.type, &made_.type);
  if (kind == 1) MPI_Type_contiguous(blocks, from.type, &made_.type);
  if (kind == 2) MPI_Type_vector(blocks, length, stride, from.type, &made_.type);
  if (kind == 3) MPI_Type_create_hvector(blocks, length, bytes, from.type, &made_.type);
}

void RandomTypes::make_indexed() {
  const Sample& from = any();
  const int blocks = count();
  const bool bytes = random_.chance(1, 2);
  const auto lengths = counts(blocks);
  const auto places = ints(blocks, -5, 12);
  const auto places_bytes = addresses(blocks);
  tell(bytes ? "hindexed" : "indexed", as<int64_t>(lengths));
  tell("at", bytes ? as<int64_t>(places_bytes) : as<int64_t>(places));
  for (size_t i = 0; i < lengths.size(); ++i) {
    add(from, lengths[i], bytes ? places_bytes[i] : places[i] * extent_of(from.type));
  }
#if MPI_VERSION >= 4
  if (large()) {
    const auto l = as<MPI_Count>(lengths);
    const auto p = bytes ? as<MPI_Count>(places_bytes) : as<MPI_Count>(places);
    const auto create = bytes ? &MPI_Type_create_hindexed_c : &MPI_Type_indexed_c;
    create(blocks, l.data(), p.data(), from.type, &made_.type);
    return;
  }
#endif
  if (bytes) {
    MPI_Type_create_hindexed(blocks, lengths.data(), places_bytes.data(), from.type, &made_.type);
  } else {
    MPI_Type_indexed(blocks, lengths.data(), places.data(), from.type, &made_.type);
  }
}

void RandomTypes::make_indexed_block() {
  const Sample& from = any();
  const int blocks = count();
  const int length = count();
  const bool bytes = random_.chance(1, 2);
  const auto places = ints(blocks, -5, 12);
  const auto places_bytes = addresses(blocks);
  tell(bytes ? "hindexed_block" : "indexed_block", {length});
  tell("at", bytes ? as<int64_t>(places_bytes) : as<int64_t>(places));
  for (size_t i = 0; i < places.size(); ++i) {
    add(from, length, bytes ? places_bytes[i] : places[i] * extent_of(from.type));
  }
#if MPI_VERSION >= 4
  if (large()) {
    const auto p = bytes ? as<MPI_Count>(places_bytes) : as<MPI_Count>(places);
    const auto create =
        bytes ? &MPI_Type_create_hindexed_block_c : &MPI_Type_create_indexed_block_c;
    create(blocks, length, p.data(), from.type, &made_.type);
    return;
  }
#endif
  if (bytes) {
    MPI_Type_create_hindexed_block(blocks, length, places_bytes.data(), from.type, &made_.type);
  } else {
    MPI_Type_create_indexed_block(blocks, length, places.data(), from.type, &made_.type);
  }
}

void RandomTypes::make_struct() {
  const int blocks = count();
  const auto lengths = counts(blocks);
  const auto places = addresses(blocks);
  tell("struct", as<int64_t>(lengths));
  tell("at", as<int64_t>(places));
  std::vector<MPI_Datatype> types;
  const Sample* from = nullptr;
  for (size_t i = 0; i < lengths.size(); ++i) {
    if (from == nullptr || random_.chance(3, 4)) from = &any();
    types.push_back(from->type);
    add(*from, lengths[i], places[i]);
  }
#if MPI_VERSION >= 4
  if (large()) {
    const auto l = as<MPI_Count>(lengths);
    const auto p = as<MPI_Count>(places);
    MPI_Type_create_struct_c(blocks, l.data(), p.data(), types.data(), &made_.type);
    return;
  }
#endif
  MPI_Type_create_struct(blocks, lengths.data(), places.data(), types.data(), &made_.type);
}

void RandomTypes::make_subarray() {
  const Sample& from = any();
  const auto dimensions = static_cast<int>(between(1, 3));
  const auto sizes = ints(dimensions, 1, 5);
  std::vector<int> parts;
  std::vector<int> starts;
  std::vector<std::vector<bool>> chosen;
  for (const int size : sizes) {
    const auto part = static_cast<int>(between(1, size));
    const auto start = static_cast<int>(between(0, size - part));
    parts.push_back(part);
    starts.push_back(start);
    chosen.emplace_back(size);
    std::fill_n(chosen.back().begin() + start, part, true);
  }
  const int order = random_.chance(1, 2) ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
  tell(order == MPI_ORDER_C ? "subarray of C" : "subarray of Fortran", as<int64_t>(sizes));
  tell("parts", as<int64_t>(parts));
  tell("starts", as<int64_t>(starts));
  add_array(from, chosen, order);
#if MPI_VERSION >= 4
  if (large()) {
    const auto z = as<MPI_Count>(sizes);
    const auto p = as<MPI_Count>(parts);
    const auto s = as<MPI_Count>(starts);
    MPI_Type_create_subarray_c(dimensions, z.data(), p.data(), s.data(), order, from.type,
                               &made_.type);
    return;
  }
#endif
  MPI_Type_create_subarray(dimensions, sizes.data(), parts.data(), starts.data(), order, from.type,
                           &made_.type);
}

void RandomTypes::make_darray() {
  constexpr int kWays[] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_NONE};
  const Sample& from = any();
  const auto dimensions = static_cast<int>(between(1, 3));
  const auto sizes = ints(dimensions, 1, 7);
  std::vector<int> ways;
  std::vector<int> arguments;
  std::vector<int> grid;
  std::vector<std::vector<bool>> chosen;
  int ranks = 1;
  int rank = 0;
  for (const int size : sizes) {
    const int way = kWays[between(0, 2)];
    const int processes = way == MPI_DISTRIBUTE_NONE ? 1 : static_cast<int>(between(1, 3));
    const auto place = static_cast<int>(between(0, processes - 1));
    const int even = (size + processes - 1) / processes;
    const bool by_default = random_.chance(1, 3);
    int block = way == MPI_DISTRIBUTE_CYCLIC ? 1 : even;
    if (!by_default) block += static_cast<int>(between(0, 2));
    if (way == MPI_DISTRIBUTE_NONE) block = size;
    ways.push_back(way);
    grid.push_back(processes);
    arguments.push_back(by_default ? MPI_DISTRIBUTE_DFLT_DARG : block);
    chosen.emplace_back();
    for (int i = 0; i < size; ++i) chosen.back().push_back(i / block % processes == place);
    ranks *= processes;
    rank = rank * processes + place;
  }
  const int order = random_.chance(1, 2) ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
  tell(order == MPI_ORDER_C ? "darray of C" : "darray of Fortran", {ranks, rank});
  tell("sizes", as<int64_t>(sizes));
  tell("ways", as<int64_t>(ways));
  tell("blocks", as<int64_t>(arguments));
  tell("grid", as<int64_t>(grid));
  add_array(from, chosen, order);
#if MPI_VERSION >= 4
  if (large()) {
    const auto z = as<MPI_Count>(sizes);
    MPI_Type_create_darray_c(ranks, rank, dimensions, z.data(), ways.data(), arguments.data(),
                             grid.data(), order, from.type, &made_.type);
    return;
  }
#endif
  MPI_Type_create_darray(ranks, rank, dimensions, sizes.data(), ways.data(), arguments.data(),
                         grid.data(), order, from.type, &made_.type);
}

void RandomTypes::make_resized() {
  const Sample& from = any();
  const MPI_Aint lower = between(-40, 40);
  const MPI_Aint extent = between(corners_ == Corners::kAll ? -30 : 1, 120);
  tell("resized", {lower, extent});
  add(from, 1, 0);
#if MPI_VERSION >= 4
  if (large()) {
    MPI_Type_create_resized_c(from.type, lower, extent, &made_.type);
    return;
  }
#endif
  MPI_Type_create_resized(from.type, lower, extent, &made_.type);
}

void RandomTypes::make() {
  switch (random_.uniform(9)) {
    case 0:
    case 1:
      return make_regular();
    case 2:
      return make_indexed();
    case 3:
      return make_indexed_block();
    case 4:
    case 5:
      return make_struct();
    case 6:
      return make_subarray();
    case 7:
      return make_darray();
    default:
      return make_resized();
  }
}

const Sample& RandomTypes::next() {
  for (;;) {
    made_ = {};
    make();
    // Open MPI refuses arrays of types without bytes.
    if (made_.type == MPI_DATATYPE_NULL) continue;
    if (!small(made_)) {
      MPI_Type_free(&made_.type);
      continue;
    }
    if (derived_.size() == kKept) {
      const size_t gone = random_.uniform(kKept);
      MPI_Type_free(&derived_[gone].type);
      derived_.erase(derived_.begin() + static_cast<std::ptrdiff_t>(gone));
    }
    derived_.push_back(made_);
    return derived_.back();
  }
}

}  // namespace tessera::mpiio
