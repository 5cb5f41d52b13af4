#include "tessera/mpiio/datareps.hpp"

#include <map>

#include "tessera/mpiio/fault.hpp"
#include "tessera/port/guarded.hpp"

namespace tessera::mpiio {

namespace {

// Whether each registered representation converts.
port::Guarded<std::map<std::string, bool>>& registered() {
  static auto& all = *new port::Guarded<std::map<std::string, bool>>;
  return all;
}

bool is_predefined(const std::string& name) {
  return name == "native" || name == "internal" || name == "external32";
}

}  // namespace

base::Result<void> register_datarep(const std::string& name, bool converts) {
  if (name.empty() || name.size() >= MPI_MAX_DATAREP_STRING) {
    return fault(MPI_ERR_ARG, "the name of a data representation is empty or too long");
  }
  const bool taken = is_predefined(name) || !registered().with([&](auto& all) {
    return all.emplace(name, converts).second;
  });
  if (taken) {
    return fault(MPI_ERR_DUP_DATAREP, "there is a data representation called " + name + " already");
  }
  return {};
}

base::Result<Representation> find_datarep(const std::string& name) {
  if (name == "external32") return Representation::kExternal32;
  if (is_predefined(name)) return Representation::kNative;
  const bool usable = registered().with([&](const auto& all) {
    const auto found = all.find(name);
    return found != all.end() && !found->second;
  });
  if (!usable) {
    return fault(MPI_ERR_UNSUPPORTED_DATAREP, "no view can have the data representation " + name +
                                                  "; there are native, internal and external32");
  }
  return Representation::kNative;
}

}  // namespace tessera::mpiio
