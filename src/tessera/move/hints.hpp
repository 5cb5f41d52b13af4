// Hints: what programs and users may say about how their files are moved.
//
// One table for both doors: MPI_Info of a program and the variables of its user. A value comes from
// the strongest source that gives a valid one:
//
//   default < file named by ROMIO_HINTS < TESSERA_HINTS < TESSERA_<NAME> < MPI_Info
//
// MPI says that a hint which is unknown or makes no sense is ignored; so are they here, and
// `ignored` tells which. A variable of ours that makes no sense is an error, since nobody else would
// tell its user. docs/hints.md is generated from the table.
// Thread safety: immutable after parse().
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tessera/base/config.hpp"
#include "tessera/base/result.hpp"

namespace tessera::move {

// The table, in the order of docs/hints.md.
[[nodiscard]] std::span<const base::Option> hint_table();
// Whether a name is in the table.
[[nodiscard]] bool is_hint(std::string_view name);
// Fails with kInvalid and a sentence unless the value suits the hint. Requires is_hint(name).
[[nodiscard]] base::Result<void> check_hint(std::string_view name, std::string_view value);
// docs/hints.md: the table with its introduction.
[[nodiscard]] std::string hints_markdown();

struct HintSources {
  std::string romio_file_text;        // contents of the file that ROMIO_HINTS names: "key value"
  base::GetEnvironment environment;   // may be empty
  std::vector<base::KeyValue> info;   // what the program gave
};

enum class Toggle { kEnable, kDisable, kAutomatic };
enum class EngineHint { kAutomatic, kDirect, kList, kSieve, kMapped };
enum class CollectiveHint { kAutomatic, kIndependent, kWindow, kTwoPhase };

class Hints {
 public:
  // All defaults.
  Hints();
  // Fails with kInvalid if a variable of ours has a value that makes no sense.
  [[nodiscard]] static base::Result<Hints> parse(const HintSources& sources);

  int64_t cb_buffer_size = 0;
  int64_t cb_nodes = 0;  // aggregators; 0: as many as suit
  Toggle cb_read = Toggle::kAutomatic;
  Toggle cb_write = Toggle::kAutomatic;
  Toggle ds_read = Toggle::kAutomatic;
  Toggle ds_write = Toggle::kAutomatic;
  bool no_indep_rw = false;
  int64_t ind_rd_buffer_size = 0;
  int64_t ind_wr_buffer_size = 0;
  EngineHint engine = EngineHint::kAutomatic;
  CollectiveHint collective = CollectiveHint::kAutomatic;
  bool durable_close = false;

  // Every hint with its effective value as text, in table order: what MPI_File_get_info answers.
  [[nodiscard]] const std::vector<base::KeyValue>& effective() const { return effective_; }
  // What was given and not taken: "key=value: reason".
  [[nodiscard]] const std::vector<std::string>& ignored() const { return ignored_; }

 private:
  std::vector<base::KeyValue> effective_;
  std::vector<std::string> ignored_;
};

}  // namespace tessera::move
