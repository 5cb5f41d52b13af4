// The MPI half of `tessera remap`: the processes of a job remap a file together.
//
// Started by the command itself, once for each process, with the words that cli/remap_command.hpp
// lists. The first rank prints; all end with the same code as the command would.
#include <mpi.h>

#include <cstdio>
#include <string>

#include "tessera/mpiio/program/mpi_program.hpp"
#include "tessera/port/fresh_file.hpp"
#include "tessera/remap/request.hpp"

namespace {

using namespace tessera;

remap::Request request_of(char** words) {
  remap::Request request;
  request.in = words[1];
  request.out = words[2];
  request.views = words[3];
  request.like = words[4];
  const bool shared = std::string(words[5]) == "shared";
  request.options.plan.sharing = shared ? remap::Sharing::kReplicated : remap::Sharing::kOnce;
  request.options.plan.keep_rest = std::string(words[6]) == "all";
  request.options.durable = std::string(words[7]) == "sync";
  request.options.direct = std::string(words[8]) == "direct";
  const bool replace = std::string(words[9]) == "replace";
  request.options.existing = replace ? port::Existing::kReplace : port::Existing::kKeep;
  return request;
}

// As the exit codes of the command.
int exit_code(base::Code code) {
  switch (code) {
    case base::Code::kNotFound:
      return 3;
    case base::Code::kIntegrity:
      return 4;
    case base::Code::kRetry:
      return 5;
    case base::Code::kDenied:
      return 6;
    default:
      return 1;
  }
}

int run(const mpiio::MpiProcess& process, char** words) {
  port::Exchange& exchange = process.exchange;
  remap::Request request = request_of(words);
  request.options.fill.syncs = process.leads_node;
  port::remove_unfinished_at_signals();
  const double begin = MPI_Wtime();
  const auto report = remap::run_on_machine(exchange, request);
  const double seconds = MPI_Wtime() - begin;
  const bool speaks = exchange.rank() == 0;
  if (!report) {
    if (speaks) std::fprintf(stderr, "tessera: %s\n", report.error().message().c_str());
    return exit_code(report.error().code);
  }
  const std::string form = words[10];
  if (speaks && form == "json") {
    std::printf("%s", remap::summary_json(*report, seconds).c_str());
  } else if (speaks && form == "text") {
    std::printf("%s: %d processes, %s\n", request.out.c_str(), exchange.size(),
                remap::summary_text(*report, seconds).c_str());
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return mpiio::run_mpi_program({.command = "tessera remap", .words = 11, .run = run}, argc, argv);
}
