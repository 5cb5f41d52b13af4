// A request to remap, in the words of whoever types it: names of files instead of open ones.
//
// What the command `tessera remap` and its MPI half share. Thread safety: as what they call.
#pragma once

#include <functional>
#include <string>

#include "tessera/base/result.hpp"
#include "tessera/port/disk.hpp"
#include "tessera/port/exchange.hpp"
#include "tessera/remap/remap.hpp"

namespace tessera::remap {

struct Request {
  std::string in;     // a plain file or an object file; the prefix obj: may be there
  std::string out;    // of the new object file
  std::string views;  // a views file, or else
  std::string like;   // an object file that records views, or a views file too
  RemapOptions options;
};

// The text of a views file. Fails with kInvalid if it is larger than one may be.
[[nodiscard]] base::Result<std::string> read_views_text(port::Disk& disk, const std::string& path);

// A name without the prefix of object files.
[[nodiscard]] std::string path_of(const std::string& name);

// The consumers that the request names, of a file of so many bytes. Fails with kInvalid if it names
// none, and as reading and parsing do, naming the file.
[[nodiscard]] base::Result<std::vector<Consumer>> load_consumers(port::Disk& disk,
                                                                 const Request& request,
                                                                 int64_t size);

// How the new file gets its name (RemapJob).
using PublishFile = std::function<base::Result<void>(port::FreshFile& fresh)>;

// Collective, with the same request everywhere: remap() of what it names. Fails on all alike.
[[nodiscard]] base::Result<RemapReport> run_request(port::Exchange& exchange, port::Disk& disk,
                                                    const Request& request,
                                                    const PublishFile& publish = {});

// The same on the files of this machine. A file that is there is held while it is replaced
// (container/target.hpp); one that is its own source is replaced only if nobody else did so
// meanwhile. The new file has the permissions of the one that it replaces, else of the source, less
// the umask.
[[nodiscard]] base::Result<RemapReport> run_on_machine(port::Exchange& exchange,
                                                       const Request& given);

// Threads of a remap in one process, unless somebody says otherwise: one a core, at most four.
[[nodiscard]] int64_t default_threads();
// The same in threads of this process; 0 is the default number of them. Its fill.syncs is ignored.
[[nodiscard]] base::Result<RemapReport> run_in_threads(const Request& request, int64_t threads = 0);

// One line for people: what was done, in which time.
[[nodiscard]] std::string summary_text(const RemapReport& report, double seconds);
// The same for programs.
[[nodiscard]] std::string summary_json(const RemapReport& report, double seconds);

}  // namespace tessera::remap
