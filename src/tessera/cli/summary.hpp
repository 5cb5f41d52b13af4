// What a person wants to know of an object set before its details.
//
// Text, JSON and pages show the same figures; they are computed here, once, from the families.
// Thread safety: plain values and pure functions.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tessera/object/object_set.hpp"
#include "tessera/object/views_file.hpp"

namespace tessera::cli {

// What people call the processes of an object set.
using Names = std::map<object::Process, std::string>;

// An object set ready to be shown.
struct Shown {
  std::string title;
  object::ObjectSet objects;
  Names names;
};

// All bytes that the same number of processes share.
struct SharingLevel {
  int64_t sharers = 0;
  int64_t families = 0;
  int64_t objects = 0;
  int64_t size_bytes = 0;
};

struct Summary {
  int64_t range_bytes = 0;
  int64_t objects = 0;
  int64_t shared_objects = 0;
  int64_t private_bytes = 0;
  int64_t shared_bytes = 0;
  int64_t views_bytes = 0;           // sum of all views: what a replicated layout stores
  std::vector<SharingLevel> levels;  // by number of sharers

  [[nodiscard]] int64_t viewed_bytes() const { return private_bytes + shared_bytes; }
  [[nodiscard]] int64_t unviewed_bytes() const { return range_bytes - viewed_bytes(); }
  // How often an average viewed byte is stored if every process gets its own copy.
  [[nodiscard]] double replication() const;
};

[[nodiscard]] Summary summarise(const object::ObjectSet& objects,
                                const std::vector<object::Family>& families);

[[nodiscard]] Names names_of(const object::ViewsFile& file);

// The names of a set of sharers, "TR0 TR1"; past `most` of them the rest as a count.
[[nodiscard]] std::string sharers_text(const Shown& shown, object::SharersId id, size_t most = 8);
[[nodiscard]] std::string name_of(const Shown& shown, object::Process process);

// Objects looked at in each place of a picture that shows a whole large set.
inline constexpr int64_t kLookedAtMax = 4096;

// Sets of at most this many objects are shown object by object, larger ones as families.
inline constexpr int64_t kSmallSet = 48;
// Counts no further than that.
[[nodiscard]] bool is_small(const object::ObjectSet& objects);

}  // namespace tessera::cli
