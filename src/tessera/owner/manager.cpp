#include "tessera/owner/manager.hpp"

#include <algorithm>

namespace tessera::owner {

bool ManagerChoice::migrates(const Rewriting& rewriting) {
  const double forward_ns =
      rewriting.in_place_ns +
      static_cast<double>(rewriting.hashed_again_bytes) * costs_.hashed_byte_ns;
  const double coming_ns =
      static_cast<double>(rewriting.bytes) * costs_.new_byte_ns + costs_.change_ns;
  missed_ns_ += std::max(0.0, forward_ns - rewriting.in_new_space_ns);
  if (missed_ns_ < coming_ns) return false;
  missed_ns_ = 0;
  return true;
}

}  // namespace tessera::owner
