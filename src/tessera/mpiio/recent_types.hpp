// Recent types: derived datatypes that programs make again and again.
//
// Codes that write a checkpoint often make the datatype of their share anew each time, from the
// same lists, and free it. MPI then knows nothing of the one before; here the last few conversions
// of long lists are kept by what they were made from. Thread safety: all functions from any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "tessera/mpiio/type_contents.hpp"
#include "tessera/mpiio/types.hpp"
#include "tessera/port/guarded.hpp"

namespace tessera::mpiio {

class RecentTypes {
 public:
  using TypePtr = std::shared_ptr<const Type>;

  // The type that was kept for the same constructor, arguments, children (the same objects) and
  // representation; null if there is none. Cost: O(arguments).
  [[nodiscard]] TypePtr find(const TypeContents& contents, std::span<const TypePtr> children,
                             Representation representation);
  // Keeps it in place of the one that was found longest ago, if its list is long enough to be worth
  // it and not too long.
  void keep(const TypeContents& contents, std::span<const TypePtr> children,
            Representation representation, TypePtr type);
  void clear();

 private:
  struct Entry {
    Constructor constructor = Constructor::kNamed;
    Representation representation = Representation::kNative;
    std::vector<int64_t> arguments;
    std::vector<TypePtr> children;
    TypePtr type;
  };

  port::Guarded<std::vector<Entry>> entries_;  // the one found last is first
};

}  // namespace tessera::mpiio
