#include "tessera/lock/lock_id.hpp"

#include <charconv>

namespace tessera::lock {

namespace {

// A number from 1 on, without a sign or anything after it; 0 of other text.
uint64_t number_of(std::string_view text) {
  uint64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, status] = std::from_chars(text.data(), end, number);
  return status == std::errc() && stop == end ? number : 0;
}

}  // namespace

std::string to_string(LockId id) {
  return std::to_string(id.session) + "." + std::to_string(id.sequence);
}

base::Result<LockId> parse_lock_id(std::string_view text) {
  const size_t point = text.find('.');
  if (point != text.npos) {
    const LockId id = {number_of(text.substr(0, point)), number_of(text.substr(point + 1))};
    if (id.session != 0 && id.sequence != 0) return id;
  }
  return base::fail(base::Code::kInvalid,
                    "\"" + std::string(text) + "\" names no lock: write SESSION.SEQUENCE, as 12.7");
}

}  // namespace tessera::lock
