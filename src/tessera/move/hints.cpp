#include "tessera/move/hints.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>

#include "tessera/base/checked.hpp"

namespace tessera::move {

namespace {

using base::Bounds;
using base::Code;
using base::KeyValue;
using base::Option;
using base::OptionType;
using base::Result;

constexpr Bounds kBufferBounds = {1, int64_t{1} << 40};
constexpr Bounds kCountBounds = {0, int64_t{1} << 30};
constexpr std::string_view kToggles = "enable|disable|automatic";

constexpr Option kTable[] = {
    base::size_option("cb_buffer_size", "16M", kBufferBounds,
                      "Memory of one aggregator of a collective operation."),
    base::int_option("cb_nodes", "0", kCountBounds,
                     "Aggregators of a collective operation across nodes; 0: as many as suit."),
    base::string_option(
        "cb_config_list", "*:1", 4096,
        "Aggregators on one node at most: the largest number in a list of name:number; "
        "'*' as the number: any."),
    base::enum_option("romio_cb_read", "automatic", kToggles,
                      "Whether collective reads are made together."),
    base::enum_option("romio_cb_write", "automatic", kToggles,
                      "Whether collective writes are made together."),
    base::enum_option("romio_ds_read", "automatic", kToggles,
                      "Whether independent reads take large pieces with their gaps."),
    base::enum_option("romio_ds_write", "automatic", kToggles,
                      "Whether independent writes read large pieces, under a lock, and write them "
                      "back."),
    base::enum_option("romio_no_indep_rw", "false", "true|false",
                      "The program promises to make collective operations only."),
    base::size_option("ind_rd_buffer_size", "4M", kBufferBounds,
                      "Memory for such pieces of an independent read, at most."),
    base::size_option("ind_wr_buffer_size", "512K", kBufferBounds,
                      "Memory for such pieces of an independent write, at most."),
    base::int_option("striping_factor", "0", kCountBounds,
                     "Taken and told, without effect on plain files; 0: not set."),
    base::size_option("striping_unit", "0", {0, int64_t{1} << 40},
                      "Taken and told, without effect on plain files; 0: not set."),
    base::enum_option("tessera_engine", "automatic", "automatic|direct|list|sieve|mapped",
                      "How independent operations reach the file, where that way is possible."),
    base::enum_option("tessera_collective", "automatic", "automatic|independent|window|two_phase",
                      "How collective operations reach the file, where that way is possible."),
    base::enum_option("tessera_replicated", "false", "true|false",
                      "The program promises that ranks which write the same byte in one collective "
                      "write have the same value for it: one of them writes it, chosen so that "
                      "runs get long. For blocking and split collective writes."),
    base::enum_option("tessera_replicated_policy", "optimal", "optimal|idg|balanced|first",
                      "How tessera_replicated chooses who writes: the fewest runs, the paper's "
                      "interval data grouping, few runs of which all ranks have about as many "
                      "bytes, or the first rank that has them. Where balanced is not possible it "
                      "is optimal."),
    base::enum_option("tessera_durable", "sync", "sync|close",
                      "When written bytes are made durable: at MPI_File_sync only, or also at "
                      "MPI_File_close."),
    base::enum_option("tessera_uring", "automatic", "automatic|on|off",
                      "Whether lists of small transfers go through io_uring."),
    base::enum_option("tessera_lock", "list", "none|file|range|list",
                      "What an access in atomic mode locks: nothing, the whole file, the span from "
                      "its first byte to its last, or exactly its bytes."),
    base::enum_option("tessera_lock_reads", "shared", "shared|exclusive",
                      "Whether reads in atomic mode share their locks with each other."),
    base::enum_option("tessera_lock_private", "enable", "enable|disable",
                      "enable: where the views prove that a rank shares no byte with others, it "
                      "locks its view once and keeps it until another program asks; disable: each "
                      "access is locked."),
    base::enum_option(
        "tessera_layout", "linear", "linear|object",
        "object: new files become object files, as the prefix obj: of a name asks for "
        "too. Files that are object files are opened as such in any case."),
    base::string_option("tessera_kinds", "", 4096,
                        "The same by name: rules with semicolons or commas between them, such as "
                        "*.nc=obj;*.h5=obj. The first one counts whose glob matches the path, or "
                        "its last part if the glob has no slash; obj makes object files, plain "
                        "does not, and shows the bytes of their containers. It goes before "
                        "tessera_layout; a prefix goes before both."),
    base::enum_option("tessera_cache", "off", "off|on",
                      "on: what is written to a plain file waits in a file without a name, in the "
                      "folder for temporary files if all ranks are on one node, until "
                      "MPI_File_sync or MPI_File_close writes it in large requests."),
    base::string_option("tessera_consumer_views", "", 4096,
                        "A file with the views of those who will read a new object file: what is "
                        "written before its first sync is laid out for them."),
    base::enum_option("tessera_replicate", "none", "none|shared",
                      "shared: with tessera_consumer_views, bytes that several readers share are "
                      "stored for each of them."),
    base::enum_option("tessera_verify", "on", "on|off",
                      "Whether reads of object files check the blocks they read."),
    base::enum_option("tessera_shared_writes", "automatic", "automatic|forward|migrate",
                      "Bytes of an object file that were written since its last sync, written "
                      "again: in their place (forward), with the other bytes of who writes them "
                      "(migrate), or whichever costs less."),
};

// Which collective calls there are among the ranks depends on these.
constexpr std::string_view kCommon[] = {
    "tessera_replicated", "tessera_replicated_policy", "tessera_layout",   "tessera_kinds",
    "tessera_cache",      "tessera_consumer_views",    "tessera_replicate"};

constexpr std::string_view kOurs = "tessera_";
constexpr size_t kHints = std::size(kTable);

std::optional<size_t> index_of(std::string_view name) {
  for (size_t i = 0; i < kHints; ++i) {
    if (kTable[i].name == name) return i;
  }
  return std::nullopt;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r";
  text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
  while (!text.empty() && kBlanks.find(text.back()) != kBlanks.npos) text.remove_suffix(1);
  return text;
}

// Takes what stands before one of the separators off the text; all of it where there is none.
std::string_view take_until(std::string_view& text, std::string_view separators) {
  const size_t end = std::min(text.find_first_of(separators), text.size());
  const std::string_view taken = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return taken;
}

std::string with_case(std::string_view text, int (*change)(int)) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(change(static_cast<unsigned char>(c)));
  return result;
}

std::string variable_of(std::string_view name) { return with_case(name, std::toupper); }

// The number of one entry "name:number" of a configuration list; 1 where there is none, 0 for '*'.
std::optional<int64_t> entry_number(std::string_view entry) {
  const size_t colon = entry.rfind(':');
  if (trimmed(entry.substr(0, colon)).empty()) return std::nullopt;
  if (colon == entry.npos) return 1;
  const std::string_view text = trimmed(entry.substr(colon + 1));
  if (text == "*") return 0;
  int64_t number = 0;
  const auto [stop, status] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (status != std::errc() || stop != text.data() + text.size() || number < 0) return std::nullopt;
  return std::max<int64_t>(number, 1);
}

// The largest number of the entries, 0 for any.
std::optional<int64_t> aggregators_per_node(std::string_view list) {
  int64_t largest = 0;
  bool any = false;
  if (list.empty()) return std::nullopt;
  while (!list.empty()) {
    const auto number = entry_number(trimmed(take_until(list, ",")));
    if (!number) return std::nullopt;
    any = any || *number == 0;
    largest = std::max(largest, *number);
  }
  return any ? 0 : largest;
}

Toggle toggle_of(std::string_view word) {
  if (word == "enable" || word == "on") return Toggle::kEnable;
  return word == "disable" || word == "off" ? Toggle::kDisable : Toggle::kAutomatic;
}

EngineHint engine_of(std::string_view word) {
  if (word == "direct") return EngineHint::kDirect;
  if (word == "list") return EngineHint::kList;
  if (word == "sieve") return EngineHint::kSieve;
  return word == "mapped" ? EngineHint::kMapped : EngineHint::kAutomatic;
}

LockHint lock_of(std::string_view word) {
  if (word == "none") return LockHint::kNone;
  if (word == "file") return LockHint::kFile;
  return word == "range" ? LockHint::kRange : LockHint::kList;
}

owner::SharedWrites shared_writes_of(std::string_view word) {
  if (word == "forward") return owner::SharedWrites::kForward;
  return word == "migrate" ? owner::SharedWrites::kMigrate : owner::SharedWrites::kAutomatic;
}

CollectiveHint collective_of(std::string_view word) {
  if (word == "independent") return CollectiveHint::kIndependent;
  if (word == "window") return CollectiveHint::kWindow;
  return word == "two_phase" ? CollectiveHint::kTwoPhase : CollectiveHint::kAutomatic;
}

// Whether it says something: 0 and no text do not, so that showing them would mislead.
bool is_told(const Option& option, std::string_view text, int64_t number) {
  const bool is_number = option.type == OptionType::kInt || option.type == OptionType::kSize;
  return is_number ? number != 0 : !text.empty();
}

base::Failure unknown_hint(std::string_view name) {
  return base::fail(Code::kInvalid, "unknown hint \"" + std::string(name.substr(0, 100)) + "\"");
}

}  // namespace

std::span<const Option> hint_table() { return kTable; }

bool is_hint(std::string_view name) { return index_of(name).has_value(); }

Result<Hints::Value> Hints::parse_value(const Option& option, std::string_view text) {
  std::string value(trimmed(text));
  if (option.type == OptionType::kEnum) value = with_case(value, std::tolower);
  TESSERA_TRY(const base::Config parsed,
              base::Config::parse({&option, 1}, {.file_name = {},
                                                 .file_text = {},
                                                 .environment = {},
                                                 .explicit_values = {
                                                     {std::string(option.name), value},
                                                 }}));
  const base::Setting& setting = parsed.settings().front();
  if (option.name == "cb_config_list" && !aggregators_per_node(setting.text)) {
    return base::fail(Code::kInvalid, "key \"cb_config_list\" has the value \"" + setting.text +
                                          "\"; allowed is a list such as \"*:1\" or \"a:2,b:*\"");
  }
  if (option.name == "tessera_kinds") {
    TESSERA_TRY_VOID(container::KindRules::parse(setting.text));
  }
  const bool is_size = option.type == OptionType::kSize;
  return Value{is_size ? std::to_string(setting.number) : setting.text, setting.number};
}

Result<void> check_hint(std::string_view name, std::string_view value) {
  const auto index = index_of(name);
  TESSERA_ASSERT(index.has_value());
  TESSERA_TRY_VOID(Hints::parse_value(kTable[*index], value));
  return {};
}

Hints::Hints() : Hints(defaults()) {}

Hints::Hints(std::vector<Value> values) : values_(std::move(values)) { settle(); }

// Made once: every file that is opened begins with them.
const Hints& Hints::defaults() {
  static const Hints made = [] {
    std::vector<Value> values;
    for (const Option& option : kTable) {
      values.push_back(parse_value(option, option.default_text).value());
    }
    return Hints(std::move(values));
  }();
  return made;
}

Result<Hints> Hints::parse(const HintSources& sources) {
  Hints hints;
  if (sources.environment) TESSERA_TRY_VOID(hints.set_from_variables(sources.environment));
  for (const auto& [name, text] : sources.info) hints.set_or_ignore(name, text);
  hints.set_from_romio(sources.romio_file_text);
  hints.settle();
  return hints;
}

Result<void> Hints::set(std::string_view name, std::string_view text) {
  const auto index = index_of(name);
  if (!index) return unknown_hint(name);
  TESSERA_TRY(values_[*index], parse_value(kTable[*index], text));
  return {};
}

void Hints::set_or_ignore(std::string_view name, std::string_view text) {
  const auto done = set(name, text);
  if (done) return;
  ignored_.push_back(std::string(name) + "=" + std::string(text) + ": " + done.error().context);
}

void Hints::set_from_romio(std::string_view text) {
  std::vector<std::string_view> seen;  // of several values of one key the first counts
  while (!text.empty()) {
    std::string_view line = trimmed(take_until(text, "\n"));
    if (line.empty() || line.front() == '#') continue;
    const std::string_view name = take_until(line, " \t");
    if (std::find(seen.begin(), seen.end(), name) != seen.end()) continue;
    seen.push_back(name);
    set_or_ignore(name, trimmed(line));
  }
}

Result<void> Hints::set_from_list(std::string_view text) {
  while (!text.empty()) {
    std::string_view entry = trimmed(take_until(text, ";\n"));
    if (entry.empty()) continue;
    if (entry.find('=') == entry.npos) {
      return base::fail(Code::kInvalid, "\"" + std::string(entry) + "\" is not key=value");
    }
    const std::string_view name = trimmed(take_until(entry, "="));
    TESSERA_TRY_VOID(set(name, entry));
  }
  return {};
}

Result<void> Hints::set_from_variables(const base::GetEnvironment& environment) {
  const auto located = [](const std::string& variable, const Result<void>& result) {
    return base::fail(Code::kInvalid,
                      "environment variable " + variable + ": " + result.error().context);
  };
  if (const char* list = environment("TESSERA_HINTS"); list != nullptr) {
    if (const auto done = set_from_list(list); !done) return located("TESSERA_HINTS", done);
  }
  for (const Option& option : kTable) {
    if (!option.name.starts_with(kOurs)) continue;
    const std::string variable = variable_of(option.name);
    const char* text = environment(variable.c_str());
    if (text == nullptr) continue;
    if (const auto done = set(option.name, text); !done) return located(variable, done);
  }
  return {};
}

// Turns the values into the fields and the listing.
void Hints::settle() {
  const auto value = [this](std::string_view name) -> const Value& {
    return values_[*index_of(name)];
  };
  cb_buffer_size = value("cb_buffer_size").number;
  cb_nodes = value("cb_nodes").number;
  cb_per_node = *aggregators_per_node(value("cb_config_list").text);
  cb_read = toggle_of(value("romio_cb_read").text);
  cb_write = toggle_of(value("romio_cb_write").text);
  ds_read = toggle_of(value("romio_ds_read").text);
  ds_write = toggle_of(value("romio_ds_write").text);
  no_indep_rw = value("romio_no_indep_rw").text == "true";
  ind_rd_buffer_size = value("ind_rd_buffer_size").number;
  ind_wr_buffer_size = value("ind_wr_buffer_size").number;
  engine = engine_of(value("tessera_engine").text);
  collective = collective_of(value("tessera_collective").text);
  replicated = value("tessera_replicated").text == "true";
  replicated_policy = owner::parse_policy(value("tessera_replicated_policy").text).value();
  durable_close = value("tessera_durable").text == "close";
  uring = toggle_of(value("tessera_uring").text);
  lock = lock_of(value("tessera_lock").text);
  lock_reads_alone = value("tessera_lock_reads").text == "exclusive";
  lock_private = value("tessera_lock_private").text == "enable";
  object_layout = value("tessera_layout").text == "object";
  kinds = container::KindRules::parse(value("tessera_kinds").text).value();
  cache = value("tessera_cache").text == "on";
  consumer_views = value("tessera_consumer_views").text;
  replicate = value("tessera_replicate").text == "shared";
  verify = value("tessera_verify").text == "on";
  shared_writes = shared_writes_of(value("tessera_shared_writes").text);
  effective_.clear();
  for (size_t i = 0; i < kHints; ++i) {
    if (!is_told(kTable[i], values_[i].text, values_[i].number)) continue;
    effective_.emplace_back(kTable[i].name, values_[i].text);
  }
}

Hints Hints::without_gaps() const {
  Hints changed = *this;
  changed.ds_write = Toggle::kDisable;
  if (changed.engine == EngineHint::kSieve) changed.engine = EngineHint::kAutomatic;
  return changed;
}

base::Bytes Hints::common() const {
  base::Bytes values;
  base::ByteWriter writer(values);
  for (const std::string_view name : kCommon) {
    writer.sized_bytes(base::bytes_of(values_[*index_of(name)].text));
  }
  return values;
}

Result<void> Hints::take_common(base::ByteView values) {
  if (base::equal(values, common())) return {};
  base::ByteReader reader(values);
  for (const std::string_view name : kCommon) {
    TESSERA_TRY(const base::ByteView value, reader.sized_bytes());
    if (const auto taken = set(name, base::text_of(value)); !taken) {
      return base::fail(Code::kIntegrity,
                        "a value that no rank can have: " + taken.error().context);
    }
  }
  settle();
  return {};
}

void Hints::show(std::string_view name, std::string text) {
  const auto index = index_of(name);
  TESSERA_ASSERT(index.has_value());
  const auto place = std::find_if(effective_.begin(), effective_.end(), [&](const KeyValue& entry) {
    return *index_of(entry.first) >= *index;
  });
  if (place != effective_.end() && place->first == name) {
    place->second = std::move(text);
  } else {
    effective_.emplace(place, std::string(name), std::move(text));
  }
}

std::string hints_markdown() {
  std::string text =
      "# Hints\n\n"
      "What a program may pass in `MPI_Info`, and its user in variables. A value comes from the\n"
      "strongest source that gives a valid one, strongest first:\n\n"
      "1. the file that `ROMIO_HINTS` names, with lines of the form `key value`; as in ROMIO the\n"
      "   first of several values of one key counts\n"
      "2. `MPI_Info`, given to `MPI_File_open`, `MPI_File_set_view` or `MPI_File_set_info`\n"
      "3. `TESSERA_<NAME>` for each hint `tessera_<name>`, for example `TESSERA_ENGINE=list`\n"
      "4. `TESSERA_HINTS=\"key=value;key=value\"`, for all hints\n"
      "5. the default\n\n"
      "`MPI_Info` and the `ROMIO_HINTS` file may hold hints for other libraries, so what is "
      "unknown "
      "or\nmakes no sense there is ignored, as MPI says; `TESSERA_EXPLAIN=1` tells which. A wrong "
      "value in a\n`TESSERA_` variable is an error at open. `MPI_File_get_info` answers the values "
      "in use, sizes as\nplain numbers of bytes. Words may be written in capitals.\n\n"
      "Ranks may give different values. Those of the first rank count for all where the ranks have "
      "to\nact together: the way of a collective access and its costs, what atomic mode locks, and "
      "`tessera_replicated`,\n`tessera_replicated_policy`, `tessera_layout`, "
      "`tessera_kinds`, `tessera_cache`, `tessera_consumer_views`\nand `tessera_replicate`.\n\n";
  return text + base::options_markdown(kTable);
}

}  // namespace tessera::move
