#include "tessera/cli/hints_command.hpp"

#include <fmt/core.h>

#include <string>

#include "tessera/base/json_writer.hpp"
#include "tessera/cli/table.hpp"
#include "tessera/move/hints.hpp"

namespace tessera::cli {

namespace {

std::string values_text(const base::Option& option) {
  switch (option.type) {
    case base::OptionType::kBool:
      return "true|false";
    case base::OptionType::kInt:
      return "number";
    case base::OptionType::kSize:
      return "bytes, K M G";
    case base::OptionType::kEnum:
      return std::string(option.choices);
    case base::OptionType::kString:
      break;
  }
  return "text";
}

std::string as_text() {
  Table table({{"hint", Table::Align::kLeft},
               {"values", Table::Align::kLeft},
               {"default", Table::Align::kLeft},
               {"meaning", Table::Align::kLeft}});
  for (const base::Option& option : move::hint_table()) {
    table.add({std::string(option.name), values_text(option), std::string(option.default_text),
               std::string(option.doc)});
  }
  return table.text();
}

std::string as_json() {
  base::JsonWriter writer;
  writer.begin_array();
  for (const base::Option& option : move::hint_table()) {
    writer.begin_object(base::JsonWriter::Layout::kOneLine);
    writer.member("name", option.name).member("values", values_text(option));
    writer.member("default", option.default_text).member("meaning", option.doc).end_object();
  }
  writer.end_array();
  return writer.finish();
}

}  // namespace

ExitCode run_hints(const HintsOptions& options) {
  fmt::print("{}", options.json       ? as_json()
                   : options.markdown ? move::hints_markdown()
                                      : as_text());
  return ExitCode::kOk;
}

}  // namespace tessera::cli
