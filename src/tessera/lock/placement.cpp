#include "tessera/lock/placement.hpp"

#include <algorithm>

#include "tessera/base/assert.hpp"
#include "tessera/base/fnv.hpp"
#include "tessera/port/address_text.hpp"

namespace tessera::lock {

namespace {

// The high bits of FNV alone hardly depend on the last bytes, in which names of files differ.
uint64_t finalized(uint64_t state) {
  state = (state ^ state >> 33) * 0xff51afd7ed558ccd;
  state = (state ^ state >> 33) * 0xc4ceb9fe1a85ec53;
  return state ^ state >> 33;
}

base::Failure malformed(const std::string& text, const std::string& why) {
  return base::fail(base::Code::kInvalid, "list of lock servers \"" + text + "\": " + why);
}

base::Result<std::string> parse_entry(const std::string& list, const std::string& entry) {
  if (entry.empty()) return malformed(list, "an entry is empty");
  const auto address = port::parse_address_text(entry);
  if (!address) return malformed(list, address.error().context);
  if (address->port == "0") return malformed(list, "port 0 of \"" + entry + "\" names no server");
  return address->text();
}

}  // namespace

uint64_t placement_score(std::string_view server, std::string_view file) {
  uint64_t state = base::fnv(base::kFnvStart, base::bytes_of(server));
  state = base::fnv(state, base::bytes_of(std::string_view("\0", 1)));
  return finalized(base::fnv(state, base::bytes_of(file)));
}

size_t server_of(std::string_view file, std::span<const std::string> servers) {
  TESSERA_ASSERT(!servers.empty());
  size_t best = 0;
  uint64_t best_score = placement_score(servers[0], file);
  for (size_t i = 1; i < servers.size(); ++i) {
    const uint64_t score = placement_score(servers[i], file);
    // Equal scores are as good as impossible, but must not depend on the order of the list.
    const bool better = score > best_score || (score == best_score && servers[i] < servers[best]);
    if (!better) continue;
    best = i;
    best_score = score;
  }
  return best;
}

base::Result<std::vector<std::string>> parse_server_list(const std::string& text) {
  if (text.empty()) return malformed(text, "it is empty; write host:port[,host:port]");
  std::vector<std::string> servers;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    TESSERA_TRY(std::string server, parse_entry(text, text.substr(begin, end - begin)));
    if (std::find(servers.begin(), servers.end(), server) != servers.end()) {
      return malformed(text, "\"" + server + "\" is named twice");
    }
    servers.push_back(std::move(server));
    begin = end + 1;
  }
  return servers;
}

}  // namespace tessera::lock
