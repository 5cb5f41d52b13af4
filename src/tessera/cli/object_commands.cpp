#include "tessera/cli/object_commands.hpp"

#include <CLI/CLI.hpp>
#include <string>

#include "tessera/cli/help_texts.hpp"

namespace tessera::cli {

namespace {

void add_import(CLI::App& app, TransferOptions& options) {
  CLI::App& command = *app.add_subcommand("import", "Make an object file of a plain one");
  command.add_option("PLAIN", options.from, "The plain file")->required();
  command.add_option("OBJECT", options.to, "The object file to make")->required();
  command.add_option("--views", options.views_path, "Store the bytes of each view together")
      ->type_name("VIEWS.json");
  command.add_flag("--force", options.force, "Replace OBJECT if it is there");
  command.footer(kImportFooter);
}

void add_export(CLI::App& app, TransferOptions& options) {
  CLI::App& command = *app.add_subcommand("export", "Make a plain file of an object file");
  command.add_option("OBJECT", options.from, "The object file")->required();
  command.add_option("PLAIN", options.to, "The plain file to make")->required();
  command.add_flag("--force", options.force, "Replace PLAIN if it is there");
  command.footer(kExportFooter);
}

void add_show(CLI::App& app, ShowOptions& options) {
  CLI::App& command = *app.add_subcommand("show", "Show what is in an object file, and where");
  command.add_option("FILE", options.path, "The file")->required();
  CLI::Option* json = command.add_flag("--json", options.json, "Print JSON, errors included");
  CLI::Option* html =
      command.add_option("--html", options.html_path, "Also write a page with pictures to FILE")
          ->type_name("FILE");
  command.add_flag("--views", options.views, "Print the views that it records as a views file")
      ->excludes(json)
      ->excludes(html);
  command.footer(kShowFooter);
}

void add_check(CLI::App& app, CheckCommandOptions& options) {
  CLI::App& command = *app.add_subcommand("check", "Look for damage in an object file");
  command.add_option("FILE", options.path, "The file")->required();
  command.add_flag("--quick", options.quick, "Only what can be checked without reading all bytes");
  command.add_flag("--json", options.json, "Print JSON, errors included");
  command.footer(kCheckFooter);
}

void add_compact(CLI::App& app, CompactOptions& options) {
  CLI::App& command = *app.add_subcommand("compact", "Free the unused space of an object file");
  command.add_option("FILE", options.path, "The object file")->required();
  command.footer(kCompactFooter);
}

void add_mount(CLI::App& app, MountOptions& options) {
  CLI::App& command = *app.add_subcommand("mount", "Show an object file as a plain one");
  command.add_option("FILE", options.path, "The object file")->required();
  command.add_option("DIR", options.folder, "An empty directory")->required();
  command.add_flag("--foreground", options.foreground, "Stay until it is unmounted");
  command.add_flag("--read-only", options.read_only, "Without writing");
  command.footer(kMountFooter);
}

}  // namespace

void add_object_commands(CLI::App& app, ObjectCommands& commands) {
  add_import(app, commands.import_options);
  add_export(app, commands.export_options);
  add_show(app, commands.show);
  add_check(app, commands.check);
  add_compact(app, commands.compact);
  add_mount(app, commands.mount);
}

std::optional<ExitCode> run_object_command(const CLI::App& app, const ObjectCommands& commands) {
  const auto chosen = [&](const char* name) { return app.got_subcommand(name); };
  if (chosen("import")) return run_import(commands.import_options);
  if (chosen("export")) return run_export(commands.export_options);
  if (chosen("show")) return run_show(commands.show);
  if (chosen("check")) return run_check(commands.check);
  if (chosen("compact")) return run_compact(commands.compact);
  if (chosen("mount")) return run_mount(commands.mount);
  return std::nullopt;
}

}  // namespace tessera::cli
