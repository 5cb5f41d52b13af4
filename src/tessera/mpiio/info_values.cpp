#include "tessera/mpiio/info_values.hpp"

#include "tessera/mpiio/fault.hpp"

namespace tessera::mpiio {

std::vector<base::KeyValue> info_values(MPI_Info info) {
  std::vector<base::KeyValue> values;
  int count = 0;
  if (info == MPI_INFO_NULL || PMPI_Info_get_nkeys(info, &count) != MPI_SUCCESS) return values;
  for (int i = 0; i < count; ++i) {
    char key[MPI_MAX_INFO_KEY + 1] = "";
    char value[MPI_MAX_INFO_VAL + 1] = "";
    int found = 0;
    if (PMPI_Info_get_nthkey(info, i, key) != MPI_SUCCESS) continue;
    PMPI_Info_get(info, key, MPI_MAX_INFO_VAL, value, &found);
    if (found != 0) values.emplace_back(key, value);
  }
  return values;
}

base::Result<MPI_Info> make_info(const std::vector<base::KeyValue>& values) {
  MPI_Info info = MPI_INFO_NULL;
  if (PMPI_Info_create(&info) != MPI_SUCCESS) return fault(MPI_ERR_INFO, "make an info object");
  for (const auto& [key, value] : values) PMPI_Info_set(info, key.c_str(), value.c_str());
  return info;
}

}  // namespace tessera::mpiio
