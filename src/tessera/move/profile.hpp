// Profiles: the costs that were measured on a file system, as a small file.
//
// `tessera tune` writes them, and an open finds the one of its file's file system by the identity
// of the latter (port/file_system.hpp). docs/formats/profile.md describes the text.
//   (P1) A profile changes only those costs that it names; all others are the defaults.
//   (P2) A profile that TESSERA_PROFILE names must be readable and sound. One that was found by
//        itself and is not is left out, and KnownCosts says so.
// Thread safety: values and pure functions; Profiles from any thread.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/base/config.hpp"
#include "tessera/base/result.hpp"
#include "tessera/move/costs.hpp"
#include "tessera/port/guarded.hpp"
#include "tessera/port/plain_file.hpp"

namespace tessera::move {

// A cost that depends on the file system or on the network to it.
struct CostField {
  const char* name;
  double Costs::*value;
  double least;  // bounds of what a profile may say
  double most;
  const char* meaning;
};

// In the order in which profiles and tables list them.
[[nodiscard]] std::span<const CostField> profile_fields();

struct MeasuredCost {
  const CostField* field;  // of profile_fields()
  double value;
};

struct Profile {
  std::string file_system;   // as profile_id()
  std::string mount_type;    // for people
  std::string mount_source;  // for people
  std::string date;          // for people: "2026-11-16T15:50:00Z"
  std::vector<MeasuredCost> measured;

  // With the defaults of what was not measured (P1).
  [[nodiscard]] Costs costs() const;
};

// Fails with kInvalid; the message names line and column.
[[nodiscard]] base::Result<Profile> parse_profile(std::string_view text);
[[nodiscard]] std::string profile_text(const Profile& profile);

// The identity of a file's file system, as profiles name it: file_system_id(), and the service time
// of an emulated store in front of it.
[[nodiscard]] base::Result<std::string> profile_id(const port::PlainFile& file);

// Where the profile of a file system is: the file that TESSERA_PROFILE names, or
// $XDG_CONFIG_HOME/tessera/profiles/ID.json, or ~/.config/tessera/profiles/ID.json. Nothing if
// TESSERA_PROFILE is "none", or neither a home nor a configuration folder is known.
[[nodiscard]] std::optional<std::string> profile_path(const base::GetEnvironment& environment,
                                                      const std::string& id);

struct KnownCosts {
  Costs costs;
  std::string origin = "defaults";  // or "profile of DATE (PATH)", or the defaults and why
};

// The profiles that a process has read, each once.
class Profiles {
 public:
  explicit Profiles(base::GetEnvironment environment) : environment_(std::move(environment)) {}

  // The costs of the file's file system. Fails as (P2) says. Two system calls, and once for each
  // file system an open and a read.
  [[nodiscard]] base::Result<KnownCosts> costs_for(const port::PlainFile& file);

 private:
  using Known = std::map<std::string, base::Result<KnownCosts>>;

  [[nodiscard]] base::Result<KnownCosts> load(const std::string& id) const;

  const base::GetEnvironment environment_;
  port::Guarded<Known> known_;  // by identity; for a named one there is no identity
};

}  // namespace tessera::move
