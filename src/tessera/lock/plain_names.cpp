#include "tessera/lock/plain_names.hpp"

#include <sstream>

#include "tessera/base/fnv.hpp"
#include "tessera/port/runtime_folder.hpp"

namespace tessera::lock {

namespace {

std::string text_of(const port::PlainFile::Identity& identity, char between) {
  std::ostringstream text;
  text << std::hex << identity.device << between << identity.node;
  return text.str();
}

}  // namespace

std::string plain_file_name(const port::PlainFile::Identity& identity) {
  return "plain:" + text_of(identity, ':');
}

base::Result<std::string> on_demand_address(const port::PlainFile::Identity& identity) {
  TESSERA_TRY(const std::string folder, port::runtime_folder());
  return "unix:" + folder + "/" + text_of(identity, '-') + ".locks";
}

base::Result<std::string> on_demand_proxy_address(const std::string& upstream) {
  TESSERA_TRY(const std::string folder, port::runtime_folder());
  std::ostringstream name;
  name << std::hex << base::fnv(base::kFnvStart, base::bytes_of(upstream));
  return "unix:" + folder + "/" + name.str() + ".proxy";
}

}  // namespace tessera::lock
