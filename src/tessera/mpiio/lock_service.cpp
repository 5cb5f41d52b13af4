#include "tessera/mpiio/lock_service.hpp"

#include <dlfcn.h>
#include <mpi.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <vector>

#include "tessera/lock/admin_connection.hpp"
#include "tessera/lock/placement.hpp"
#include "tessera/lock/plain_names.hpp"
#include "tessera/port/guarded.hpp"
#include "tessera/port/key_file.hpp"
#include "tessera/port/node_host.hpp"
#include "tessera/port/start_program.hpp"
#include "tessera/port/this_process.hpp"

namespace tessera::mpiio {

namespace {

namespace fs = std::filesystem;
using base::Code;
using base::Result;

constexpr const char* kServers = "TESSERA_LOCKS";
constexpr const char* kProgram = "TESSERAD";

bool is_program(const fs::path& path) { return ::access(path.c_str(), X_OK) == 0; }

// The folder of the library that this function is a part of.
fs::path library_folder() {
  Dl_info found{};
  if (::dladdr(reinterpret_cast<const void*>(&library_folder), &found) == 0) return {};
  return fs::path(found.dli_fname).parent_path();
}

// In a build and in an installation it lies in bin beside lib, or beside what lib is a part of.
Result<std::string> find_tesserad() {
  if (const char* given = std::getenv(kProgram); given != nullptr) return std::string(given);
  const fs::path folder = library_folder();
  for (const char* way : {"../bin/tesserad", "../../bin/tesserad", "tesserad"}) {
    const fs::path path = folder / way;
    if (is_program(path)) return path.string();
  }
  std::string_view path = std::getenv("PATH") != nullptr ? std::getenv("PATH") : "";
  while (!path.empty()) {
    const std::string_view entry = path.substr(0, path.find(':'));
    path.remove_prefix(std::min(entry.size() + 1, path.size()));
    if (is_program(fs::path(entry) / "tesserad")) return (fs::path(entry) / "tesserad").string();
  }
  return base::fail(
      Code::kNotFound,
      std::string("tesserad was not found beside the library, in PATH or by ") + kProgram);
}

// A name of the file that holds as long as it is open here, whatever happens to its path.
std::string open_path(const port::PlainFile& file) {
  return "/proc/" + std::to_string(::getpid()) + "/fd/" + std::to_string(file.descriptor());
}

Result<void> start_for(const std::string& path) {
  TESSERA_TRY(const std::string program, find_tesserad());
  TESSERA_TRY(const int status,
              port::run_program({program, "--on-demand", path}, {"LD_PRELOAD", kServers}));
  if (status == 0) return {};
  return base::fail(Code::kFailed, program + " could not serve the locks of " + path);
}

// Who this process is, for those who look at a server.
std::string client_name() {
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return "rank " + std::to_string(rank) + " of " + port::process_name();
}

// The key of a server that was started on demand is told by its job.
Result<std::optional<port::SecretKey>> key_of(const LockServerPlace& place) {
  if (place.key.empty()) return port::key_for(place.address);
  TESSERA_TRY(auto given, port::SecretKey::parse(place.key));
  return std::optional<port::SecretKey>(std::move(given));
}

using Agents = std::map<std::string, std::weak_ptr<lock::LockAgent>>;

port::Guarded<Agents>& agents() {
  static auto& all = *new port::Guarded<Agents>;
  return all;
}

}  // namespace

bool has_lock_servers() {
  const char* servers = std::getenv(kServers);
  return servers != nullptr && *servers != '\0';
}

Result<std::string> lock_server_of(const std::string& file_name) {
  const auto servers = lock::parse_server_list(std::getenv(kServers));
  if (!servers)
    return base::fail(Code::kInvalid, std::string(kServers) + ": " + servers.error().context);
  return (*servers)[lock::server_of(file_name, *servers)];
}

Result<void> start_lock_server(const port::PlainFile& file) { return start_for(open_path(file)); }

Result<lock::OpenedToNodes> open_lock_server(const port::PlainFile& file) {
  TESSERA_TRY(const auto identity, file.identity());
  TESSERA_TRY(const std::string address, lock::on_demand_address(identity));
  TESSERA_TRY(auto sockets, port::AuthenticatedSockets::create(std::nullopt));
  TESSERA_TRY(auto server, lock::AdminConnection::connect(std::move(sockets), address));
  TESSERA_TRY(auto opened, server.ask<lock::OpenedToNodes>(lock::OpenToNodes{port::node_host()}));
  if (!opened.address.empty()) return opened;
  return base::fail(Code::kFailed, "the lock server cannot be reached from other nodes");
}

Result<std::shared_ptr<lock::LockAgent>> lock_agent_at(const LockServerPlace& place) {
  return agents().with([&](Agents& all) -> Result<std::shared_ptr<lock::LockAgent>> {
    if (auto known = all[place.address].lock()) return known;
    TESSERA_TRY(auto key, key_of(place));
    std::function<void()> revive;
    if (place.file != nullptr) {
      revive = [path = open_path(*place.file)] { static_cast<void>(start_for(path)); };
    }
    TESSERA_TRY(auto made, lock::LockAgent::on_sockets(place.address, client_name(), std::move(key),
                                                       std::move(revive)));
    all[place.address] = made;
    return made;
  });
}

}  // namespace tessera::mpiio
