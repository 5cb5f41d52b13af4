#include "tessera/lock/lock_addresses.hpp"

#include <algorithm>

namespace tessera::lock {

base::Result<std::vector<std::string>> parse_lock_addresses(std::string_view text) {
  std::vector<std::string> addresses;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    const std::string address(text.substr(begin, end - begin));
    const bool has_kind = address.starts_with("unix:") || address.starts_with("tcp:");
    if (address.empty() || (!has_kind && address.find(':') == address.npos)) {
      return base::fail(base::Code::kInvalid,
                        "addresses of lock servers \"" + std::string(text) +
                            "\": write HOST:PORT or unix:PATH, with commas between them");
    }
    addresses.push_back(has_kind ? address : "tcp:" + address);
    begin = end + 1;
  }
  return addresses;
}

}  // namespace tessera::lock
