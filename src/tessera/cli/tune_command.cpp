#include "tessera/cli/tune_command.hpp"

#include <fmt/core.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <memory>

#include "tessera/base/json_writer.hpp"
#include "tessera/cli/files.hpp"
#include "tessera/cli/numbers.hpp"
#include "tessera/cli/table.hpp"
#include "tessera/cli/tune_measure.hpp"
#include "tessera/port/file_system.hpp"
#include "tessera/port/fresh_file.hpp"
#include "tessera/port/posix_clock.hpp"

namespace tessera::cli {

namespace {

using base::Code;
using base::Result;
using move::Costs;
using move::MeasuredCost;
using move::Profile;

constexpr int64_t kProfileBytesMax = 1 << 16;
// A scratch file takes so much of the free space at most.
constexpr int64_t kSpaceShare = 4;

Result<void> require_directory(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return base::fail_errno(errno, "cannot tune " + path);
  if (S_ISDIR(status.st_mode)) return {};
  return base::fail(Code::kInvalid,
                    path + " is no directory; tessera tune measures in a directory");
}

// How large the scratch file may be.
Result<int64_t> room_in(const std::string& path) {
  struct statvfs space {};
  if (::statvfs(path.c_str(), &space) != 0) {
    return base::fail_errno(errno, "cannot see how much space " + path + " has");
  }
  const auto free_bytes = static_cast<double>(space.f_bavail) * static_cast<double>(space.f_frsize);
  const auto largest = static_cast<double>(TuneBudget().file_bytes);
  const auto room = static_cast<int64_t>(std::min(largest, free_bytes / kSpaceShare));
  if (room >= kTuneFileBytesMin) return room;
  return base::fail(Code::kFailed, fmt::format("{} has {} free; measuring needs {}", path,
                                               size_text(static_cast<int64_t>(free_bytes)),
                                               size_text(kTuneFileBytesMin * kSpaceShare)));
}

// A file that never gets a name; where a file system has none such, it is removed at the end, also
// at signals, and what a kill leaves by the next run.
Result<std::unique_ptr<port::PosixFreshFile>> scratch_file(const std::string& directory) {
  port::remove_unfinished_at_signals();
  return port::PosixFreshFile::create(directory + "/tessera-tune", 0600);
}

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts = {};
  ::gmtime_r(&now, &parts);
  char text[32] = "";
  std::strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

// Given on the command line, or else known from before.
struct NetworkCost {
  double Costs::*cost;
  std::optional<double> given;
};

Result<void> add_network(const TuneOptions& options, const std::optional<Profile>& earlier,
                         Profile& profile) {
  const NetworkCost all[] = {{&Costs::message_ns, options.message_ns},
                             {&Costs::network_byte_ns, options.network_byte_ns},
                             {&Costs::nodes_served, options.nodes_served}};
  for (const auto& [cost, given] : all) {
    const auto is_this = [cost = cost](const auto& one) { return one.value == cost; };
    const auto fields = move::profile_fields();
    const move::CostField& field = *std::find_if(fields.begin(), fields.end(), is_this);
    if (given && !(*given >= field.least && *given <= field.most)) {
      return base::fail(Code::kInvalid, fmt::format("{} is {}; allowed is {} to {}", field.name,
                                                    *given, field.least, field.most));
    }
    if (given) profile.measured.push_back({&field, *given});
    if (given || !earlier) continue;
    for (const MeasuredCost& known : earlier->measured) {
      if (known.field == &field) profile.measured.push_back(known);
    }
  }
  return {};
}

std::optional<Profile> earlier_profile(const std::optional<std::string>& path) {
  if (!path) return std::nullopt;
  const auto text = read_whole(*path, kProfileBytesMax);
  if (!text) return std::nullopt;
  auto profile = move::parse_profile(*text);
  if (!profile) return std::nullopt;
  return *std::move(profile);
}

const MeasuredCost* find(const Profile& profile, const move::CostField& field) {
  const auto place = std::find_if(profile.measured.begin(), profile.measured.end(),
                                  [&](const MeasuredCost& cost) { return cost.field == &field; });
  return place != profile.measured.end() ? &*place : nullptr;
}

std::string cost_text(double value) { return fmt::format("{:.4g}", value); }

// Costs are printed in full up to where digits stop to mean something.
std::string large_text(double value) {
  constexpr double kWhole = 1000;
  return value >= kWhole ? with_commas(std::llround(value)) : cost_text(value);
}

std::string as_text(const TuneOptions& options, const Profile& profile,
                    const std::optional<std::string>& stored) {
  Table table(
      {{"cost", Table::Align::kLeft}, {"default"}, {"measured"}, {"meaning", Table::Align::kLeft}});
  const Costs defaults;
  for (const move::CostField& field : move::profile_fields()) {
    const MeasuredCost* measured = find(profile, field);
    table.add({field.name, large_text(defaults.*field.value),
               measured != nullptr ? large_text(measured->value) : "-", field.meaning});
  }
  return fmt::format("{}: {} on {}\n{}{}\n", printable(options.directory),
                     printable(profile.mount_type), printable(profile.mount_source), table.text(),
                     stored ? "profile: " + printable(*stored) : "nothing is stored");
}

std::string as_json(const TuneOptions& options, const Profile& profile,
                    const std::optional<std::string>& stored) {
  base::JsonWriter writer;
  writer.begin_object().member("directory", options.directory);
  writer.member("date", profile.date).key("file_system").begin_object();
  writer.member("id", profile.file_system).member("type", profile.mount_type);
  writer.member("source", profile.mount_source).end_object().key("costs").begin_array();
  const Costs defaults;
  for (const move::CostField& field : move::profile_fields()) {
    writer.begin_object(base::JsonWriter::Layout::kOneLine).member("name", field.name);
    writer.member("default", defaults.*field.value).key("measured");
    const MeasuredCost* measured = find(profile, field);
    if (measured != nullptr) {
      writer.value(measured->value);
    } else {
      writer.null();
    }
    writer.end_object();
  }
  writer.end_array().key("profile");
  if (stored) {
    writer.value(*stored);
  } else {
    writer.null();
  }
  return writer.end_object().finish();
}

Result<void> store(const Profile& profile, const std::string& path) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  std::error_code error;
  if (!folder.empty()) std::filesystem::create_directories(folder, error);
  if (error) return base::fail_errno(error.value(), "cannot make the folder " + folder.string());
  return write_whole(path, move::profile_text(profile), OutputKind::kProfile);
}

Result<Profile> measure(const TuneOptions& options, const base::GetEnvironment& environment) {
  TESSERA_TRY_VOID(require_directory(options.directory));
  TESSERA_TRY(const int64_t room, room_in(options.directory));
  TESSERA_TRY(const auto scratch, scratch_file(options.directory));
  port::PlainFile& file = scratch->file();
  Profile profile;
  profile.date = utc_now();
  TESSERA_TRY(profile.file_system, move::profile_id(file));
  if (const auto mount = port::mount_of(file.descriptor())) {
    profile.mount_type = mount->type;
    profile.mount_source = mount->source;
  }
  const auto path = move::profile_path(environment, profile.file_system);
  // Before the time is spent: what was given may make no sense, or name another file.
  if (path && !options.dry_run) TESSERA_TRY_VOID(check_output(*path, OutputKind::kProfile));
  Profile network;
  TESSERA_TRY_VOID(add_network(options, earlier_profile(path), network));
  TESSERA_TRY(profile.measured, measure_costs(file, port::PosixClock(), {options.seconds, room}));
  profile.measured.insert(profile.measured.end(), network.measured.begin(), network.measured.end());
  return profile;
}

}  // namespace

Result<std::string> tune_output(const TuneOptions& options,
                                const base::GetEnvironment& environment) {
  TESSERA_TRY(const Profile profile, measure(options, environment));
  std::optional<std::string> stored;
  if (!options.dry_run) {
    stored = move::profile_path(environment, profile.file_system);
    if (!stored) {
      return base::fail(Code::kInvalid,
                        "there is no place for a profile: neither HOME nor XDG_CONFIG_HOME is set, "
                        "or TESSERA_PROFILE is none");
    }
    TESSERA_TRY_VOID(store(profile, *stored));
  }
  return options.json ? as_json(options, profile, stored) : as_text(options, profile, stored);
}

ExitCode run_tune(const TuneOptions& options) {
  const auto output = tune_output(options, [](const char* name) { return std::getenv(name); });
  if (!output) return report(output.error(), options.json);
  fmt::print("{}", *output);
  return ExitCode::kOk;
}

}  // namespace tessera::cli
