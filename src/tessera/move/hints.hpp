// Hints: what programs and users may say about how their files are moved.
//
// One table for both doors: MPI_Info of a program and the variables of its user. A value comes from
// the strongest source that gives a valid one:
//
//   default < TESSERA_HINTS < TESSERA_<NAME> < MPI_Info < file named by ROMIO_HINTS
//
// The file is the strongest, and of several values of a key in it the first counts, as in ROMIO.
//
// TESSERA_HINTS is "key=value;key=value"; TESSERA_<NAME> is there for each hint tessera_<name>. MPI
// says that a hint which is unknown or makes no sense is ignored; so are they here, and ignored()
// tells which. A variable of ours that makes no sense is an error, since nobody else would tell its
// user. docs/hints.md is generated from the table.
// Thread safety: immutable after parse() and show().
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tessera/base/bytes.hpp"
#include "tessera/base/config.hpp"
#include "tessera/base/result.hpp"
#include "tessera/container/file_kind.hpp"
#include "tessera/owner/manager.hpp"
#include "tessera/owner/writers.hpp"

namespace tessera::move {

// The table, in the order of docs/hints.md.
[[nodiscard]] std::span<const base::Option> hint_table();
// Whether a name is in the table.
[[nodiscard]] bool is_hint(std::string_view name);
// Fails with kInvalid and a sentence unless the value suits the hint. Requires is_hint(name). Words
// may be written in capitals, sizes with a suffix K, M or G.
[[nodiscard]] base::Result<void> check_hint(std::string_view name, std::string_view value);
// docs/hints.md: the table with its introduction.
[[nodiscard]] std::string hints_markdown();

struct HintSources {
  std::string romio_file_text;       // contents of the file that ROMIO_HINTS names: "key value"
  base::GetEnvironment environment;  // may be empty
  std::vector<base::KeyValue> info;  // what the program gave
};

enum class Toggle { kEnable, kDisable, kAutomatic };
enum class EngineHint { kAutomatic, kDirect, kList, kSieve, kMapped };
enum class CollectiveHint { kAutomatic, kIndependent, kWindow, kTwoPhase };
// What an access in atomic mode locks: nothing, the whole file, the span from its first byte to its
// last, or exactly its bytes.
enum class LockHint { kNone, kFile, kRange, kList };

class Hints {
 public:
  // All defaults.
  Hints();
  // Fails with kInvalid if a variable of ours has a value that makes no sense.
  [[nodiscard]] static base::Result<Hints> parse(const HintSources& sources);

  int64_t cb_buffer_size = 0;
  int64_t cb_nodes = 0;     // aggregators; 0: as many as suit
  int64_t cb_per_node = 0;  // aggregators on one node at most, from cb_config_list; 0: any number
  Toggle cb_read = Toggle::kAutomatic;
  Toggle cb_write = Toggle::kAutomatic;
  Toggle ds_read = Toggle::kAutomatic;
  Toggle ds_write = Toggle::kAutomatic;
  bool no_indep_rw = false;
  int64_t ind_rd_buffer_size = 0;
  int64_t ind_wr_buffer_size = 0;
  EngineHint engine = EngineHint::kAutomatic;
  CollectiveHint collective = CollectiveHint::kAutomatic;
  bool replicated = false;  // ranks that write the same byte together write the same value
  owner::Policy replicated_policy = owner::Policy::kOptimal;  // who of them writes it
  bool durable_close = false;
  Toggle uring = Toggle::kAutomatic;
  LockHint lock = LockHint::kList;
  bool lock_reads_alone = false;
  bool lock_private = false;
  bool object_layout = false;
  container::KindRules kinds;  // of names without a prefix
  bool cache = false;          // of a plain file
  std::string consumer_views;  // the path of a views file; empty: none
  bool replicate = false;
  bool verify = true;
  owner::SharedWrites shared_writes = owner::SharedWrites::kAutomatic;  // of object files

  // The same hints for writes while others may write between their bytes: no gap is written back.
  [[nodiscard]] Hints without_gaps() const;

  // The values by which all ranks that have a file open must go, because they decide how these
  // meet; and the same taken over from another rank, which gave them. Fails with kIntegrity if no
  // rank can have.
  [[nodiscard]] base::Bytes common() const;
  [[nodiscard]] base::Result<void> take_common(base::ByteView values);

  // The hints with their effective values as text, in table order: what MPI_File_get_info answers.
  // Sizes are plain numbers of bytes, as readers of these values expect. Numbers where 0 means that
  // nothing was said (cb_nodes, striping_*) are left out while they are 0, and texts while empty.
  [[nodiscard]] const std::vector<base::KeyValue>& effective() const { return effective_; }
  // Makes effective() tell what a hint came to, for example cb_nodes once the ranks are known.
  // Requires is_hint(name).
  void show(std::string_view name, std::string text);
  // What was given and not taken: "key=value: reason".
  [[nodiscard]] const std::vector<std::string>& ignored() const { return ignored_; }

 private:
  struct Value {
    std::string text;
    int64_t number = 0;
  };

  explicit Hints(std::vector<Value> values);  // in table order
  static const Hints& defaults();
  static base::Result<Value> parse_value(const base::Option& option, std::string_view text);

  base::Result<void> set(std::string_view name, std::string_view text);
  void set_or_ignore(std::string_view name, std::string_view text);
  void set_from_romio(std::string_view text);
  base::Result<void> set_from_list(std::string_view text);
  base::Result<void> set_from_variables(const base::GetEnvironment& environment);
  void settle();

  std::vector<Value> values_;  // in table order
  std::vector<base::KeyValue> effective_;
  std::vector<std::string> ignored_;

  friend base::Result<void> check_hint(std::string_view name, std::string_view value);
};

}  // namespace tessera::move
