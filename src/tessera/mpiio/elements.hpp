// Elements: the basic types inside a datatype in type-map order, wherever their bytes lie.
//
// What counts of basic elements and conversions to external32 are made from. A list of elements is
// kept as compressed as the constructors were: repeating costs O(1). No MPI here.
// Thread safety: elements are immutable and shared.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "tessera/base/bytes.hpp"
#include "tessera/base/result.hpp"

namespace tessera::mpiio {

// How a number of a basic type becomes one in external32, which is big-endian.
enum class Coding {
  kReversed,    // the same bytes, the other way round
  kSigned,      // a signed integer, of fewer bytes in the file
  kUnsigned,    // an unsigned integer, of fewer bytes in the file
  kLongDouble,  // the machine's long double, an IEEE number of 16 bytes in the file
};

// A basic type. A complex number is one element of two numbers.
struct Basic {
  Coding coding = Coding::kReversed;
  int64_t native_bytes = 1;    // of a number in memory
  int64_t external_bytes = 1;  // of a number in an external32 file
  int64_t numbers = 1;

  [[nodiscard]] int64_t native_size() const { return native_bytes * numbers; }
  [[nodiscard]] int64_t external_size() const { return external_bytes * numbers; }
};

struct Elements;
using ElementsPtr = std::shared_ptr<const Elements>;

struct Elements {
  int64_t copies = 0;
  Basic basic;                     // what is copied, where there are no parts
  std::vector<ElementsPtr> parts;  // none of them empty

  // Of all copies together.
  int64_t native_size = 0;
  int64_t external_size = 0;
  int64_t count = 0;
  // The size in memory of each element if all have the same, else 0.
  int64_t basic_size = 0;
  bool resizes = false;  // whether an element has another size in external32
};

[[nodiscard]] ElementsPtr element(const Basic& basic);
// Requires copies >= 0 and a native size in the bounds of patterns.
[[nodiscard]] ElementsPtr repeated(const ElementsPtr& elements, int64_t copies);
[[nodiscard]] ElementsPtr sequence(const std::vector<ElementsPtr>& parts);

}  // namespace tessera::mpiio
