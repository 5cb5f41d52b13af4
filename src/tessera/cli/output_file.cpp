#include "tessera/cli/output_file.hpp"

#include "tessera/port/posix_disk.hpp"

namespace tessera::cli {

using base::Result;

Result<OutputFile> OutputFile::create(const std::string& path, const OutputOptions& options) {
  const auto existing = options.replace ? port::Existing::kReplace : port::Existing::kKeep;
  TESSERA_TRY(container::Target target, container::Target::hold(path, existing));
  // Whoever interrupts a long command does not want to look for what it left.
  port::remove_unfinished_at_signals();
  TESSERA_TRY(auto fresh, port::PosixFreshFile::create(target.path(), options.permissions));
  return OutputFile(std::move(target), std::move(fresh));
}

Result<void> OutputFile::finish() {
  TESSERA_TRY_VOID(file().sync());
  TESSERA_TRY_VOID(target_.publish(*fresh_));
  fresh_.reset();
  return port::PosixDisk().sync_directory(port::directory_of(target_.path()));
}

}  // namespace tessera::cli
