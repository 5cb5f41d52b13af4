#include "tessera/mpiio/lock_service.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <mpi.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <utility>
#include <vector>

#include "tessera/lock/admin_connection.hpp"
#include "tessera/lock/placement.hpp"
#include "tessera/lock/plain_names.hpp"
#include "tessera/port/descriptor.hpp"
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

// A name of the file that holds as long as the descriptor is open here, whatever happens to its
// path.
std::string path_of(int descriptor) {
  return "/proc/" + std::to_string(::getpid()) + "/fd/" + std::to_string(descriptor);
}

Result<void> start_for(const std::string& path) {
  TESSERA_TRY(const std::string program, find_tesserad());
  TESSERA_TRY(const int status,
              port::run_program({program, "--on-demand", path}, {"LD_PRELOAD", kServers}));
  if (status == 0) return {};
  return base::fail(Code::kFailed, program + " could not serve the locks of " + path);
}

// Starts a proxy of a server on this node, if there is none, and answers its address.
Result<std::string> start_proxy_of(const std::string& server,
                                   const std::optional<port::SecretKey>& key) {
  TESSERA_TRY(const std::string program, find_tesserad());
  TESSERA_TRY(std::string address, lock::on_demand_proxy_address(server));
  Result<int> ended = 0;
  const auto run = [&](std::string_view input) {
    ended =
        port::run_program({program, "--on-demand-proxy", server}, {"LD_PRELOAD", kServers}, input);
  };
  key ? key->reveal(run) : run({});
  TESSERA_TRY(const int status, std::move(ended));
  if (status == 0) return address;
  return base::fail(Code::kFailed, program + " could not be a proxy of " + server);
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

// Starts a server for the file again. The agent may outlive the open file that it was made for.
Result<std::function<void()>> reviver_of(const port::PlainFile& file) {
  const auto own =
      std::make_shared<port::Descriptor>(::fcntl(file.descriptor(), F_DUPFD_CLOEXEC, 0));
  if (!own->valid()) return base::fail_errno(errno, "cannot keep " + file.path() + " open");
  return std::function<void()>([own] { static_cast<void>(start_for(path_of(own->number()))); });
}

using Agents = std::map<std::string, std::weak_ptr<lock::LockAgent>>;

port::Guarded<Agents>& agents() {
  static auto& all = *new port::Guarded<Agents>;
  return all;
}

// What is known of a service without keeping it.
struct KnownService {
  std::string name;
  LockServerPlace place;
  std::weak_ptr<lock::LockAgent> agent;
};
using KnownServices = std::map<std::pair<uint64_t, uint64_t>, KnownService>;

port::Guarded<KnownServices>& known_services() {
  static auto& all = *new port::Guarded<KnownServices>;
  return all;
}

}  // namespace

std::optional<FileService> known_service(const port::PlainFile::Identity& identity) {
  return known_services().with([&](KnownServices& all) -> std::optional<FileService> {
    const auto at = all.find({identity.device, identity.node});
    if (at == all.end()) return std::nullopt;
    if (auto agent = at->second.agent.lock()) {
      return FileService{at->second.name, at->second.place, std::move(agent)};
    }
    all.erase(at);
    return std::nullopt;
  });
}

void note_service(const port::PlainFile::Identity& identity, const FileService& service) {
  known_services().with([&](KnownServices& all) {
    std::erase_if(all, [](const auto& known) { return known.second.agent.expired(); });
    KnownService known = {service.name, service.place, service.agent};
    known.place.file = nullptr;
    all[{identity.device, identity.node}] = std::move(known);
  });
}

bool has_own_server(const port::PlainFile::Identity& identity) {
  const auto address = lock::on_demand_address(identity);
  if (!address) return false;
  const std::string path = address->substr(std::string("unix:").size());
  return ::access(path.c_str(), F_OK) == 0;
}

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

Result<void> start_lock_server(const port::PlainFile& file) {
  return start_for(path_of(file.descriptor()));
}

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
    lock::LockConnection::Starters starters;
    if (place.file != nullptr) {
      TESSERA_TRY(starters.revive, reviver_of(*place.file));
    }
    starters.start_proxy = [server = place.address, key] { return start_proxy_of(server, key); };
    TESSERA_TRY(auto made, lock::LockAgent::on_sockets(place.address, client_name(), std::move(key),
                                                       std::move(starters)));
    all[place.address] = made;
    return made;
  });
}

}  // namespace tessera::mpiio
